#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Jobs outlive their daemon: killed again and again while files are made, it
# comes back each time, adopts what the kernel holds, and the one log is exact.

load ../trace/helper.bash
load ../harness/wait.bash

# The first daemon would mount it, and it stays.
setup_file() {
  mountpoint -q /sys/fs/bpf || mount -t bpf bpf /sys/fs/bpf
}

LIVES=20
FILES=1000 # a program; five of them in a life of the daemon: 100,000 in all

OURS=$IOSCRIBE_BUILD/runtime/daemon/ioscribed
OTHER=$IOSCRIBE_BUILD/tests/service/ioscribed_other # the same of another wire version

# serve [PROGRAM]
serve() {
  "${1:-$OURS}" --service --pin --stay --dir "$IOSCRIBE_DIR" 3>&- 4>&-
}

# The daemon's process id while it lives. Only a daemon of this directory locks that file.
daemon_pid() {
  local pid
  pid=$(cat "$IOSCRIBE_DIR/pid" 2>/dev/null) || return 1
  [ -n "$pid" ] && [[ "$(cat "/proc/$pid/comm" 2>/dev/null)" == ioscribed* ]] || return 1
  echo "$pid"
}

# end_daemon SIGNAL: and wait until it is gone.
end_daemon() {
  local pid i
  pid=$(daemon_pid) || return 0
  kill -"$1" "$pid"
  for i in $(seq 1 1200); do
    kill -0 "$pid" 2>/dev/null || return 0
    [ "$(awk '/^State/ { print $2 }' "/proc/$pid/status" 2>/dev/null)" = Z ] && return 0
    sleep 0.05
  done
  echo "the daemon does not go"
  return 1
}

cleanup() {
  local pid
  for pid in $(jobs -p); do kill "$pid" 2>/dev/null || true; done
  daemon_pid >/dev/null || serve || true # what is pinned is unpinned by a daemon that ends
  end_daemon INT
  ! mountpoint -q "$T/run" || umount "$T/run"
}

# job begin|end [KEY=VALUE…]
job() {
  local what=$1
  shift
  case $what in
  begin) "$IOSCRIBE" job begin --timeout 120 --job-id 7 --uid 0 --match-env "JOB=$T" log_dir="$T/logs" "$@" &&
    "$IOSCRIBE" job ready --timeout 120 7 ;;
  *) "$IOSCRIBE" job end --timeout 120 --job-id 7 ;;
  esac
}

# make_files N: in folder N, names of its own
make_files() {
  mkdir "$T/w/$1"
  (cd "$T/w/$1" && exec env "JOB=$T" IOSCRIBE_ENABLE=1 "$PROG/many_files" "$FILES" >/dev/null) 3>&- 4>&-
}

some_files() {
  local i
  for i in 1 2 3 4 5; do make_files "$1.$i" || return 1; done
}

# Each file of these folders is in the log once, by name, with its bytes, and nothing is made up.
each_name_once() {
  "$IOSCRIBE" parse --base "$LOG" | grep -F POSIX_BYTES_WRITTEN | awk -F '\t' '{ print $6, $5 }' | sort >"$T/have"
  while read -r folder; do
    seq 0 $((FILES - 1)) | awk -v at="$T/w/$folder/m" '{ print at $1, $1 % 50 + 1 }'
  done | sort >"$T/want"
  grep "^$T/w/.*/m[0-9]" "$T/have" | diff - "$T/want" | head -n 5 >"$T/differ"
  [ ! -s "$T/differ" ] || {
    cat "$T/differ"
    comm -23 "$T/have" "$T/want" | head -n 5
    "$IOSCRIBE" summary "$LOG" | sed -n '/^ledger/,$p'
    return 1
  }
  ! grep '<unnamed\|<folded' "$T/have"
}

the_log() {
  LOG=$(find "$T/logs" -name '*.darshan')
  [ "$(find "$T/logs" -type f | wc -l)" -eq 1 ] || { find "$T/logs" -type f; return 1; }
}

