#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# ioscribe doctor --selftest: without a service, in one, where a way is off.
load helper

teardown() {
  helper_teardown
}

setup() {
  helper_setup
}

selftest() { # STATUS
  status=0
  output=$("$IOSCRIBE" doctor --selftest) || status=$?
  echo "$output"
  [ "$status" -eq "$1" ]
  [ -z "$(compgen -G '/tmp/ioscribe-selftest.*')" ]
}

right() { # WAY COUNTERS
  grep -qxF "$(printf '%-5s %-22s %s' ok selftest "$1: $2 counters are right")" <<<"$output"
}

all_right() {
  right posix 7
  right threads 3
  right io_uring 5
  right stdio 5
  right mpi_io 6
  [ "$(wc -l <<<"$output")" -eq 5 ]
}

@test "selftest: each way is right, without a service and in one" {
  selftest 0
  all_right
  serve
  selftest 0
  all_right
}

@test "selftest: a way that is off is named by its counters, and the exit status is 1" {
  echo 'stdio_wrap = no' >>"$IOSCRIBE_CONFIG"
  serve
  selftest 1
  right posix 7
  right io_uring 5
  right mpi_io 6
  grep -qxF "$(printf '%-5s %-22s %s' FIX selftest "stdio: STDIO_WRITES is 0, not 100")" <<<"$output"
}

@test "selftest: a service that requires it traces nothing until it has passed, and goes on with jobs" {
  echo 'require_selftest = yes' >>"$IOSCRIBE_CONFIG"
  serve --pin
  refused='the self-test has not passed on this kernel (require_selftest): run ioscribe doctor --selftest as root'
  run_it "$IOSCRIBE" job begin --job-id 5 --uid 0
  [ "$status" -eq 1 ]
  [[ $output == *"$refused"* ]]
  run_it user "$IOSCRIBE" run --log "$T/w/user.darshan" -- echo ran
  [[ $output == *"$refused; CMD runs untraced"*ran ]]
  output=$("$IOSCRIBE" doctor --service) || true
  grep -q '^FIX   selftest  .*required, and not passed' <<<"$output"
  # another kernel's, another version's
  echo "$("$IOSCRIBE" --version | grep -o '[^ ]*$') $(uname -r) #1 older" >"$IOSCRIBE_DIR/selftest"
  ! "$IOSCRIBE" job begin --job-id 5 --uid 0 2>/dev/null || return 1
  rm "$IOSCRIBE_DIR/selftest"
  selftest 0
  right posix 7
  [ "$(stat -c %a "$IOSCRIBE_DIR/selftest")" = 600 ]
  "$IOSCRIBE" job begin --job-id 5 --uid 0
  rm "$IOSCRIBE_DIR/selftest"
  kill -TERM "$DAEMON"
  gone "$DAEMON"
  serve --pin
  "$IOSCRIBE" job list | grep -q '^5 .*running'
  "$IOSCRIBE" job end 5
  ! "$IOSCRIBE" job begin --job-id 6 --uid 0 2>/dev/null || return 1
}

@test "selftest: a user without a service cannot trace, and is told so" {
  status=0
  output=$(setpriv --reuid 65534 --regid 65534 --clear-groups "$IOSCRIBE" doctor --selftest) || status=$?
  [ "$status" -eq 1 ]
  grep -q '^FIX   selftest  .*root' <<<"$output"
}
