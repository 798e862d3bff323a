#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Operations sent elsewhere while a command runs (ioscribe run --stream), compared with its log.
load ../trace/helper
load ../harness/wait.bash

compare() {
  /usr/bin/python3 "$IOSCRIBE_SOURCE/tests/streams/compare.py" "$IOSCRIBE" "$@"
}

# What the log says of it: "published lost".
published() {
  "$IOSCRIBE" parse --show-incomplete "$LOG" | sed -n 's/^# metadata: published = \([0-9]*\) lost \([0-9]*\)$/\1 \2/p'
}

# Has the store the second write to f?
wrote() {
  [ "$(sqlite3 "$T/db.sqlite" "SELECT count(*) FROM io WHERE op = 'write' AND module = 'POSIX' AND off = 2" 2>/dev/null || echo 0)" -ge 1 ]
}

@test "each operation of an MPI program once, with running counters: the log's segments and counters" {
  trace_options=(--dxt --stream "json:$T/events.json")
  trace mpiexec.mpich -n 4 "$IOSCRIBE_BUILD/tests/mpi/mpich/mpi_demo"
  [ "$status" -eq 0 ]
  compare "$T/events.json" "$T"/run.darshan*
  [ "$(stat -c %a "$T/events.json")" = 644 ]
}

@test "HDF5 and PnetCDF: each open, access and close, the kinds of selections, what a dataset is" {
  trace_options=(--dxt --stream "json:$T/events.json")
  trace mpiexec.mpich -n 2 "$IOSCRIBE_BUILD/tests/uprobes/mpich/hdf5_calls" b.h5 mpio
  compare "$T/events.json" "$T"/run.darshan*
  [ "$(grep -c '"module":"H5D".*"op":"write"' "$T/events.json")" -gt 0 ]
  [ "$(grep -c '"module":"H5F".*"op":"close"' "$T/events.json")" -gt 0 ]
  rm "$T"/run*.darshan "$T/events.json"
  trace mpirun.openmpi --allow-run-as-root -n 1 "$IOSCRIBE_BUILD/tests/uprobes/openmpi/pnetcdf_edges" "$T/w/p.nc"
  [ "$status" -eq 0 ]
  compare "$T/events.json" "$T"/run*.darshan
  [ "$(grep -c '"module":"PNETCDF_VAR".*"op":"read"' "$T/events.json")" -gt 0 ]
  [ "$(grep -c '"module":"PNETCDF_FILE".*"op":"open"' "$T/events.json")" -gt 0 ]
}

@test "threads, children, names that are no UTF-8, folders of their own: the same" {
  trace_options=(--dxt --stream "json:$T/events.json")
  printf 'a\n' >f
  trace bash -c 'for i in 1 2 3; do cat f >>"$(printf "odd\377\"\n%s" $i)" & done; wait; (cd .. && cat w/f >w/g)'
  [ "$status" -eq 0 ]
  compare "$T/events.json" "$LOG"
  grep -q 'odd\\\\xff\\"' "$T/events.json"
}

@test "streams of the C library: files, standard streams, opens, closes and flushes" {
  trace_options=(--dxt --stream "json:$T/events.json")
  seq 2000 >f
  # of a pipe and an excluded file no call is missed
  trace bash -c 'sed s/0/x/ f >g; sort -r f -o h; for i in 1 2 3; do sed -n w.$i f; done; sed -n w.4 <(seq 3000) /proc/filesystems'
  [ "$status" -eq 0 ]
  compare "$T/events.json" "$LOG"
  [ "$(grep -c '"module":"STDIO".*"op":"read"' "$T/events.json")" -gt 8000 ]
  [ "$(grep -c '"file":"<STDOUT>".*"module":"STDIO"' "$T/events.json")" -ge 1 ]
}

