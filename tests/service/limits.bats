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
10 too many connections of this user
3 served" ]
  [ "$(lines 'too many connections of this user')" -eq 10 ]
}

@test "all users together leave root its connections" {
  printf 'user_connections = 3840\nsilent_ms = 3600000\n' >>"$IOSCRIBE_CONFIG"
  serve
  local before after
  before=$(awk '/^VmData/ { print $2 }' "/proc/$DAEMON/status")
  run_it take 65534 hold 3850 python3 "$BATS_TEST_DIRNAME/limits.py" "$IOSCRIBE_DIR" 1234 hold 1 \
    "$IOSCRIBE" job begin --job-id 1 --uid 65534 --match-env JOBX=1 --timeout 60
  [ "$status" -eq 0 ]
  [ "$output" = "3840 served
10 too many connections
1 too many connections" ]
  after=$(awk '/^VmData/ { print $2 }' "/proc/$DAEMON/status")
  echo "data: $before KiB, then $after KiB"
  [ $((after - before)) -lt 32768 ]
  job end 1
}

@test "a connection that says nothing is closed with a line; one that waits for a job's end is not" {
  echo 'silent_ms = 2000' >>"$IOSCRIBE_CONFIG"
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
  [ "$output" = "ioscribe job: user 65534 has 3 jobs here already" ]
  run_it user "$IOSCRIBE" run --quiet -- true
  [[ "$output" == *"user 65534 has 3 jobs here already"* ]]
  job begin --job-id 4 --uid 65534 --match-env JOBX=4
  for i in 1 2 3 4 90; do
    job end "$i"
  done
}
