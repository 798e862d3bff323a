#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# A service is pestered with messages while a job of known totals runs.
# SCRIBE_TEST_LONG: for ten minutes.
load helper

@test "random messages of a stranger and of the job's own user: totals exact, one log, the daemon goes on" {
  serve
  local seconds=4 files=0
  mkfifo -m 666 "$T/never"
  [ -z "${SCRIBE_TEST_LONG:-}" ] || seconds=600
  job begin --job-id known --uid 65534 --match-env JOBX=known
  python3 "$BATS_TEST_DIRNAME/pester.py" "$IOSCRIBE_DIR" 1234 "$seconds" >"$T/stranger" 2>&1 3>&- &
  local stranger=$!
  python3 "$BATS_TEST_DIRNAME/pester.py" "$IOSCRIBE_DIR" 4321 "$seconds" >"$T/other" 2>&1 3>&- &
  local other=$!
  started=("$stranger" "$other")
  # files of its own all the while, and fewer than a job may hold
  user env JOBX=known IOSCRIBE_ENABLE=1 bash -c '
    for n in {1..4000}; do
      echo "file $n" >"f.$n"
      if [ -e "$0/over" ]; then break; fi
      read -rt 0.002 <>"$1"
    done
    echo "$n" >count' "$T" "$T/never" 3>&- &
  local work=$!
  started+=("$work")
  wait "$stranger" "$other" || { cat "$T/stranger" "$T/other"; return 1; }
  : >"$T/over"
  wait "$work"
  started=()
  cat "$T/stranger" "$T/other"
  [ "$(cat "$IOSCRIBE_DIR/pid")" = "$DAEMON" ]
  ! is_gone "$DAEMON" || return 1
  files=$(cat count)
  run_it job end known --deadline 30
  [ "$status" -eq 0 ]
  [ "$(wc -l <<<"$output")" -eq 1 ]
  local log=$output
  [ "$(value "$log" POSIX_WRITES '/w/f[.][0-9]+$')" = "$files" ]
  [ "$(value "$log" POSIX_BYTES_WRITTEN '/w/f[.][0-9]+$')" = "$(cat f.* | wc -c)" ]
  # what the strangers have begun ends too; no descriptor of theirs is kept
  local i
  for i in $(job list | awk '/^p[0-9]/ { print $1 }'); do
    job end "$i" --deadline 0 || true
  done
  nothing_kept() { [ "$(find "/proc/$DAEMON/fd" \( -lname 'socket:*' -o -lname '/dev/null' -o -lname '/memfd:p*' \) | wc -l)" -lt 20 ]; }
  until_true nothing_kept
}
