#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# ioscribe publish: the operations of a running job of the service, by its owner.
load helper

# Writes a line each time that it reads one, until the pipe ends.
steps() {
  user mkfifo go
  user env JOBX=81 IOSCRIBE_ENABLE=1 bash -c 'exec 5>f; while read -r line <&6; do echo "$line" >&5; : >"did.$line"; done 6<go' 3>&- &
  STEPS=$!
  echo "$STEPS" >>"$T/pids"
  exec 7>go
}

step() {
  echo "$1" >&7
  until_true test -e "did.$1"
}

publish() {
  user "$IOSCRIBE" publish --job 81 "$@" 2>"$T/err" 3>&- 7>&- &
  PUBLISHER=$!
  echo "$PUBLISHER" >>"$T/pids"
}

lines_of() {
  grep -c "$1" events
}

begin() {
  serve
  job begin --job-id 81 --uid 65534 --match-env JOBX=81
  steps
  step 1
  publish json:events
  until_true test -e events
  sleep 0.5 # records that were there before leave events when the kernel's programs have settled
}

@test "from now on until the job ends; the log says how many; another user may not, root may" {
  begin
  step 2
  step 3
  ! USER_ID=65533 user "$IOSCRIBE" publish --job 81 json:x 2>"$T/refused" || return 1
  grep -q 'no job 81 here' "$T/refused"
  ! USER_ID=65533 user "$IOSCRIBE" publish --pid "$STEPS" json:x 2>"$T/refused" || return 1
  grep -q "no job has process $STEPS" "$T/refused"
  exec 7>&-
  wait "$STEPS"
  job end --job-id 81 --deadline 60 >"$T/said"
  wait "$PUBLISHER"
  [ ! -s "$T/err" ]
  [ "$(lines_of '"op":"write"')" -eq 2 ]
  [ "$(lines_of '"uid":65534,"exe":"N/A","job_id":81,"rank":0')" -ge 3 ]
  # totals of the stream stand in between, too, where it lasts long; the last says how many operations there are
  local n=$(grep -vc '"module":"STREAM"' events)
  tail -n 1 events | grep -q "\"module\":\"STREAM\".*\"cnt\":$n,\"op\":\"end\""
  "$IOSCRIBE" parse "$(grep -o '/.*darshan$' "$T/said")" | grep -q "^# metadata: published = $n lost 0$"
}

# The clock of a command, and of what it starts, is an hour ahead.
ahead() {
  LD_PRELOAD=$(find /usr/lib -name libfaketime.so.1) FAKETIME=+1h FAKETIME_DONT_FAKE_MONOTONIC=1 "$@"
}

