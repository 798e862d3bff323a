#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Patterns that a user writes: whatever they are, the service goes on, other users are
# served, and what could not be judged is in the log and counted.
load helper

# work ID PATTERN: a job of nobody's with that pattern in its environment writes three files
work() {
  user env "JOBX=$1" IOSCRIBE_ENABLE=1 "DARSHAN_NAME_EXCLUDE=$2" sh -c 'for n in a.out a.tmp Z'"$long"'; do echo xyz >$n.$JOBX; done'
}
long=$(printf 'a%.0s' $(seq 240))

ledger() {
  "$IOSCRIBE" parse "$1" | awk -F '\t' -v name="LEDGER_$2" '$4 == name { print $5 }'
}

begin() {
  job begin --job-id "$1" --uid 65534 --match-env "JOBX=$1" "${@:2}"
}

alive() {
  kill -0 "$DAEMON"
  timeout 2 "$IOSCRIBE" job list >/dev/null
}

@test "patterns too long or malformed: refused on a command line, as not set in the environment" {
  local deep
  deep=$(printf '(%.0s' $(seq 16000))
  serve
  run_it "$IOSCRIBE" job begin --job-id 1 --uid 65534 --match-env JOBX=1 "NAME_EXCLUDE=$(printf "a%.0s" $(seq 2000))"
  [ "$status" -ne 0 ]
  [[ "$output" == *"is too long an expression"* ]]
  run_it "$IOSCRIBE" job begin --job-id 1 --uid 65534 --match-env JOBX=1 "NAME_EXCLUDE=^/a,(b POSIX"
  [ "$status" -ne 0 ]
  [ "$output" = "ioscribe job: NAME_EXCLUDE: '(b' is no extended regular expression: Unmatched ( or \\(" ]
  begin 2
  work 2 "$deep"
  alive
  log=$(job end 2)
  [ "$(value "$log" POSIX_BYTES_WRITTEN '/a\.tmp\.2$')" = 4 ]
  begin 3
  work 3 "$(printf '(%.0s' $(seq 400))[.]tmp$(printf ')%.0s' $(seq 400))"
  alive
  log=$(job end 3)
  [ "$(value "$log" POSIX_OPENS '/a\.tmp\.3$')" = 0 ]
  [ "$(value "$log" POSIX_BYTES_WRITTEN '/a\.out\.3$')" = 4 ]
  begin 4
  work 4 '(b,\.tmp'
  log=$(job end 4)
  [ "$(value "$log" POSIX_OPENS '/a\.tmp\.4$')" = 0 ]
  [ "$(value "$log" POSIX_BYTES_WRITTEN '/a\.out\.4$')" = 4 ]
  [ "$(ledger "$log" NOT_JUDGED)" = 0 ]
}

@test "patterns that take for ever or all memory: nobody waits, nothing is excluded, the ledger says so" {
  serve
  local n=1 pattern
  for pattern in '(.*)(.*)(.*)(.*)\1\2\3\4[%&][%&]' '((((a{255}){255}){255}){255})'; do
    begin $n
    work $n "$pattern"
    alive
    log=$(job end $n)
    [ "$(value "$log" POSIX_BYTES_WRITTEN "/a\\.tmp\\.$n\$")" = 4 ]
    [ "$(value "$log" POSIX_BYTES_WRITTEN "/Za*\\.$n\$")" = 4 ]
    [ "$(ledger "$log" NOT_JUDGED)" -ge 1 ]
    n=$((n + 1))
  done
  begin 9
  work 9 '\.tmp'
  log=$(job end 9)
  [ "$(value "$log" POSIX_OPENS '/a\.tmp\.9$')" = 0 ]
  [ "$(value "$log" POSIX_BYTES_WRITTEN '/a\.out\.9$')" = 4 ]
  [ "$(ledger "$log" NOT_JUDGED)" = 0 ]
}

@test "a worker that is stopped or killed: the job ends, its names are not excluded" {
  serve
  begin 1 'NAME_EXCLUDE=\.tmp'
  user env JOBX=1 IOSCRIBE_ENABLE=1 sh -c 'echo x >one.tmp'
  until_true helpers_of_nobody
  worker=$(helpers_of_nobody)
  kill -STOP $worker
  user env JOBX=1 IOSCRIBE_ENABLE=1 sh -c 'echo x >two.tmp'
  alive
  log=$(job end 1)
  kill -KILL $worker 2>/dev/null || true
  [ "$(value "$log" POSIX_OPENS '/one\.tmp$')" = 0 ]
  [ "$(value "$log" POSIX_BYTES_WRITTEN '/two\.tmp$')" = 2 ]
  [ "$(ledger "$log" NOT_JUDGED)" -ge 1 ]
}
