#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What the library tests share. Probes go into copies of the libraries, which
# the traced programs find by LD_LIBRARY_PATH: other processes of the machine
# map other files and pay nothing. No test here may skip.

load ../harness/counters.bash

setup() {
  [ "$(id -u)" -eq 0 ] || { echo "the library tests need root"; return 1; }
  T=$(mktemp -d /tmp/ioscribe-test.XXXXXX)
  PROG=$IOSCRIBE_BUILD/tests/prog
  LIBPROG=$IOSCRIBE_BUILD/tests/uprobes
  LOG=$T/run.darshan
  mkdir "$T/w" "$T/lib"
  cd "$T/w" || return 1
}

teardown() {
  cd /
  if [ -n "${T:-}" ]; then
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
  output=$(LD_LIBRARY_PATH=$T/lib "$IOSCRIBE" run --quiet --force --log "$LOG" --set library_cache=no \
    --set trace_libraries="$libraries" --set "library_attach=${SCRIBE_TEST_LIBRARY_ATTACH:-auto}" \
    "${trace_options[@]}" -- "$@" 2>&1) || status=$?
  echo "$output"
}

one_log() {
  "$IOSCRIBE" parse "$LOG" >"$T/parsed" 2>"$T/parse.err" || { cat "$T/parse.err"; return 1; }
  [ ! -s "$T/parse.err" ] || { echo "parse complains: $(cat "$T/parse.err")"; return 1; }
}

# expect PATTERN-OF-FILE NAME=VALUE...: all of them, every difference is told.
expect() {
  local file=$1
  shift
  base
  awk -F '\t' -v file="$file" -v pairs="$*" '
    BEGIN { n = split(pairs, pair, " "); for (i = 1; i <= n; i++) { split(pair[i], p, "="); sum[p[1]] = 0 } }
    $4 in sum && (file == "" || $6 ~ file) { sum[$4] += $5 }
    END {
      for (i = 1; i <= n; i++) {
        split(pair[i], p, "=")
        have = sprintf("%.0f", sum[p[1]])
        if (have != p[2]) {
          print file ": expected " pair[i] ", the log has " have
          bad = 1
        }
      }
      exit bad
    }' "$BASE"
}

# Records of a module.
records() {
  base
  awk -F '\t' -v m="$1" '$1 == m { print $2 "\t" $6 }' "$BASE" | sort -u | wc -l
}

