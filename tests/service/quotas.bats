#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Quotas of a job as the site's file sets them: what one job floods costs another
# one neither record nor name nor process, also while nobody empties the ring.
load helper

FILES=300 # of the job that is calm; each is two records, opened and removed

quotas() {
  printf 'records = 4000\nprocesses = 200\njob_records = %s\njob_processes = %s\n' "$@" \
    | cat - <(grep -v '^records\|^processes' "$IOSCRIBE_CONFIG") >"$T/conf"
  mv "$T/conf" "$IOSCRIBE_CONFIG"
}

# as_job ID DIR PROGRAM ARG; of this test alone: nobody may have such jobs in the tests of another checkout, too
as_job() {
  (cd "$2" && echo "$BASHPID" >"$T/pid.$3" && exec setpriv --reuid=65534 --regid=65534 --clear-groups \
    env "JOBX=$1.$T" IOSCRIBE_ENABLE=1 "$IOSCRIBE_BUILD/tests/prog/$3" "$4" >/dev/null) 3>&-
}

ledger() {
  "$IOSCRIBE" parse --base --show-incomplete "$1" | awk -F '\t' -v name="LEDGER_$2" '$4 == name { sum += $5 } END { printf "%.0f\n", sum }'
}

both_begin() {
  chmod 755 "$T"
  mkdir -m 777 "$T/w/flood" "$T/w/calm"
  job begin --job-id 1 --uid 65534 --match-env "JOBX=1.$T"
  job begin --job-id 2 --uid 65534 --match-env "JOBX=2.$T"
}

calm_is_whole() {
  [ "$(value "$1" POSIX_BYTES_WRITTEN)" = 7650 ]
  "$IOSCRIBE" parse --base "$1" | awk -F '\t' '$4 == "POSIX_BYTES_WRITTEN" { print $6, $5 }' | sort >"$T/have"
  seq 0 $((FILES - 1)) | awk -v at="$T/w/calm/m" '{ print at $1, $1 % 50 + 1 }' | sort | diff - "$T/have"
  for name in OVERFLOWED OVERFLOWED_FILES DROP_NO_SLOT DROP_NO_PROC NAME_LOST EVENT_LOST ${2-ENV_LOST}; do
    [ "$(ledger "$1" $name)" = 0 ] || { echo "$name $(ledger "$1" $name)"; return 1; }
  done
}