@test "killed 20 times while 100,000 files are made: counts and names are exact, one log" {
  export IOSCRIBE_DIR=$T/run
  mkdir -m 711 "$IOSCRIBE_DIR" "$T/logs"
  serve
  job begin
  for life in $(seq 1 "$LIVES"); do
    some_files "$life" &
    made=$!
    sleep 0.0$((RANDOM % 10))
    end_daemon KILL
    [ $((life % 2)) -eq 0 ] || wait "$made" # every second time nobody is there when they end
    serve
    wait "$made"
  done
  run job end
  echo "$output"
  [ "$status" -eq 0 ]
  the_log
  "$IOSCRIBE" parse --total "$LOG" >"$T/total"
  grep -qx "total_POSIX_OPENS: 100000" "$T/total" || { grep POSIX_OPENS "$T/total"; false; }
  grep -qx "total_POSIX_WRITES: 100000" "$T/total" || { grep POSIX_WRITES "$T/total"; false; }
  grep -qx "total_POSIX_BYTES_WRITTEN: 2550000" "$T/total" || { grep BYTES_WRITTEN "$T/total"; false; }
  for life in $(seq 1 "$LIVES"); do
    for i in 1 2 3 4 5; do echo "$life.$i"; done
  done | each_name_once
}

@test "nobody lives while 100,000 records are made and their processes end: counts and names are exact" {
  export IOSCRIBE_DIR=$T/run
  mkdir -m 711 "$IOSCRIBE_DIR" "$T/logs"
  serve
  job begin job_records=110000
  end_daemon KILL
  FILES=2000 # each is a record of its own when it is opened, and one when it is removed by its name
  for i in $(seq 25); do make_files "$i"; done
  serve
  job end >/dev/null
  the_log
  "$IOSCRIBE" parse --total "$LOG" >"$T/total"
  grep -qx "total_POSIX_OPENS: 50000" "$T/total" || { grep POSIX_OPENS "$T/total"; false; }
  seq 25 | each_name_once
  "$IOSCRIBE" parse "$LOG" | grep -P '\tLEDGER_(NAME_LOST|NAME_RETRY|EVENT_LOST|OVERFLOWED|DROP_NO_SLOT)\t' >"$T/ledger"
  [ "$(awk -F '\t' '{ print $5 }' "$T/ledger" | sort -u)" = 0 ] || { cat "$T/ledger"; false; }
}

@test "told to go by SIGTERM it leaves its jobs to the next one; SIGINT writes their logs" {
  export IOSCRIBE_DIR=$T/run
  mkdir -m 711 "$IOSCRIBE_DIR" "$T/logs"
  serve
  job begin
  make_files a
  end_daemon TERM
  [ -z "$(find "$T/logs" -type f)" ]
  make_files b
  serve
  "$IOSCRIBE" job list --timeout 120 | grep -q '^7 .*running'
  make_files c
  end_daemon INT
  the_log
  "$IOSCRIBE" parse --total "$LOG" | grep -qx "total_POSIX_WRITES: $((3 * FILES))"
  [ -z "$(ls "$IOSCRIBE_DIR/state")" ]
}

# A job with files in it, and a process that goes on; then the daemon is killed. $goes_on, its log is exact.
job_without_daemon() {
  mkdir -m 711 "$IOSCRIBE_DIR" "$T/logs"
  mkfifo "$T/go"
  serve
  job begin
  make_files a
  env "JOB=$T" IOSCRIBE_ENABLE=1 sh -c 'echo abc >up; read x; echo more >late' <>"$T/go" 3>&- 4>&- &
  goes_on=$!
  for i in $(seq 600); do [ -s "$T/w/up" ] && break; sleep 0.05; done
  end_daemon KILL
  make_files b # nobody is there
}

job_is_whole() {
  the_log
  "$IOSCRIBE" parse --base "$LOG" | awk -F '\t' '$4 == "POSIX_WRITES" { n += $5 } END { print n }' >"$T/writes"
  [ "$(cat "$T/writes")" = "$1" ] || { echo "writes: $(cat "$T/writes")"; return 1; }
  for i in a b; do echo "$i"; done | each_name_once
}