# trace_until WORD LIBRARIES COMMAND...: as trace, but when the daemon's words
# hold WORD, the file "go" is made, for which the command waits.
trace_until() {
  local word=$1 libraries=$2 pid try
  shift 2
  rm -f "$LOG" "$T/said" "$T/w/go"
  LD_LIBRARY_PATH=$T/lib "$IOSCRIBE" run --verbose --force --log "$LOG" --set library_cache=no \
    --set trace_libraries="$libraries" --set "library_attach=${SCRIBE_TEST_LIBRARY_ATTACH:-auto}" \
    "${trace_options[@]}" -- "$@" >"$T/said" 2>&1 &
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

# families PROGRAM [inside]: what tests/prog/stdio_families.c does, call by call, with standard error in a file.
families() {
  trace stdio sh -c '"$0" 2>notes' "$1"
  [ "$status" -eq 0 ]
  one_log
  expect '/std$' STDIO_OPENS=2 STDIO_WRITES=4 STDIO_BYTES_WRITTEN=12 STDIO_READS=4 STDIO_BYTES_READ=12
  expect '/lists$' STDIO_OPENS=3 STDIO_WRITES=2 STDIO_BYTES_WRITTEN=10 STDIO_READS=4 STDIO_BYTES_READ=10 \
    STDIO_MAX_BYTE_WRITTEN=9 STDIO_MAX_BYTE_READ=9
  expect '/wide$' STDIO_OPENS=2 STDIO_WRITES=4 STDIO_BYTES_WRITTEN=10 STDIO_READS=3 STDIO_BYTES_READ=10
  expect '/wstd$' STDIO_OPENS=2 STDIO_WRITES=5 STDIO_BYTES_WRITTEN=14 STDIO_READS=5 STDIO_BYTES_READ=14 \
    STDIO_MAX_BYTE_WRITTEN=13 STDIO_MAX_BYTE_READ=13
  expect '/wmany$' STDIO_OPENS=1 STDIO_WRITES=6000 STDIO_BYTES_WRITTEN=15000 STDIO_READS=6000 \
    STDIO_BYTES_READ=15000 STDIO_MAX_BYTE_WRITTEN=14999 STDIO_MAX_BYTE_READ=14999 STDIO_SEEKS=1
  expect '/words$' STDIO_OPENS=1 STDIO_WRITES=3 STDIO_BYTES_WRITTEN=12 STDIO_READS=3 STDIO_BYTES_READ=12 STDIO_SEEKS=1
  expect '/nuls$' STDIO_WRITES=1 STDIO_READS=5 STDIO_BYTES_READ=12 STDIO_MAX_BYTE_READ=11
  expect '/twice$' STDIO_WRITES=1 STDIO_READS=20 STDIO_BYTES_READ=20 STDIO_MAX_BYTE_READ=9
  # inside the program a standard stream is a file of its own, and what it leads to is POSIX's
  if [ "${2:-}" = inside ]; then
    expect '^<STDERR>$' STDIO_OPENS=1 STDIO_WRITES=2 STDIO_BYTES_WRITTEN=10 STDIO_MAX_BYTE_WRITTEN=9
    expect '/notes$' STDIO_WRITES=0 POSIX_WRITES=2 POSIX_BYTES_WRITTEN=10
    expect '^'"$T/w/[^n]" POSIX_READS=0 POSIX_WRITES=0
  else
    expect '/notes$' STDIO_OPENS=0 STDIO_WRITES=2 STDIO_BYTES_WRITTEN=10
    expect '^'"$T/w/" POSIX_READS=0 POSIX_WRITES=0
  fi
  expect '/messages$' STDIO_OPENS=1 STDIO_WRITES=6 STDIO_BYTES_WRITTEN=105
  expect '' LEDGER_LIB_DROPPED=0
}

# What tests/prog/stdio_forks.c does, however it is counted.
forks() {
  [ "$status" -eq 0 ]
  one_log
  expect '/forks$' STDIO_OPENS=1 STDIO_BYTES_WRITTEN=90 STDIO_FLUSHES=5
  expect '/many$' STDIO_OPENS=5000 STDIO_WRITES=5000 STDIO_BYTES_WRITTEN=15000 STDIO_MAX_BYTE_WRITTEN=14999
  expect '/threads$' STDIO_BYTES_WRITTEN=256000 STDIO_MAX_BYTE_WRITTEN=255999
  # what the next program wrote to the same description is not lost
  expect '/execd$' STDIO_WRITES=4 STDIO_BYTES_WRITTEN=310
  expect '^'"$T/w/" POSIX_READS=0 POSIX_WRITES=0
}

# What tests/prog/hdf5_calls.c does to a.h5.
hdf5_totals() {
  [ "$status" -eq 0 ]
  one_log
  expect '/a.h5$' H5F_OPENS=2 H5F_FLUSHES=1 H5F_USE_MPIIO=0
  expect '/a.h5:/group/plain$' H5D_OPENS=3 H5D_READS=2 H5D_WRITES=4 H5D_FLUSHES=1 H5D_BYTES_READ=66560 \
    H5D_BYTES_WRITTEN=69736 H5D_RW_SWITCHES=1 H5D_REGULAR_HYPERSLAB_SELECTS=2 \
    H5D_IRREGULAR_HYPERSLAB_SELECTS=1 H5D_POINT_SELECTS=1 H5D_SIZE_WRITE_AGG_0_100=2 \
    H5D_SIZE_WRITE_AGG_1K_10K=1 H5D_SIZE_WRITE_AGG_10K_100K=1 H5D_SIZE_READ_AGG_100_1K=1 \
    H5D_SIZE_READ_AGG_10K_100K=1 H5D_ACCESS1_ACCESS=65536 H5D_ACCESS1_COUNT=2 H5D_DATASPACE_NDIMS=2 \
    H5D_DATASPACE_NPOINTS=8192 H5D_DATATYPE_SIZE=8 H5D_CHUNK_SIZE_D1=0 H5D_USE_MPIIO_COLLECTIVE=0
  expect '/a.h5:/chunked$' H5D_OPENS=1 H5D_WRITES=1 H5D_BYTES_WRITTEN=4000 H5D_DATASPACE_NDIMS=1 \
    H5D_DATASPACE_NPOINTS=1000 H5D_DATATYPE_SIZE=4 H5D_CHUNK_SIZE_D1=100 H5D_CHUNK_SIZE_D2=0
  expect '/a.h5:/group/plain$' H5D_USE_DEPRECATED=0 H5D_ACCESS1_LENGTH_D5=0 H5D_ACCESS2_ACCESS=4096 \
    H5D_ACCESS2_LENGTH_D5=4 H5D_ACCESS2_LENGTH_D4=128 H5D_ACCESS2_STRIDE_D5=1 H5D_ACCESS2_STRIDE_D4=1 \
    H5D_ACCESS2_COUNT=1 H5D_ACCESS3_ACCESS=1024 H5D_ACCESS3_LENGTH_D5=1 H5D_ACCESS3_LENGTH_D4=128 \
    H5D_ACCESS4_ACCESS=80 H5D_ACCESS4_LENGTH_D5=0
  # 3 x 8 x 5 x 4 bytes by strides of 2 and 3, a stored chunk of 100 bytes out and in, 2 x 1 blocks of 2 x 3
  expect '/a.h5:/packed$' H5D_OPENS=2 H5D_USE_DEPRECATED=1 H5D_WRITES=4 H5D_READS=2 H5D_BYTES_WRITTEN=580 \
    H5D_BYTES_READ=148 H5D_REGULAR_HYPERSLAB_SELECTS=4 H5D_ACCESS1_ACCESS=160 H5D_ACCESS1_COUNT=3 \
    H5D_ACCESS1_LENGTH_D5=8 H5D_ACCESS1_LENGTH_D4=5 H5D_ACCESS1_LENGTH_D3=0 H5D_ACCESS1_STRIDE_D5=2 \
    H5D_ACCESS1_STRIDE_D4=3 H5D_ACCESS2_ACCESS=100 H5D_ACCESS2_COUNT=2 H5D_ACCESS2_LENGTH_D5=0 \
    H5D_ACCESS3_ACCESS=48 H5D_ACCESS3_COUNT=1 H5D_ACCESS3_LENGTH_D5=4 H5D_ACCESS3_LENGTH_D4=3 \
    H5D_ACCESS3_STRIDE_D5=8 H5D_CHUNK_SIZE_D1=5 H5D_CHUNK_SIZE_D2=8
  [ "$(records H5F)" -eq 1 ]
  [ "$(records H5D)" -eq 3 ]
  expect '' LEDGER_LIB_DROPPED=0 LEDGER_LIB_UNKNOWN=0
}

# The program and all it needs below another root.
make_root() {
  local program=$1 file
  mkdir -p "$T/root/w" "$T/root/tmp" "$T/root/dev" "$T/root/proc" "$T/root/sys"
  cp "$program" "$T/root/program"
  for file in $(ldd "$program" | grep -o '/[^ )]*'); do
    mkdir -p "$T/root/${file%/*}"
    cp -L "$file" "$T/root/$file"
  done
}