@test "the daemon is killed, another one goes on by a clock an hour ahead: the publisher subscribes again, nothing is twice, times run on" {
  serve --pin
  job begin --job-id 81 --uid 65534 --match-env JOBX=81
  steps
  step 1
  publish json:events
  until_true test -e events
  sleep 0.5
  step 2
  until_true grep -q '"op":"write"' events
  kill -KILL "$DAEMON"
  gone "$DAEMON"
  ahead serve --pin
  until_true test -n "$(user "$IOSCRIBE" job list 2>/dev/null)"
  sleep 1
  step 3
  exec 7>&-
  wait "$STEPS"
  job end --job-id 81 --deadline 60
  wait "$PUBLISHER"
  [ "$(lines_of '"op":"write"')" -eq 2 ]
  grep '"op":"write"' events | grep -o '"timestamp":[0-9.]*' | sort -u | cut -d: -f2 >times
  [ "$(wc -l <times)" -eq 2 ]
  awk 'NR == 1 { first = $1 } END { exit !($1 - first < 600) }' times
  # a job that begins now has the daemon's clock
  job begin --job-id 82 --uid 65534 --match-env JOBX=82
  user env JOBX=82 IOSCRIBE_ENABLE=1 touch g
  job end --job-id 82 --deadline 60
  "$IOSCRIBE" parse "$T"/logs/*id82*.darshan | awk -v now="$(date +%s)" '/^# start_time:/ { ahead = $3 - now } END { print ahead; exit !(ahead > 3000 && ahead < 4000) }'
}

@test "a ring cannot be written by its user; one who says to have read what is not there loses operations of his own only" {
  serve
  job begin --job-id 81 --uid 65534 --match-env JOBX=81
  steps
  step 1
  step 1b
  cp "$BATS_TEST_DIRNAME/ring.py" "$T" # where the user may read it
  user python3 "$T/ring.py" "$IOSCRIBE_DIR/socket" 3>&- 7>&- &
  echo $! >>"$T/pids"
  until_true test -e ring.ready
  for i in 2 3 4 5; do step $i; done
  sleep 0.3
  exec 7>&-
  wait "$STEPS"
  job end --job-id 81 --deadline 60 >"$T/said"
  kill -0 "$DAEMON"
  [ "$(value "$(grep -o '/.*darshan$' "$T/said")" POSIX_WRITES '/w/f$')" -eq 6 ]
}

@test "as many as a user may have, and no more; a job that has ended" {
  local i
  serve
  job begin --job-id 81 --uid 65534 --match-env JOBX=81
  for i in 1 2 3 4 5 6 7 8; do
    publish "json:e$i"
    until_true test -e "e$i"
  done
  ! user "$IOSCRIBE" publish --job 81 json:e9 2>"$T/refused" || return 1
  grep -q '8 publishers have this job already' "$T/refused"
  [ ! -e e9 ]
  job end --job-id 81
  wait "$PUBLISHER"
  ! user "$IOSCRIBE" publish --job 81 json:e9 2>"$T/refused" || return 1
  [ "$(wc -l <"$T/refused")" -eq 1 ]
}

# No publisher of this test runs any more.
all_published() {
  ! pgrep -f -- "--job 81 --notify 3 -- .*json:$T" >/dev/null
}

nobody_publishes() {
  ! pgrep -f -- "--job 81 --notify 3 -- .*$T" >/dev/null
}

@test "job begin --stream: as the job's user, from the first call on; the site's stream as its account" {
  mkdir -m 1777 "$T/streams"
  printf 'stream = json:%s/all every=2,json:%s/some\nstream_uid = 65532\nstream_hosts = kafka1.site,node2\n' \
    "$T/streams" "$T/streams" >>"$IOSCRIBE_CONFIG"
  serve
  SECRET=roots job begin --job-id 81 --uid 65534 --match-env JOBX=81 --stream "json:$T/streams/own" 3>&-
  # nothing of root's: neither groups nor variables
  [ "$(pgrep -fc -- "--job 81 --notify 3 -- .*json:$T")" -eq 3 ]
  for i in $(pgrep -f -- "--job 81 --notify 3 -- .*json:$T"); do
    awk '/^(Uid|Gid|Groups):/ { for (k = 2; k <= NF; k++) if ($k == 0) exit 1 }' "/proc/$i/status"
    ! grep -q SECRET "/proc/$i/environ" || return 1
  done
  [ "$(stat -c %u "$T/streams/own" "$T/streams/all" "$T/streams/some" | paste -sd ' ')" = '65534 65532 65532' ]
  # a prolog that runs again begins nothing twice
  job begin --job-id 81 --uid 65534 --match-env JOBX=81 --stream "json:$T/streams/own" 3>&-
  steps
  for i in 1 2 3 4; do step "$i"; done
  exec 7>&-
  wait "$STEPS"
  job end --job-id 81 --deadline 60 >"$T/said"
  until_true all_published
  [ "$(grep -c '"op":"write"' "$T/streams/own")" -eq 4 ]
  # each has totals of its own
  cmp <(grep -v '"module":"STREAM"' "$T/streams/own") <(grep -v '"module":"STREAM"' "$T/streams/all")
  [ "$(grep -c '"op":"write"' "$T/streams/some")" -eq 2 ]
}

@test "job begin --stream: a socket whose queue is full, a library that hangs: they end with the job, the site's too" {
  "$IOSCRIBE_SOURCE/tests/streams/full_socket.py" "$T/in.sock" 3>&- &
  echo $! >>"$T/pids"
  until_true test -e "$T/in.sock.full"
  : >"$T/412.hangs"
  printf 'stream = json:unix:%s/in.sock\nstream_uid = 65532\n' "$T" >>"$IOSCRIBE_CONFIG"
  serve
  LD_LIBRARY_PATH=$IOSCRIBE_BUILD/tests/streams/new job begin --job-id 81 --uid 65534 --match-env JOBX=81 \
    --stream "json:unix:$T/in.sock" --stream "ldms:sock:$T:412:none" 3>&-
  steps
  step 1
  [ "$(pgrep -fc -- "--job 81 --notify 3 -- .*$T")" -eq 3 ]
  exec 7>&-
  wait "$STEPS"
  job end --job-id 81 --deadline 60
  until_true nobody_publishes
}

@test "job begin --stream: a host that the site does not list, a relative path, another account's right" {
  local sink
  printf 'stream_uid = 65532\nstream_hosts = kafka1.site,node2\n' >>"$IOSCRIBE_CONFIG"
  serve
  for sink in ldms:sock:node3:411:none kafka:kafka1.site:9092,kafka2.site:9092/io 'kafka:SSL://[::1]:9092/io'; do
    run_it job begin --job-id "$sink" --uid 65534 --match-env JOBX=81 --stream "$sink" 3>&-
    [ "$status" -eq 1 ]
    [[ $output == *"is none of the hosts that the site lists" ]]
    job end --job-id "$sink"
  done
  run_it job begin --job-id 81 --uid 65534 --match-env JOBX=81 --stream json:own 3>&-
  [ "$status" -eq 1 ]
  [[ $output == *"json:own: an absolute path is needed" ]]
  ! USER_ID=65533 user "$IOSCRIBE" publish --job 81 json:x 2>"$T/refused" || return 1
  USER_ID=65532 user "$IOSCRIBE" publish --job 81 json:/dev/null 2>"$T/err" 3>&- &
  PUBLISHER=$!
  sleep 0.3
  job end --job-id 81
  wait "$PUBLISHER"
  [ ! -s "$T/err" ]
}