@test "another wire version says so, has the build before it finish its jobs, and serves" {
  export IOSCRIBE_DIR=$T/run
  job_without_daemon
  serve "$OTHER"
  cat "$IOSCRIBE_DIR/log"
  grep -q "pinned by wire version [0-9]*, this is version 90000; it finishes its jobs first" "$IOSCRIBE_DIR/log"
  job_is_whole $((2 * FILES + 1)) # what goes on is not recorded from here
  # the job is over, the next one is the new daemon's, which survives too
  [ -z "$("$IOSCRIBE" job list --timeout 120)" ]
  rm -rf "$T/logs"/* "$T/w/a" "$T/w/b"
  job begin
  make_files a
  end_daemon KILL
  make_files b
  serve "$OTHER"
  job end >/dev/null
  job_is_whole $((2 * FILES))
  echo >"$T/go"
  wait "$goes_on"
  [ "$(cat "$T/w/late")" = more ]
  end_daemon INT
  [ -z "$(ls "$IOSCRIBE_DIR/state")" ]
}

@test "where the build before is gone that is said, and nothing of its jobs is touched; it can finish them later" {
  export IOSCRIBE_DIR=$T/run
  job_without_daemon
  rm "$IOSCRIBE_DIR/state/program"
  serve "$OTHER"
  [ "$(grep -c "that build cannot finish its jobs (.*state/program: No such file or directory): all is left" "$IOSCRIBE_DIR/log")" -eq 1 ]
  [ -z "$(find "$T/logs" -type f)" ]
  # it serves, without pins of its own
  "$IOSCRIBE" job begin --timeout 120 --job-id 8 --uid 0 --match-env "JOB=other" log_dir="$T/others"
  env JOB=other IOSCRIBE_ENABLE=1 sh -c 'echo abc >mine'
  "$IOSCRIBE" job end --timeout 120 --job-id 8
  end_daemon TERM
  [ "$(find "$T/others" -name '*.darshan' | wc -l)" -eq 1 ]
  # by the other build no jobs are found that it could finish
  run "$OTHER" --finish --dir "$IOSCRIBE_DIR"
  [ "$status" -eq 1 ]
  echo >"$T/go"
  wait "$goes_on"
  "$OURS" --finish --dir "$IOSCRIBE_DIR"
  job_is_whole $((2 * FILES + 2)) # it had been recorded to its end
  [ -z "$(ls "$IOSCRIBE_DIR/state")" ]
}

# run_joined NAME COMMAND…: by the user nobody, in the background; $runs
run_joined() {
  local name=$1
  shift
  chmod 755 "$T" "$T/w"
  mkdir -p -m 1777 "$T/logs"
  mkdir -m 777 "$T/w/$name"
  (cd "$T/w/$name" && exec setpriv --reuid=65534 --regid=65534 --clear-groups \
    "$IOSCRIBE" run --service-wait 60 --force --log "$T/logs/$name.darshan" -- "$@") <>"$T/go" >"$T/$name.out" 2>&1 3>&- 4>&- &
  runs=$!
  until_true test -e "$T/w/$name/up"
}

# written NAME BYTES FILE: into that file, by the log of that run
written() {
  "$IOSCRIBE" parse --base "$T/logs/$1.darshan" | awk -F '\t' -v file="/w/$1/$3" -v want="$2" '
    $4 == "POSIX_BYTES_WRITTEN" && substr($6, length($6) - length(file) + 1) == file { n += $5 }
    END { if (n != want) { print file, "has", n; exit 1 } }'
}

run_is_listed() { "$IOSCRIBE" job list --timeout 120 | grep ' run .* running'; }

@test "a run that joined: its daemon dies and comes back under it, and at its end; the log is whole and told" {
  export IOSCRIBE_DIR=$T/run
  mkdir -m 711 "$IOSCRIBE_DIR"
  mkfifo "$T/go"
  serve
  run_joined a sh -c 'echo abc >one; : >up; read x; echo defg >two; : >next; read x; echo hi >three; exit 12'
  end_daemon KILL
  echo >"$T/go"
  until_true test -e "$T/w/a/next" # nobody was there
  serve
  until_true run_is_listed
  end_daemon KILL
  echo >"$T/go"
  until_true test -s "$T/w/a/three"
  serve
  status=0
  wait "$runs" || status=$?
  cat "$T/a.out"
  [ "$status" -eq 12 ]
  grep -qx "ioscribe: log $T/logs/a.darshan" "$T/a.out"
  [ "$(find "$T/logs" -type f | wc -l)" -eq 1 ]
  written a 4 one
  written a 5 two
  written a 3 three
  until_true sh -c '[ -z "$("$IOSCRIBE" job list --timeout 120)" ]'
}

@test "a run is killed while no daemon lives: the next one writes its log when its processes have ended" {
  export IOSCRIBE_DIR=$T/run
  mkdir -m 711 "$IOSCRIBE_DIR"
  mkfifo "$T/go"
  serve
  run_joined b sh -c 'trap "" HUP TERM; echo abc >one; : >up; read x; echo defg >two; : >next'
  end_daemon KILL
  kill -KILL "$runs"
  serve
  echo >"$T/go"
  until_true test -s "$T/logs/b.darshan"
  written b 4 one
  written b 5 two
  [ ! -s "$T/b.out" ]
}

@test "another process cannot take the place of a run" {
  export IOSCRIBE_DIR=$T/run
  mkdir -m 711 "$IOSCRIBE_DIR"
  mkfifo "$T/go"
  serve
  run_joined c sh -c 'echo abc >one; : >up; read x; exit 3'
  end_daemon KILL
  serve
  run python3 -c '
import socket, struct, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(sys.argv[1])
s.send(struct.pack("=IHHII", 0x62637369, 1, 39, 0, 0))
print(s.recv(65536)[16:].decode())' "$IOSCRIBE_DIR/socket"
  echo "$output"
  [ "$output" = "no job of this process waits for it" ]
  echo >"$T/go"
  status=0
  wait "$runs" || status=$?
  [ "$status" -eq 3 ]
  written c 4 one
}

# counts_itself COMMAND...: a program of the job that counts its streams and files in its own memory.
counts_itself() {
  env "JOB=$T" IOSCRIBE_ENABLE=1 "IOSCRIBE_SOCKET=$IOSCRIBE_DIR/socket" \
    "LD_PRELOAD=$IOSCRIBE_BUILD/runtime/client/libioscribe-inside.so" "$@" 3>&- 4>&-
}

# stdio_log: job end, and what of STDIO's records its log has in $T/parsed
stdio_log() {
  job end >/dev/null
  the_log
  "$IOSCRIBE" parse --base --show-incomplete "$LOG" >"$T/parsed"
}

nobody_lives() {
  "$IOSCRIBE" job show 7 | grep -qx living=0
}

# counter NAME FILE: its value in the parsed log
counter() {
  awk -F '\t' -v name="$1" -v file="$T/w/$2" '$4 == name && $6 == file { print $5 }' "$T/parsed"
}

@test "calls that programs counted themselves outlive the daemon" {
  export IOSCRIBE_DIR=$T/run IOSCRIBE_TRACE_LIBRARIES=stdio,mpiio
  mkdir -m 711 "$IOSCRIBE_DIR" "$T/logs"
  serve
  job begin
  counts_itself "$PROG/stdio_speed" fputc 1000 "$T/w/ended" >/dev/null
  writes=$(counts_itself "$IOSCRIBE_BUILD/tests/uprobes/mpich/mpiio_ways" plain "$T/w/mpi" libmpich.so.12 | sed -n 's/^writes \([0-9]*\) .*/\1/p')
  until_true nobody_lives
  end_daemon KILL
  serve
  stdio_log
  [ "$(counter STDIO_WRITES ended)" = 1000 ]
  [ "$(counter STDIO_BYTES_WRITTEN ended)" = 1000 ]
  [ "$(counter MPIIO_INDEP_WRITES mpi)" = "$writes" ]
  [ "$(counter MPIIO_BYTES_WRITTEN mpi)" = $((8 * writes)) ]
  [ "$(counter MPIIO_ACCESS1_COUNT mpi)" = "$writes" ]
  ! grep '^# \*WARNING' "$T/parsed"
}

