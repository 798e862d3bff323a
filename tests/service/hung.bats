#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# A file system of the job's stops answering: the daemon goes on, and says whose
# links it could not follow.
load helper

setup_file() {
  [ -c /dev/fuse ] || { echo "these tests need /dev/fuse"; return 1; }
}

teardown() {
  [ -z "${FS:-}" ] || kill -KILL "$FS" 2>/dev/null || true # what hangs in it gets an error
  ! grep -q " $T/fs " /proc/self/mounts || until_true umount "$T/fs"
  helper_teardown
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
  for id in 1 2; do job begin --job-id $id --uid 65534 --match-env "JOBX=$id"; done

  [ "$(look 1)" = 7 ]
  log=$(job end 1 | grep darshan)
  [ "$(names "$log")" = /fs/real/a ]
  [ "$(ledger "$log" NAME_AS_GIVEN)" = 0 ]

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
  [ "$(ledger "$log" NAME_AS_GIVEN)" = 1 ]
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