@test "a job that meets files and starts processes without end, the daemon stopped: the other's log is whole" {
  quotas 1000 50
  serve
  both_begin
  kill -STOP "$DAEMON"
  as_job 1 "$T/w/flood" many_files 20000 &
  local pids=($!)
  # it is the job's before the processes take all that the job may have
  is_executed() { [ "$(cat "/proc/$(cat "$T/pid.many_files")/comm")" = many_files ]; }
  until_true is_executed
  cp "$T/pid.many_files" "$T/flood.pid"
  as_job 1 "$T/w/flood" many_procs 300 &
  pids+=($!)
  as_job 2 "$T/w/calm" many_files "$FILES" & # in the middle of it
  pids+=($!)
  wait "${pids[@]}"
  kill -CONT "$DAEMON"
  local flood calm
  calm=$(job end 2)
  flood=$(job end 1)
  calm_is_whole "$calm"
  # the flood's own log: its files are there to the byte, most of them folded, and its processes were refused
  "$IOSCRIBE" parse --base --show-incomplete "$flood" >"$T/flood"
  local written
  written=$(awk -F '\t' -v folded="<folded:$(cat "$T/flood.pid")>" '$4 == "POSIX_BYTES_WRITTEN" &&
    ($6 ~ "/m[0-9]+$" || $6 == folded) { n += $5 } END { print n }' "$T/flood")
  [ "$written" = 510000 ] || { echo "$written bytes"; grep LEDGER_ "$T/flood" | awk -F '\t' '$5 + 0 { print $4, $5 }'; false; }
  [ "$(ledger "$flood" OVERFLOWED)" -gt 0 ]
  [ "$(ledger "$flood" DROP_NO_PROC)" -gt 0 ]
  [ "$(ledger "$flood" DROP_NO_SLOT)" = 0 ]
}

@test "a job whose environments would fill the event ring, the daemon stopped: the other's names are all there" {
  quotas 1000 50
  serve
  both_begin
  kill -STOP "$DAEMON"
  (cd "$T/w/flood" && exec setpriv --reuid=65534 --regid=65534 --clear-groups env "JOBX=1.$T" IOSCRIBE_ENABLE=1 \
    /usr/bin/python3 -c 'import os, subprocess
big = {**os.environ, **{f"V{i}": "x" * 120000 for i in range(12)}}
for _ in range(20): subprocess.run(["/bin/true"], env=big, check=True)') 3>&-
  as_job 2 "$T/w/calm" many_files "$FILES"
  kill -CONT "$DAEMON"
  local flood calm
  calm=$(job end 2)
  flood=$(job end 1)
  # it runs while the ring holds as much of environments as it may: its own may have had no room
  calm_is_whole "$calm" ""
  [ "$(ledger "$flood" ENV_LOST)" -gt 0 ]
}

@test "by default a job may hold half of the node's records; root may set it for a job, a user may not" {
  quotas 0 0
  serve
  job begin --job-id 1 --uid 65534 --match-env JOBX=1
  [ "$(job show 1 | grep ^records_most=)" = records_most=2000 ]
  job begin --job-id 2 --uid 65534 --match-env JOBX=2 job_records=3999
  job begin --job-id 3 --uid 65534 --match-env JOBX=3 job_records=3999 records=123
  [ "$(job show 2 | grep ^records_most=)" = records_most=3999 ]
  [ "$(job show 3 | grep ^records_most=)" = records_most=123 ]
  run_it user "$IOSCRIBE" job begin --timeout 60 --job-id 4 job_records=3000
  [ "$status" -eq 1 ]
  [[ "$output" == *"job_records: only the site's configuration sets this" ]]
}

@test "files of ever new processes beyond what their user may have are folded, and nothing is lost; another user's are not" {
  printf 'user_files = 300\n' >>"$IOSCRIBE_CONFIG"
  serve
  chmod 755 "$T"
  mkdir -m 777 "$T/w/many" "$T/w/calm"
  job begin --job-id 1 --uid 65534 --match-env "JOBX=1.$T"
  job begin --job-id 2 --uid 60001 --match-env "JOBX=2.$T"
  local i many calm records
  # one of them as often as its user's are counted
  for i in {1..30}; do
    mkdir -m 777 "$T/w/many/$i"
    as_job 1 "$T/w/many/$i" many_files 50
    sleep 0.1
  done
  mkdir -m 777 "$T/w/calm/1"
  (cd "$T/w/calm/1" && exec setpriv --reuid=60001 --regid=60001 --clear-groups \
    env "JOBX=2.$T" IOSCRIBE_ENABLE=1 "$IOSCRIBE_BUILD/tests/prog/many_files" 5 >/dev/null) 3>&-
  many=$(job end 1 | grep darshan)
  calm=$(job end 2 | grep darshan)
  [ "$(value "$many" POSIX_BYTES_WRITTEN)" = $((30 * 1275)) ]
  records=$("$IOSCRIBE" parse --base "$many" | awk -F '\t' '$4 == "POSIX_BYTES_WRITTEN"' | grep -c '/many/' || true)
  echo "$records files, $(ledger "$many" OVERFLOWED_FILES) folded, $(ledger "$many" OVERFLOWED) operations"
  [ "$records" -ge 300 ]
  [ "$records" -lt 1500 ]
  [ "$(ledger "$many" OVERFLOWED)" -gt 0 ]
  [ "$(ledger "$many" EVENTS)" = $(($(ledger "$many" RECORDED) + $(ledger "$many" OVERFLOWED))) ]
  [ "$(value "$calm" POSIX_BYTES_WRITTEN)" = 15 ]
  [ "$(ledger "$calm" OVERFLOWED)" = 0 ]
}

@test "files faster than they are counted: a user takes no more than his quota of what all have" {
  printf 'user_files = 1000\n' >>"$IOSCRIBE_CONFIG"
  serve
  chmod 755 "$T"
  mkdir -m 777 "$T/w/many" "$T/w/calm"
  job begin --job-id 1 --uid 65534 --match-env "JOBX=1.$T"
  job begin --job-id 2 --uid 60001 --match-env "JOBX=2.$T"
  as_job 1 "$T/w/many" many_files 6000
  sleep 0.7 # they are counted twice a second
  (cd "$T/w/calm" && exec setpriv --reuid=60001 --regid=60001 --clear-groups \
    env "JOBX=2.$T" IOSCRIBE_ENABLE=1 "$IOSCRIBE_BUILD/tests/prog/many_files" 5 >/dev/null) 3>&-
  many=$(job end 1 | grep darshan)
  calm=$(job end 2 | grep darshan)
  records=$("$IOSCRIBE" parse --base "$many" | awk -F '\t' '$4 == "POSIX_BYTES_WRITTEN"' | grep -c '/many/' || true)
  echo "$records files"
  [ "$records" -ge 1000 ]
  [ "$records" -le 1300 ]
  [ "$(ledger "$calm" OVERFLOWED)" = 0 ]
  [ "$(value "$calm" POSIX_BYTES_WRITTEN)" = 15 ]
}