# segments_of OPERATION WHAT...: "offset length" of those of file f, in the log; or in the program's own list
segments_of() {
  "$IOSCRIBE" dxt --show-incomplete "$LOG" | awk -v op="$1" '
    /^# DXT, file_id/ { on = $0 ~ /\/f$/ }
    on && $1 == "X_MPIIO" && $3 == op { print $5, $6 }'
}

did() {
  awk -v op="$1" '$1 == op { print $2, $3 }' "$T/w/f.0.log"
}

@test "operations of MPI-IO, one by one: what the dead daemon had taken is lost and counted, what it had not is in the log" {
  local lost=0 op
  export IOSCRIBE_DIR=$T/run IOSCRIBE_TRACE_LIBRARIES=mpiio
  mkdir -m 711 "$IOSCRIBE_DIR" "$T/logs"
  serve
  job begin dxt=yes
  counts_itself "$IOSCRIBE_BUILD/tests/uprobes/mpich/mpiio_traced" "$T/w/f" wait 6000 &
  local program=$!
  until_true test -e "$T/w/f.ready"
  end_daemon KILL
  serve
  touch "$T/w/f.go"
  wait "$program"
  until_true nobody_lives
  stdio_log
  for op in write read; do
    lost=$((lost + $(did $op | wc -l) - $(segments_of $op | wc -l)))
    # behind the daemon's death all are there
    diff <(did $op | tail -2) <(segments_of $op | tail -2)
  done
  [ "$lost" -ge 0 ]
  [ "$(awk -F '\t' '$4 == "LEDGER_SEGMENTS_UNTOLD" { print $5 }' "$T/parsed")" -ge "$lost" ]
  [ "$lost" -eq 0 ] || "$IOSCRIBE" dxt --show-incomplete "$LOG" | grep "WARNING.*DXT_MPIIO"
}

