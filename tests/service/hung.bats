#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# A file system of the job's stops answering: the daemon goes on, and says whose
# links it could not follow. Nor does the daemon of one command wait.
load helper

setup_file() {
  [ -c /dev/fuse ] || { echo "these tests need /dev/fuse"; return 1; }
}

# The path is looked at by a program of job ID.
look() {
  user env "JOBX=$1" IOSCRIBE_ENABLE=1 stat -L -c %s "$T/fs/link/a"
}

names() {
  "$IOSCRIBE" parse --base "$1" | awk -F '\t' '$4 == "POSIX_STATS" && $5 > 0 { print $6 }' | grep -o '/fs/.*'
}

ledger() {
  "$IOSCRIBE" parse "$1" | awk -F '\t' -v name="LEDGER_$2" '$4 == name { print $5 }'
}

@test "links are followed while the file system answers; when it hangs, jobs begin and end, and their logs are written" {
  late_fs
  serve
  job begin --job-id 2 --uid 65534 --match-env JOBX=2

  # followed in time, or the ledger says that it was not: a machine that is busy may take longer than the daemon waits
  for id in 11 12 13 14 15; do
    job begin --job-id $id --uid 65534 --match-env "JOBX=$id"
    [ "$(look $id)" = 7 ]
    log=$(job end $id | grep darshan)
    echo "job $id: not followed $(ledger "$log" NAME_UNRESOLVED), names $(names "$log")"
    [ "$(ledger "$log" NAME_UNRESOLVED)" != 0 ] || break
    [ "$(names "$log")" = /fs/link/a ]
  done
  [ "$(names "$log")" = /fs/real/a ]

  # the daemon hears of it when the file system is gone
  kill -STOP "$DAEMON"
  [ "$(look 2)" = 7 ]
  kill -STOP "$FS"
  kill -CONT "$DAEMON"
  job list >/dev/null
  job begin --job-id 3 --uid 65534 --match-env JOBX=3
  user env JOBX=3 IOSCRIBE_ENABLE=1 sh -c 'echo abc >data'
  log=$(job end 3 | grep darshan)
  [ "$(value "$log" POSIX_BYTES_WRITTEN '/data$')" = 4 ]
  log=$(job end 2 | grep darshan)
  [ "$(names "$log")" = /fs/link/a ]
  [ "$(ledger "$log" NAME_UNRESOLVED)" = 1 ]
}

@test "a file system answers its user's programs, but not who follows their links: nobody else waits for it" {
  run_in_memory
  late_fs
  serve
  for id in 1 2 3 4 5 6; do job begin --job-id $id --uid 65534 --match-env "JOBX=$id"; done
  job begin --job-id 7 --uid 60001 --match-env JOBX=7
  pids=()
  for id in 1 2 3 4 5 6; do
    user env "JOBX=$id" IOSCRIBE_ENABLE=1 \
      sh -c "for i in 1 2 3 4 5; do stat -L $T/fs/mine/a $T/fs/slow/a; echo abc >data.$id.\$i; done" >/dev/null 3>&- 4>&- &
    pids+=($!)
  done
  mkdir -m 777 "$T/other"
  for n in $(seq 40); do
    USER_ID=60001 user env JOBX=7 IOSCRIBE_ENABLE=1 sh -c "cd $T/other && stat -L ../fs/link/a >out.$n"
  done
  wait "${pids[@]}"
  # names that nobody could be asked about stand as the programs gave them, and none of them is lost
  for id in 1 2 3 4 5 6; do
    log=$(job end $id | grep darshan)
    echo "job $id: not followed $(ledger "$log" NAME_UNRESOLVED)"
    [ "$(value "$log" POSIX_STATS '/fs/mine/a$')" = 5 ]
    [ "$(value "$log" POSIX_STATS '/fs/slow/a$')" = 5 ]
    [ "$(value "$log" POSIX_BYTES_WRITTEN "/data.$id.[1-5]\$")" = 20 ]
    [ "$(ledger "$log" NAME_UNRESOLVED)" -ge 1 ]
  done
  log=$(job end 7 | grep darshan)
  [ "$(ledger "$log" NAME_UNRESOLVED)" = 0 ]
  [ "$(names "$log")" = /fs/real/a ]
  [ "$(value "$log" POSIX_OPENS '/other/out.[0-9]+$')" = 80 ]
  longest=$(job status | sed -n 's/^longest_turn_ms=//p')
  echo "longest turn: $longest ms"
  awk -v ms="$longest" 'BEGIN { exit ms > 150 }'
}

@test "a daemon that is killed while names wait for a file system: the next one has what came after them" {
  local i
  mountpoint -q /sys/fs/bpf || mount -t bpf bpf /sys/fs/bpf
  late_fs
  serve --pin
  job begin --job-id 1 --uid 65534 --match-env JOBX=1
  # the path is looked up for 0.2 s; what the shell does then is taken from the ring and waits in the daemon
  user env JOBX=1 IOSCRIBE_ENABLE=1 sh -c "stat -L $T/fs/slow/a; i=0; while [ \$i -lt 50 ]; do echo abc >data.\$i; i=\$((i + 1)); done"
  kill -KILL "$DAEMON"
  gone "$DAEMON"
  rm "$IOSCRIBE_DIR/socket"
  serve --pin
  log=$(job end 1 | grep darshan)
  [ "$(value "$log" POSIX_STATS '/fs/slow/a$')" = 1 ]
  [ "$(value "$log" POSIX_BYTES_WRITTEN '/data.[0-9]+$')" = 200 ]
  [ "$(ledger "$log" NAME_LOST)" = 0 ]
}

