#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Many jobs at once on one daemon: each log holds its own and nothing else.
load helper

# A job from its prolog to its epilog.
whole_job() {
  local id=$1
  job begin --job-id "$id" --uid 65534 --match-env "JOBX=$id" || echo "begin $id" >>"$T/failed"
  user env "JOBX=$id" IOSCRIBE_ENABLE=1 sh -c '
    dd if=/dev/zero of=a.$JOBX bs=$JOBX count=3 2>/dev/null
    dd if=a.$JOBX of=b.$JOBX bs=$JOBX count=2 2>/dev/null' || echo "work $id" >>"$T/failed"
  job end --job-id "$id" --deadline 60 >"$T/log.$id" || echo "end $id" >>"$T/failed"
}

@test "200 jobs begin and end concurrently: 200 logs, each with its own totals" {
  serve
  local id log pids=()
  for id in $(seq 1001 1200); do
    whole_job "$id" 3>&- &
    pids+=($!)
  done
  wait "${pids[@]}"
  [ ! -e "$T/failed" ] || { cat "$T/failed"; return 1; }
  [ "$(find "$T/logs" -type f | wc -l)" -eq 200 ]
  until_true sh -c '[ -z "$("$IOSCRIBE" job list --timeout 60)" ]'
  for id in $(seq 1001 1200); do
    log=$(cat "$T/log.$id")
    "$IOSCRIBE" parse --base "$log" >"$T/text"
    awk -F '\t' -v id="$id" '
      /^# jobid:/ { sub(/.*: /, ""); job = $0 }
      $4 == "POSIX_BYTES_WRITTEN" && $6 ~ "/w/a\\." { a += $5; if ($6 !~ "\\." id "$") foreign = $6 }
      $4 == "POSIX_BYTES_WRITTEN" && $6 ~ "/w/b\\." { b += $5; if ($6 !~ "\\." id "$") foreign = $6 }
      $4 == "POSIX_BYTES_READ" && $6 ~ "/w/a\\." { r += $5 }
      END { if (job != id || a != 3 * id || b != 2 * id || r != 2 * id || foreign) {
        print "job", id, "log says", job, a, b, r, foreign; exit 1 } }' "$T/text"
  done
}

@test "an end's deadline: what still runs is said in the log, and goes on unrecorded" {
  serve
  job begin --job-id 31 --uid 65534 --match-env JOBX=31
  mkfifo "$T/go"
  user env JOBX=31 IOSCRIBE_ENABLE=1 sh -c 'echo $$ >pid; echo abc >first; read x; echo defg >second; echo >done' \
    <>"$T/go" 3>&- &
  started=($!)
  until_true test -s "$T/w/first"
  started+=("$(cat "$T/w/pid")")
  run_it job end 31 --deadline 0
  [ "$status" -eq 0 ]
  local log=$output
  echo >"$T/go"
  until_true test -e "$T/w/done"
  wait "${started[0]}"
  started=()
  [ "$(value "$log" POSIX_BYTES_WRITTEN '/first$')" = 4 ]
  [ "$(value "$log" POSIX_OPENS '/second$')" = 0 ]
  until_true sh -c '[ -z "$("$IOSCRIBE" job list --timeout 60)" ]'
}

@test "a quota is a job's own: one that has used its up leaves the others theirs" {
  serve
  job begin --job-id 41 --uid 65534 --match-env JOBX=41 records=16
  job begin --job-id 42 --uid 65534 --match-env JOBX=42
  user env JOBX=41 IOSCRIBE_ENABLE=1 bash -c 'for i in {1..100}; do echo $i >many.$i; done'
  user env JOBX=42 IOSCRIBE_ENABLE=1 bash -c 'for i in {1..100}; do echo $i >few.$i; done'
  local few many
  few=$(job end 42)
  many=$(job end 41)
  # exact totals in both, names only where there were records
  [ "$(value "$few" POSIX_BYTES_WRITTEN)" = 292 ]
  [ "$(value "$many" POSIX_BYTES_WRITTEN)" = 292 ]
  [ "$("$IOSCRIBE" parse --base "$few" | grep -c 'POSIX_BYTES_WRITTEN.*/few\.')" -eq 100 ]
  [ "$("$IOSCRIBE" parse --base "$many" | grep -c 'POSIX_BYTES_WRITTEN.*/many\.')" -lt 100 ]
}

