#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What the library tests share. Probes go into copies of the libraries, which
# the traced programs find by LD_LIBRARY_PATH: other processes of the machine
# map other files and pay nothing. No test here may skip.

setup() {
  [ "$(id -u)" -eq 0 ] || { echo "the library tests need root"; return 1; }
  T=$(mktemp -d /tmp/ioscribe-test.XXXXXX)
  PROG=$IOSCRIBE_BUILD/tests/prog
  LIBPROG=$IOSCRIBE_BUILD/tests/uprobes
  LOG=$T/run.darshan
  mkdir "$T/w" "$T/lib"
  cd "$T/w" || return 1
  "$IOSCRIBE_SOURCE/scripts/leak-check" save "$T/before"
}

teardown() {
  cd /
  if [ -n "${T:-}" ]; then
    "$IOSCRIBE_SOURCE/scripts/leak-check" "$T/before" || { rm -rf "$T"; return 1; }
    rm -rf "$T"
  fi
}

# Copies of libraries, by the names that programs need them under.
library_copy() {
  local name path
  for name in "$@"; do
    path=$(ldconfig -p | awk -v n="$name" '$1 == n { print $NF; exit }')
    [ -n "$path" ] || { echo "no library $name here: scripts/install-deps"; return 1; }
    cp "$path" "$T/lib/$name"
  done
}

# trace LIBRARIES COMMAND...: traced with those modules, log in $LOG.
trace() {
  local libraries=$1
  shift
  rm -f "$LOG"
  status=0
  output=$(LD_LIBRARY_PATH=$T/lib "$IOSCRIBE" run --quiet --log "$LOG" --set library_cache=no \
    --set libraries="$libraries" "${trace_options[@]}" -- "$@" 2>&1) || status=$?
  echo "$output"
}

one_log() {
  "$IOSCRIBE" parse "$LOG" >"$T/parsed" 2>"$T/parse.err" || { cat "$T/parse.err"; return 1; }
  [ ! -s "$T/parse.err" ] || { echo "parse complains: $(cat "$T/parse.err")"; return 1; }
}

# Sum of a counter over the records whose name matches a pattern (of awk).
counter() {
  "$IOSCRIBE" parse --base "$LOG" | awk -F '\t' -v name="$1" -v file="${2:-}" '
    $4 == name && (file == "" || $6 ~ file) { sum += $5 } END { printf "%.0f\n", sum }'
}

# expect PATTERN-OF-FILE NAME=VALUE...: all of them, every difference is told.
expect() {
  local file=$1 pair have bad=0
  shift
  for pair in "$@"; do
    have=$(counter "${pair%%=*}" "$file")
    [ "$have" = "${pair#*=}" ] || { echo "$file: expected $pair, the log has $have"; bad=1; }
  done
  return $bad
}

# Records of a module.
records() {
  "$IOSCRIBE" parse --base "$LOG" | awk -F '\t' -v m="$1" '$1 == m { print $2 "\t" $6 }' | sort -u | wc -l
}

# trace_until WORD LIBRARIES COMMAND...: as trace, but when the daemon's words
# hold WORD, the file "go" is made, for which the command waits.
trace_until() {
  local word=$1 libraries=$2 pid try
  shift 2
  rm -f "$LOG" "$T/said" "$T/w/go"
  LD_LIBRARY_PATH=$T/lib "$IOSCRIBE" run --verbose --log "$LOG" --set library_cache=no \
    --set libraries="$libraries" "${trace_options[@]}" -- "$@" >"$T/said" 2>&1 &
  pid=$!
  for try in $(seq 1 1200); do
    grep -q "$word" "$T/said" 2>/dev/null && break
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.05
  done
  : >"$T/w/go"
  status=0
  wait "$pid" || status=$?
  cat "$T/said"
}

# What every rank of tests/prog/mpiio_calls.c does, twice.
mpiio_totals() {
  [ "$status" -eq 0 ]
  one_log
  expect '/f$' MPIIO_INDEP_OPENS=0 MPIIO_COLL_OPENS=2 MPIIO_INDEP_READS=6 MPIIO_INDEP_WRITES=10 \
    MPIIO_COLL_READS=4 MPIIO_COLL_WRITES=4 MPIIO_SPLIT_READS=2 MPIIO_SPLIT_WRITES=2 MPIIO_NB_READS=2 \
    MPIIO_NB_WRITES=4 MPIIO_SYNCS=2 MPIIO_BYTES_READ=3480 MPIIO_BYTES_WRITTEN=16888
  expect '/f.self.0$' MPIIO_INDEP_OPENS=2 MPIIO_INDEP_WRITES=5 MPIIO_BYTES_WRITTEN=40
  expect '' LEDGER_LIB_DROPPED=0 LEDGER_LIB_UNKNOWN=0
}