@test "CSV: the same operations as JSON, in the columns of the connector; a name with all that has to be quoted" {
  trace_options=(--stream "json:$T/events.json" --stream "csv:$T/events.csv")
  trace bash -c 'echo a >"$(printf "o,d\377\"d\nd")"; cat o* >g; echo b >"$(printf "p\tq\\\\r,\e[1m\nü")"'
  [ "$status" -eq 0 ]
  /usr/bin/python3 "$IOSCRIBE_SOURCE/tests/streams/same_csv.py" "$T/events.json" "$T/events.csv"
  grep -q '/o,d\\\\xff\\"d\\\\nd"' "$T/events.json"
  grep -q '/p\\tq\\\\r,\\u001B\[1m\\nü"' "$T/events.json"
}

@test "every 10th read and write, 50 a second, one module: opens and closes all, counters run on" {
  local n
  trace_options=(--stream "every=10,modules=POSIX,json:$T/every.json" --stream "rate=50,modules=POSIX,json:$T/rate.json" --stream "modules=MPIIO+HDF5,json:$T/none.json")
  trace dd if=/dev/zero of=f bs=10 count=1000
  [ "$status" -eq 0 ]
  n=$(grep '"op":"write"' "$T/every.json" | grep -o '"cnt":[0-9]*' | cut -d: -f2 | paste -sd ' ')
  [ "$n" = "$(seq -s ' ' 1 10 991)" ]
  [ "$(tail -n 3 "$T/every.json" | head -n 1 | grep -c '"op":"close"')" -eq 1 ]
  # totals: 900 of the writes are left out, all else was sent
  tail -n 2 "$T/every.json" | head -n 1 | grep -q '"module":"STREAM".*"cnt":9[0-9][0-9],"op":"skipped"'
  tail -n 1 "$T/every.json" | grep -q "\"module\":\"STREAM\".*\"cnt\":$(($(wc -l <"$T/every.json") - 2)),\"op\":\"end\""
  # a second of the clock may end meanwhile
  n=$(grep -c '"op":"write"' "$T/rate.json")
  [ "$n" -ge 49 ]
  [ "$(grep -o '"timestamp":[0-9]*' "$T/rate.json" | sort -u | wc -l)" -ge "$((n / 51))" ]
  [ ! -s "$T/none.json" ]
}

@test "a store that listens: its rows are those of the log" {
  "$IOSCRIBE" store --db "$T/live.sqlite" "unix:$T/in.sock" 3>&- &
  local db store=$! sum="SELECT module, op, count(*), sum(len), max(off) FROM io WHERE op IN ('read', 'write') AND module <> 'STDIO' GROUP BY 1, 2"
  trace_options=(--dxt --stream "json:unix:$T/in.sock")
  trace dd if=/dev/zero of=f bs=1000 count=500
  [ "$status" -eq 0 ]
  kill "$store" && wait "$store" || true
  "$IOSCRIBE" store --db "$T/log.sqlite" "$LOG"
  [ "$(sqlite3 "$T/live.sqlite" "$sum")" = "$(sqlite3 "$T/log.sqlite" "$sum")" ]
  [ "$(sqlite3 "$T/live.sqlite" "SELECT count(*) FROM io WHERE path LIKE '%/w/f' AND op = 'write'")" = 500 ]
  # durations: a log's times are multiples of 2^-26 s
  sum="SELECT sum(dur_ns) FROM io WHERE op = 'write' AND module = 'POSIX' AND path LIKE '%/w/f'"
  awk -v a="$(sqlite3 "$T/live.sqlite" "$sum")" -v b="$(sqlite3 "$T/log.sqlite" "$sum")" 'BEGIN { exit !(b > 0 && (a - b) ^ 2 < (b / 100) ^ 2) }'
  for db in live log; do
    # not beside the other: who closes a database last has it alone
    sum=$(sqlite3 "$T/$db.sqlite" "SELECT sum(dur_ns) FROM io WHERE op = 'write' AND module = 'POSIX'")
    "$IOSCRIBE" query --db "$T/$db.sqlite" --csv operations | awk -F, -v b="$sum" \
      '$3 == "POSIX" && $4 == "write" { n = ($7 * 1000 - b) ^ 2 <= 500 ^ 2 } END { exit !n }'
  done
  # nothing is missing: node, times, it has ended, sent, left out, lost, stored
  sum=$("$IOSCRIBE" query --db "$T/live.sqlite" --csv streams job="$(sqlite3 "$T/live.sqlite" 'SELECT job_id FROM job')")
  [[ $sum =~ ,1,([0-9]+),0,0,([0-9]+)$ ]]
  [ "${BASH_REMATCH[1]}" -ge 502 ] && [ "${BASH_REMATCH[1]}" -eq "${BASH_REMATCH[2]}" ]
}