# rounds NAME PREFIX…: a program of tests/uprobes in folder NAME until $T/stop is there; how many to $T/NAME
rounds() {
  local name=$1 prog=$2
  shift 2
  mkdir "$T/w/$name"
  "$@" "$IOSCRIBE_BUILD/tests/uprobes/mpich/$prog" "$T/w/$name" "$T/stop" >"$T/$name" &
}

@test "programs live through 20 daemons, killed or asked to end: every library call is in the log once" {
  export IOSCRIBE_DIR=$T/run IOSCRIBE_TRACE_LIBRARIES=all
  mkdir -m 711 "$IOSCRIBE_DIR" "$T/logs"
  serve
  job begin
  rounds inside mpiio_rounds counts_itself
  rounds hdf5 hdf5_rounds counts_itself
  # a program asks the daemon once for memory to count in
  until_true test -e "$T/w/inside/again.mpi" -a -e "$T/w/hdf5/again.h5"
  for life in $(seq 1 "$LIVES"); do
    sleep "$((RANDOM % 3)).$((RANDOM % 10))" # closed streams are taken every two seconds
    end_daemon "$([ $((life % 5)) -eq 0 ] && echo TERM || echo KILL)"
    sleep 0.0$((RANDOM % 10))
    serve
  done
  touch "$T/stop"
  wait
  n=$(cat "$T/inside") k=$(cat "$T/hdf5")
  stdio_log
  grep -P 'STDIO_(OPENS|WRITES|BYTES_W)|MPIIO_(INDEP_OPENS|COLL_OPENS|INDEP_W|BYTES_W)|H5D_(WRITES|READS|OPENS)' "$T/parsed" | grep -F "$T/w/"
  echo "$n, $k rounds"
  [ "$n" -gt 1000 ]
  [ "$k" -gt 1000 ]
  [ "$(counter STDIO_OPENS inside/kept)" = 1 ]
  [ "$(counter STDIO_WRITES inside/kept)" = $((10 * n)) ]
  [ "$(counter STDIO_BYTES_WRITTEN inside/kept)" = $((10 * n)) ]
  [ "$(counter STDIO_OPENS inside/again)" = "$n" ]
  [ "$(counter STDIO_WRITES inside/again)" = $((3 * n)) ]
  [ "$(counter MPIIO_INDEP_OPENS inside/again.mpi)" = "$n" ]
  [ "$(counter MPIIO_INDEP_WRITES inside/kept.mpi)" = $((10 * n)) ]
  [ "$(counter MPIIO_BYTES_WRITTEN inside/kept.mpi)" = $((80 * n)) ]
  [ "$(counter MPIIO_INDEP_WRITES inside/again.mpi)" = $((3 * n)) ]
  [ "$(counter MPIIO_BYTES_WRITTEN inside/again.mpi)" = $((48 * n)) ]
  [ "$(counter H5D_WRITES hdf5/kept.h5:/d)" = $((3 * k)) ]
  [ "$(counter H5D_READS hdf5/kept.h5:/d)" = $((2 * k)) ]
  [ "$(counter H5D_WRITES hdf5/again.h5:/d)" = "$k" ]
  [ "$(counter H5F_OPENS hdf5/again.h5)" = "$k" ]
  ! grep '^# \*WARNING' "$T/parsed"
}

@test "what a program has counted itself that dies without a daemon is said to be missing" {
  export IOSCRIBE_DIR=$T/run IOSCRIBE_TRACE_LIBRARIES=stdio
  mkdir -m 711 "$IOSCRIBE_DIR" "$T/logs"
  serve
  job begin
  counts_itself "$PROG/stdio_speed" fputc 1000 "$T/w/ended" >/dev/null
  counts_itself "$PROG/stdio_speed" fputc 2000000000 "$T/w/living" &
  living=$!
  until_true test -s "$T/w/living"
  end_daemon KILL
  pkill -KILL -P "$living" stdio_speed || kill -KILL "$living"
  wait "$living" || true
  serve
  stdio_log
  [ "$(counter STDIO_WRITES ended)" = 1000 ]
  grep '^# \*WARNING' "$T/parsed"
}

