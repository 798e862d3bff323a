#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What one user can take of a service, and that root's prolog is served meanwhile.
load helper

take() {
  python3 "$BATS_TEST_DIRNAME/limits.py" "$IOSCRIBE_DIR" "$@"
}

# lines PATTERN: of refusals in the service's log
lines() {
  grep -c "^ioscribed: refused uid.*$1" "$IOSCRIBE_DIR/log" || true
}

@test "hundreds of connections that take no answer: nobody waits for them, and they are hung up" {
  serve
  user "$IOSCRIBE" job begin --job-id 1 --match-env JOBX=1 --timeout 60
  mkfifo "$T/end"
  python3 "$BATS_TEST_DIRNAME/limits.py" "$IOSCRIBE_DIR" 65534 deaf 200 <>"$T/end" >"$T/out" 3>&- &
  started=($!)
  until_true grep -qs deaf "$T/out"
  job begin --job-id 2 --uid 0 --match-env JOBX=2
  job list | grep '^2 '
  all_hung_up() { [ "$(find "/proc/$DAEMON/fd" -lname 'socket:*' | wc -l)" -lt 30 ]; }
  until_true all_hung_up
  [ "$(lines 'does not take its answers')" -ge 1 ]
  job end 2
  job end 1
}

@test "connections of one user have a limit of their own; another user and root come in" {
  echo 'user_connections = 50' >>"$IOSCRIBE_CONFIG"
  serve
  run_it take 65534 hold 60 python3 "$BATS_TEST_DIRNAME/limits.py" "$IOSCRIBE_DIR" 1234 hold 3 "$IOSCRIBE" job list --timeout 60
  [ "$status" -eq 0 ]
  [ "$output" = "50 served
10 user 65534 has 50 connections here already (user_connections)
3 served" ]
  [ "$(lines 'has 50 connections here already')" -eq 10 ]
}

@test "a daemon that may have 220 open files: 400 connections of one user leave it enough for another's run" {
  # shellcheck disable=SC2209 # it may not raise the limit
  prlimit --nofile=220:220 setpriv --bounding-set=-sys_resource "$IOSCRIBED" --service --stay
  DAEMON=$(cat "$IOSCRIBE_DIR/pid")
  until_true test ! -e "$IOSCRIBE_DIR/loading"
  run_it take 60001 hold 400 setpriv --reuid=65534 --regid=65534 --clear-groups "$IOSCRIBE" run --quiet --log "$T/w/run.darshan" \
    sh -c 'echo x >a'
  [ "$status" -eq 0 ]
  [[ "$output" == *" served"*"(user_descriptors)"* ]]
  [ "$(value "$T/w/run.darshan" POSIX_BYTES_WRITTEN '/a$')" = 2 ]
}

@test "one user leaves others the last eighth of the connections, all users together leave root its own" {
  printf 'user_connections = 3840\nsilent_ms = 3600000\n' >>"$IOSCRIBE_CONFIG"
  serve
  local before after
  before=$(awk '/^VmData/ { print $2 }' "/proc/$DAEMON/status")
  run_it take 65534 hold 3370 python3 "$BATS_TEST_DIRNAME/limits.py" "$IOSCRIBE_DIR" 1234 hold 61 \
    "$IOSCRIBE" job begin --job-id 1 --uid 65534 --match-env JOBX=1 --timeout 60
  [ "$status" -eq 0 ]
  [ "$output" = "3360 served
10 users have 3360 of 3840 connections here: the others are for those with fewer
60 served
1 users have 3420 of 3840 connections here: the others are for those with fewer" ]
  after=$(awk '/^VmData/ { print $2 }' "/proc/$DAEMON/status")
  echo "data: $before KiB, then $after KiB"
  [ $((after - before)) -lt 32768 ]
  job end 1
}

@test "a connection that says nothing is closed with a line; one that waits for a job's end is not" {
  echo 'client_idle_timeout_ms = 2000' >>"$IOSCRIBE_CONFIG"
  serve
  job begin --job-id 7 --uid 65534 --match-env JOBX=7
  mkfifo "$T/go"
  user env JOBX=7 IOSCRIBE_ENABLE=1 sh -c ': >up; read x; echo seven >seven' <>"$T/go" 3>&- &
  started=($!)
  until_true test -e "$T/w/up"
  job end 7 --deadline 60 >"$T/ended" 3>&- &
  local ended=$!
  [ "$(take 65534 silent)" = closed ]
  [ "$(lines '65534 .*says nothing')" -eq 1 ]
  [ "$(take 65534 silent)" = closed ]
  echo >"$T/go"
  wait "$ended"
  [ "$(value "$(cat "$T/ended")" POSIX_BYTES_WRITTEN /seven)" = 6 ]
  wait "${started[0]}"
  started=()
}

@test "jobs that one user begins at once have a limit; those of a prolog do not count" {
  echo 'user_jobs = 3' >>"$IOSCRIBE_CONFIG"
  serve
  local i
  job begin --job-id 90 --uid 65534 --match-env JOBX=90
  for i in 1 2 3; do
    user "$IOSCRIBE" job begin --job-id "$i" --match-env "JOBX=$i" --timeout 60
  done
  run_it user "$IOSCRIBE" job begin --job-id 4 --match-env JOBX=4 --timeout 60
  [ "$status" -eq 1 ]
  [ "$output" = "ioscribe job: user 65534 has 3 jobs here already (user_jobs)" ]
  run_it user "$IOSCRIBE" run --quiet -- true
  [ "$status" -eq 0 ]
  [[ "$output" == *"user 65534 has 3 jobs here already"* ]]
  job begin --job-id 4 --uid 65534 --match-env JOBX=4
  for i in 1 2 3 4 90; do
    job end "$i"
  done
}

@test "a user's share is over all jobs of the user, whoever began them; it is shown to the user and to root" {
  printf 'user_records = 3000\nuser_processes = 100\n' >>"$IOSCRIBE_CONFIG"
  serve
  for i in 1 2 3; do job begin --job-id "$i" --uid 65534 --match-env "JOBX=$i"; done
  job begin --job-id 9 --uid 1234 --match-env JOBX=9
  mine() { "$IOSCRIBE" job show "$1" --timeout 60 | sed -n 's/^records_most=//p'; }
  # what one does not use the others may have
  shared() { [ "$(mine 1)" = 1000 ]; }
  until_true shared
  alone() { [ "$(mine 9)" = 3000 ] || [ "$(mine 9)" = 10000 ]; }
  until_true alone
  job end 2
  job end 3
  all_of_it() { [ "$(mine 1)" = 3000 ]; }
  until_true all_of_it
  user "$IOSCRIBE" job begin --job-id own --match-env JOBX=own --timeout 60
  user "$IOSCRIBE" job status --timeout 60 >"$T/mine"
  [ "$(grep -c ^uid= "$T/mine")" -eq 1 ]
  grep -qx 'uid=65534' "$T/mine"
  grep -qx 'user_jobs=1' "$T/mine"
  grep -qx 'user_jobs_most=200' "$T/mine"
  grep -qx 'user_records_most=3000' "$T/mine"
  ! grep -q '^daemon=' "$T/mine" || return 1
  "$IOSCRIBE" job status --timeout 60 >"$T/all"
  grep -qx "daemon=$DAEMON" "$T/all"
  grep -q '^longest_turn_ms=' "$T/all"
  [ "$(grep -cx 'uid=65534\|uid=1234' "$T/all")" -eq 2 ]
  "$IOSCRIBE" job status --json --timeout 60 | python3 -c 'import json, sys; assert json.load(sys.stdin)[0]["daemon"] > 0'
  for i in 1 9 own; do job end "$i"; done
}

@test "helpers of a user who makes them work without end wait their turn; another user's patterns are matched" {
  echo 'user_helper_share = 5' >>"$IOSCRIBE_CONFIG"
  serve
  local long
  long=$(printf 'a%.0s' {1..240})
  job begin --job-id 1 --uid 65534 --match-env JOBX=1
  job begin --job-id 2 --uid 1234 --match-env JOBX=2
  chmod 777 "$T/w"
  user env JOBX=1 IOSCRIBE_ENABLE=1 "DARSHAN_NAME_EXCLUDE=(.*)(.*)(.*)(.*)\1\2\3\4[%&][%&]" \
    sh -c 'while [ ! -e "$0" ]; do i=$((i + 1)); : >'"$long"'.$i; done' "$T/over" 3>&- &
  started=($!)
  worked() { [ "$("$IOSCRIBE" job status --timeout 60 | sed -n '/^uid=65534/,/^$/s/^user_helper_share=//p')" -ge 5 ]; }
  until_true worked
  setpriv --reuid=1234 --regid=1234 --clear-groups env JOBX=2 IOSCRIBE_ENABLE=1 'DARSHAN_NAME_EXCLUDE=[.]tmp$' \
    sh -c 'echo abc >kept.out; echo abc >left.tmp'
  log=$(job end 2)
  [ "$(value "$log" POSIX_BYTES_WRITTEN '/kept.out$')" = 4 ]
  [ "$(value "$log" POSIX_BYTES_WRITTEN '/left.tmp$')" = 0 ]
  : >"$T/over"
  wait "${started[0]}"
  started=()
  job end 1 --deadline 0 >/dev/null
}