@test "names and job ids of users cannot steer root's terminal, nor forge lines or JSON" {
  serve
  local odd=$'a\e[31m\x7f\xff' dir=$'d\nuser=root'
  user "$IOSCRIBE" job begin --job-id "$odd" --match-env "JOBX=$odd" --below $$ --timeout 60
  job list >"$T/list"
  job show --job-id "$odd" >"$T/show"
  job list --json >"$T/json"
  ! LC_ALL=C grep -aq $'[\x01-\x08\x0b-\x1f\x7f\xff]' "$T/list" "$T/show" "$T/json" || return 1
  grep -qF 'a\x1b[31m\x7f\xff' "$T/list"
  grep -qF 'job_id=a\x1b[31m\x7f\xff' "$T/show"
  python3 -c 'import json, sys; j = json.load(open(sys.argv[1], "rb")); assert j[0]["job_id"] == r"a\x1b[31m\x7f\xff", j' "$T/json"
  # a program whose name has a line of its own: its log, and what is said at its end
  cp /bin/true "$T/w/$dir"
  chmod 755 "$T/w/$dir"
  run_it "$IOSCRIBE" run -- "$T/w/$dir"
  ! grep -q '^user=root' <<<"$output" || return 1
  job end --job-id "$odd" >"$T/ended"
}

@test "jobs that users begin show the user's name, which is not what anybody says" {
  serve
  local entry
  user "$IOSCRIBE" job begin --job-id 31 --match-env JOBX=31 --below $$ --timeout 60
  job list | grep -E '^31 +job +nobody '
  user env JOBX=31 IOSCRIBE_ENABLE=1 dd if=/dev/zero of="$T/w/d" bs=100 count=1 status=none
  [[ "$(job end --job-id 31)" == "$T/logs/nobody_dd_id31-"* ]]
  # a run that joins, too
  user "$IOSCRIBE" run --quiet --force --log "$T/w/r.darshan" -- sh -c "'$IOSCRIBE' job list --json" >"$T/json"
  grep -q '"user": "nobody"' "$T/json"
  # the name of somebody else is not taken, one that nobody here has is
  for entry in root: nosuch:nosuch; do
    USER_ID=54321 user "$IOSCRIBE" job begin --job-id "n${entry%%:*}" --match-env JOBX=32 --below $$ --timeout 60 "user=${entry%%:*}"
    job show --job-id "n${entry%%:*}" | grep -qx "user=${entry#*:}"
    job show --job-id "n${entry%%:*}" | grep -qx "uid=54321"
    job end --job-id "n${entry%%:*}"
  done
}

@test "a job below a process: who has its variable elsewhere is none of it" {
  serve
  job begin --job-id 43 --uid 65534 --match-env JOBX=43 # below this test, by helper.bash
  setsid --fork setpriv --reuid=65534 --regid=65534 --clear-groups env JOBX=43 IOSCRIBE_ENABLE=1 \
    sh -c 'while [ ! -e go ]; do sleep 0.05; done; exec dd if=/dev/zero of=theirs bs=100 count=1 status=none' 3>&-
  : >go
  until_true test -s theirs
  user env JOBX=43 IOSCRIBE_ENABLE=1 dd if=/dev/zero of=own bs=100 count=1 status=none
  log=$(job end 43 | grep darshan)
  [ "$(value "$log" POSIX_BYTES_WRITTEN '/own$')" = 100 ]
  [ "$(value "$log" POSIX_OPENS '/theirs$')" = 0 ]
}

@test "traced operations through io_uring of two jobs that take turns: each log has its own" {
  serve
  local id log
  for id in 41 42; do
    job begin --job-id $id --uid 65534 --match-env JOBX=$id dxt=yes
  done
  for id in 41 42 41 42; do
    user env JOBX=$id IOSCRIBE_ENABLE=1 "$IOSCRIBE_BUILD/tests/prog/uring" plain
  done
  for id in 41 42; do
    log=$(job end $id --deadline 60)
    [ "$(value "$log" POSIX_WRITES /plain)" = 14 ]
    [ "$("$IOSCRIBE" dxt "$log" | tee "$T/dxt" | grep -c '^ X_POSIX')" -eq 20 ] || { cat "$T/dxt"; return 1; }
  done
}