@test "a journal leaves others room: the job goes on, and its log says so only when the daemon died" {
  export IOSCRIBE_DIR=$T/run
  mkdir -m 711 "$IOSCRIBE_DIR" "$T/logs"
  mount -t tmpfs -o size=4m,mode=711 tmpfs "$IOSCRIBE_DIR"
  for how in goes_on dies; do
    rm -rf "$T/logs"/* "$T/w"/*
    "$OURS" --service --foreground --pin --stay --dir "$IOSCRIBE_DIR" 2>"$T/says" 3>&- 4>&- &
    until_true daemon_pid
    job begin
    long=$(printf '%0200d' 0)
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
      mkdir "$T/w/$long$i"
      (cd "$T/w/$long$i" && exec env "JOB=$T" IOSCRIBE_ENABLE=1 "$PROG/many_files" "$FILES" >/dev/null) 3>&- 4>&-
    done
    until_true nobody_lives
    cat "$T/says"
    [ "$(grep -c 'its journal cannot grow beyond [123] MiB: should this daemon die, its log will be incomplete' "$T/says")" -eq 1 ]
    [ "$(df --output=avail -B1 "$IOSCRIBE_DIR" | tail -n 1)" -ge 524288 ]
    if [ "$how" = dies ]; then
      end_daemon KILL
      serve
    fi
    stdio_log
    if [ "$how" = dies ]; then
      grep '^# \*WARNING' "$T/parsed"
    else
      "$IOSCRIBE" parse --total "$LOG" | grep -x "total_POSIX_OPENS: $((15 * FILES))"
      ! grep '^# \*WARNING' "$T/parsed" || return 1
      end_daemon INT
    fi
  done
}

@test "a journal that two daemons have died reading is given up; other jobs go on" {
  export IOSCRIBE_DIR=$T/run
  mkdir -m 755 "$T/logs"
  serve
  "$IOSCRIBE" job begin --timeout 120 --job-id 8 --uid 0 --match-env "OTHER=$T" log_dir="$T/logs"
  job begin
  FILES=6000 make_files 1 # its journal is the larger one
  env "OTHER=$T" IOSCRIBE_ENABLE=1 sh -c 'echo x >"$0"' "$T/w/other" 3>&- 4>&-
  end_daemon KILL
  python3 - "$IOSCRIBE_DIR"/state/[0-9]* <<'P'
import sys
for path in sys.argv[1:]:
    with open(path, "r+b") as f:
        f.seek(40) # struct scribe_journal_head: read
        f.write((2).to_bytes(8, "little"))
P
  serve
  "$IOSCRIBE" job list --timeout 120 >"$T/list"
  grep -q '^8 ' "$T/list"
  ! grep -q '^7 ' "$T/list" || return 1
  grep -qx "ioscribed: $T/run/state/[0-9]*: 2 daemons have died reading this journal of [0-9]* MiB: its job has no log" "$IOSCRIBE_DIR/log"
  "$IOSCRIBE" job end --timeout 120 --job-id 8
  the_log
  "$IOSCRIBE" parse "$LOG" | grep -q "$T/w/other"
}

@test "the process that makes helpers is killed: the daemon ends, and the next one writes the log" {
  export IOSCRIBE_DIR=$T/run
  mkdir -m 755 "$T/logs"
  serve
  job begin
  FILES=3 make_files 1
  pid=$(daemon_pid)
  pkill -KILL -P "$pid" -x ioscribe-spawn
  "$IOSCRIBE" job end --timeout 5 --job-id 7 >/dev/null 2>&1 || true
  until_true is_gone "$pid"
  grep -qx "ioscribed: the process that makes helpers has ended: this daemon ends, too; its jobs go on" "$IOSCRIBE_DIR/log"
  serve
  is_there() { [ -n "$(find "$T/logs" -name '*.darshan')" ]; }
  until_true is_there
  the_log
  "$IOSCRIBE" parse --total "$LOG" | grep -qx "total_POSIX_OPENS: 3"
}
