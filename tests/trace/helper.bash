# SPDX-License-Identifier: BSD-3-Clause
# What the trace tests share: a scratch folder, a traced run, reading its log.
# No test here may skip: without root and BPF it fails and says so.

load ../harness/counters.bash

setup() {
  [ "$(id -u)" -eq 0 ] || { echo "the trace tests need root"; return 1; }
  [ -r /sys/kernel/btf/vmlinux ] || { echo "this kernel has no BTF: no BPF, no trace tests"; return 1; }
  T=$(mktemp -d /tmp/ioscribe-test.XXXXXX)
  PROG=$IOSCRIBE_BUILD/tests/prog
  LOG=$T/run.darshan
  mkdir "$T/w"
  cd "$T/w" || return 1
}

teardown() {
  cd /
  if [ -n "${T:-}" ]; then
    if declare -F cleanup >/dev/null; then cleanup; fi
    rm -rf "$T"
  fi
}

# Run a command traced; its log is $LOG. Leaves status, output and lines as bats' run does.
trace() {
  rm -f "$LOG"
  status=0
  output=$("$IOSCRIBE" run --quiet --force --log "$LOG" "${trace_options[@]}" -- "$@" 2>&1) || status=$?
  mapfile -t lines <<<"$output"
  echo "$output"
}

# Exactly one finished log, and nothing unfinished beside it.
one_log() {
  local found
  found=$(find "$T" -maxdepth 1 -name '*darshan*' | sort | tr '\n' ' ')
  [ "$found" = "$LOG " ] || { echo "logs: $found"; return 1; }
  "$IOSCRIBE" parse "$LOG" >"$T/parsed" 2>"$T/parse.err" || { cat "$T/parse.err"; return 1; }
  [ ! -s "$T/parse.err" ] || { echo "parse complains: $(cat "$T/parse.err")"; return 1; }
}

# expect COUNTER VALUE [FILE-PATTERN]
expect() {
  local have
  have=$(counter "$1" "${3:-}")
  [ "$have" = "$2" ] || { echo "$1${3:+ of $3}: expected $2, the log has $have"; return 1; }
}