@test "a directory of logs hangs as ranks finalize: nobody else waits" {
  late_fs
  serve
  job begin --job-id 1 --uid 65534 --match-env JOBX=1 "log_dir=$T/fs/real"
  cp "$IOSCRIBE_BUILD/runtime/client/libioscribe.so" "$IOSCRIBE_BUILD/tests/mpi/mpich/mpi_demo" "$T/"
  chmod 755 "$T/libioscribe.so" "$T/mpi_demo"
  kill -STOP "$FS"
  user env -i PATH="$PATH" HOME="$T/w" TMPDIR=/tmp JOBX=1 IOSCRIBE_ENABLE=1 "IOSCRIBE_SOCKET=$IOSCRIBE_DIR/socket" \
    "LD_PRELOAD=$T/libioscribe.so" timeout 60 mpiexec.mpich -n 2 "$T/mpi_demo" >/dev/null 3>&- 4>&- &
  ranks=$!
  echo "$ranks" >>"$T/pids"
  longest=0
  while kill -0 "$ranks" 2>/dev/null; do
    from=$(date +%s%N)
    job list >/dev/null
    ms=$((($(date +%s%N) - from) / 1000000))
    [ "$ms" -le "$longest" ] || longest=$ms
  done
  wait "$ranks"
  echo "longest wait for an answer: $longest ms"
  [ "$longest" -lt 900 ]
}

# helper_hangs DAEMON: one of its helpers waits for the file system's answer
helper_hangs() {
  local pid
  for pid in $(pgrep -P "$(pgrep -P "$1" -x ioscribe-spawn)"); do
    ! grep -qsE "request_wait|d_alloc_parallel" "/proc/$pid/wchan" || return 0
  done
  return 1
}

# How often a process has waited, and gone on.
turns() { awk '$1 == "voluntary_ctxt_switches:" { print $2 }' "/proc/$1/status"; }

@test "ioscribe run: while a directory of libraries hangs its daemon goes on" {
  late_fs
  kill -STOP "$FS"
  "$IOSCRIBE" run --private --log "$T/w/log" \
    sh -c "(LD_LIBRARY_PATH=$T/fs/real exec /bin/true); echo abc >data" 3>&- &
  run=$!
  echo "$run" >>"$T/pids"
  its_daemon() { DAEMON=$(pgrep -P "$run" -x ioscribed) && helper_hangs "$DAEMON"; }
  until_true its_daemon
  from=$(date +%s%N) before=$(turns "$DAEMON")
  has_turned() { [ $(($(turns "$DAEMON") - before)) -ge 20 ]; }
  until_true has_turned
  ms=$((($(date +%s%N) - from) / 1000000))
  echo "20 turns in $ms ms"
  [ "$ms" -lt 3000 ]
  kill -KILL "$FS"
  wait "$run"
  [ "$(value "$T/w/log" POSIX_BYTES_WRITTEN '/data$')" = 4 ]
}

# counts_itself ID COMMAND...: a program of job ID that counts its streams in its own memory.
counts_itself() {
  user env "JOBX=$1" IOSCRIBE_ENABLE=1 "IOSCRIBE_SOCKET=$IOSCRIBE_DIR/socket" \
    "LD_PRELOAD=$T/libioscribe-inside.so" "${@:2}" 3>&- 4>&-
}

@test "a process's memory is locked while one daemon follows another: it serves, and knows what others have counted" {
  cp "$IOSCRIBE_BUILD/runtime/client/libioscribe-inside.so" "$T/"
  chmod 755 "$T"/*.so
  page_fs
  serve --pin
  job begin --job-id 1 --uid 65534 --match-env JOBX=1
  job begin --job-id 2 --uid 60001 --match-env JOBX=2
  counts_itself 1 /usr/bin/python3 "$T/locked_memory.py" "$T/fs/page" "$T/w/pid" >"$T/locked" &
  until_true test -s "$T/w/pid"
  local pid
  pid=$(cat "$T/w/pid")
  kill -STOP "$FS"
  rm "$T/w/pid"
  until_true is_locked "$pid"
  USER_ID=60001 counts_itself 2 /usr/bin/python3 -c 'import ctypes, os, signal
c = ctypes.CDLL(None)
c.printf(b"four\n"); c.fflush(None); os.write(2, b"%d\n" % os.getpid()); signal.pause()' >"$T/out" 2>"$T/counts" &
  until_true test -s "$T/counts"
  cat "$T/counts" >>"$T/pids"

  kill -KILL "$DAEMON"
  gone "$DAEMON"
  timeout 20 "$IOSCRIBED" --service --stay --pin
  DAEMON=$(cat "$IOSCRIBE_DIR/pid")
  timeout 5 "$IOSCRIBE" job list
  kill -KILL "$FS"
  local log
  log=$(job end 2 --deadline 1 | grep darshan)
  [ "$(value "$log" STDIO_BYTES_WRITTEN STDOUT)" = 5 ]
  grep -F "does not let itself be looked at" "$IOSCRIBE_DIR/log"
}