@test "a sink that comes late gets all; a reader that comes back gets the opens again, and nothing twice in the store" {
  mkfifo go
  exec 9<>go
  trace_options=(--stream "json:unix:$T/in.sock")
  trace bash -c 'exec 5>f 6<>go; echo a >&5; read -t 60 -r <&6; echo b >&5; read -t 60 -r <&6; echo c >&5' 3>&- 9>&- &
  local run=$!
  sleep 0.5
  # somebody reads until the open of f, and goes
  timeout 60 /usr/bin/python3 - "$T/in.sock" <<'X'
import re, socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen()
c = s.accept()[0]
read = b""
while not re.search(rb'/w/f".*"op":"open"', read):
    read += c.recv(1 << 20) or sys.exit("no open of f: %r" % read)
X
  rm "$T/in.sock"
  "$IOSCRIBE" store --db "$T/db.sqlite" "unix:$T/in.sock" 3>&- 9>&- &
  local store=$!
  echo >&9
  until_true wrote
  echo >&9
  wait "$run"
  kill "$store" && wait "$store" || true
  [ "$(sqlite3 "$T/db.sqlite" "SELECT count(*) FROM io WHERE op = 'open' AND module = 'POSIX' AND path LIKE '%/w/f'")" = 1 ]
  [ "$(sqlite3 "$T/db.sqlite" "SELECT count(DISTINCT cnt) FROM io WHERE op = 'write' AND module = 'POSIX' AND path LIKE '%/w/f'")" -ge 2 ]
}

@test "a full disk, a reader that is stopped, a folder that is not there: the program goes on, and what is missing is counted" {
  local sink lost left
  trace_options=(--stream json:/dev/full)
  trace dd if=/dev/zero of=f bs=1 count=1000
  [ "$status" -eq 0 ]
  [[ $output == *"operations are missing in json:/dev/full: /dev/full: No space left on device"* ]]
  trace_options=(--stream json:/nowhere/f)
  trace sh -c 'exit 3'
  [ "$status" -eq 3 ]
  [[ $output == *"/nowhere/f: No such file or directory; it is tried again"* ]]
  mkfifo pipe
  sleep 1000 <>pipe 3>&- &
  trace_options=(--stream json:pipe)
  export DARSHAN_MOD_DISABLE=DXT_POSIX # which a stream is not of
  trace dd if=/dev/zero of=f bs=1 count=300000
  kill $!
  [ "$status" -eq 0 ]
  read -r sink lost <<<"$(published)"
  [ "$((sink + lost))" -ge 300002 ]
  [ "$lost" -gt 0 ]
  [[ $output == *"$lost operations are missing in json:pipe: they came faster than it took them"* ]]
}

@test "a sink that is none, too many of them: refused before anything runs" {
  local spec
  for spec in json json: json:unix: ldms xml:f csv: kafka:a every=0,json:f every=1json:f rate=x,json:f modules=MPI,json:f often=2,json:f "json:unix:$(printf 'x%.0s' {1..120})"; do
    ! "$IOSCRIBE" run --quiet --log "$LOG" --stream "$spec" -- touch ran 2>"$T/err" || return 1
    [ "$(wc -l <"$T/err")" -eq 1 ]
    grep -q -- --stream "$T/err"
  done
  # shellcheck disable=SC2046
  ! "$IOSCRIBE" run --quiet --log "$LOG" $(printf -- '--stream json:f%s ' {1..9}) -- touch ran 2>"$T/err" || return 1
  grep -q 'at most 8' "$T/err"
  [ ! -e ran ] && [ ! -e "$LOG" ]
}
