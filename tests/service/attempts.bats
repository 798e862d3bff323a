#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Another unprivileged user against a service: see attempts.py for the list.
load helper

# steady: the daemon has as many descriptors as half a second ago ($before).
steady() {
  local now
  now=$(ls /proc/"$DAEMON"/fd | wc -l)
  [ "$now" -eq "$before" ] || { before=$now; sleep 0.5; return 1; }
}

@test "whatever another user tries is refused with one line in the log, and the service goes on" {
  serve --pin
  mkdir -m 700 "$T/theirs"
  job begin --job-id theirs --uid 0 --match-env ZZ=theirs log_dir="$T/theirs" log_layout=flat
  IOSCRIBE_ENABLE=1 ZZ=theirs sh -c 'echo secret >"$0/file"' "$T/theirs"
  echo old >"$T/theirs/old.darshan"
  local before=0
  # what it keeps of libraries is there
  until_true steady
  python3 "$BATS_TEST_DIRNAME/attempts.py" "$IOSCRIBE_DIR" "$DAEMON" "$T/theirs/old.darshan"
  # nothing of it has changed root's job
  [ "$(ls /proc/"$DAEMON"/fd | wc -l)" -le $((before + 4)) ]
  job end --job-id theirs --deadline 30
  local log
  log=$(find "$T/theirs" -name '*id0*' -o -name 'root_*.darshan')
  [ "$(value "$log" POSIX_BYTES_WRITTEN theirs/file)" -eq 7 ]
}

@test "a flood of requests: lines stay within their limit, root is served" {
  serve
  python3 "$BATS_TEST_DIRNAME/attempts.py" "$IOSCRIBE_DIR" "$DAEMON" none flood
  job list
  local n
  n=$(wc -l <"$IOSCRIBE_DIR/log")
  echo "$n lines"
  [ "$n" -ge 1 ]
  [ "$n" -lt 1500 ]
}

@test "descriptors of files whose server answers no close: nobody else waits" {
  serve
  mkdir "$T/fs"
  mkfifo "$T/in"
  python3 "$BATS_TEST_DIRNAME/never_closed.py" "$T/fs" "$IOSCRIBE_DIR/socket" <"$T/in" >"$T/out" 2>"$T/err" 3>&- &
  exec 4>"$T/in"
  until_true test -s "$T/out"
  local status=0 state
  timeout 5 "$IOSCRIBE" job list >/dev/null || status=$?
  state=$(sed -n 's/^State:\t\(.\).*/\1/p' "/proc/$DAEMON/status")
  exec 4>&-
  wait $!
  cat "$T/err"
  [ "$status" -eq 0 ]
  [ "$state" != D ]
}
