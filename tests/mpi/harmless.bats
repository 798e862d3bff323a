#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The runtime in a program whose daemon is absent, hung, slow, talks nonsense or
# refuses: output and exit status are those of the untraced program, within
# bounded time. The daemon's stand-in is tests/mpi/fake_daemon.c; nothing is traced.

load helper
BOTH='a daemon that works|the collective log'

# unharmed MPI: what the program printed is what it prints untraced, and so is its exit status.
unharmed() {
  [ "$status" -eq 5 ] || { echo "$1: exit status $status instead of 5"; cat "$T/err"; return 1; }
  printf 'handler fatal\nhandler fatal\nhandler fatal\nhandler fatal\nrank 0 of 4\nrank 1 of 4\nrank 2 of 4\nrank 3 of 4\n' >"$T/want"
  sort "$T/out" >"$T/got"
  diff "$T/want" "$T/got" || return 1
  launcher "$1" 4
  "${launch[@]}" "$PROGS/$1/mpi_cases" unharmed "$T/data" >/dev/null 2>"$T/err.untraced" || true
  # pids and times differ; nothing else may
  diff <(sed 's/[0-9][0-9]*/N/g' "$T/err.untraced") <(sed 's/[0-9][0-9]*/N/g' "$T/err") || return 1
}

# all_said WORD: every rank ended with DONE of this kind.
all_said() {
  [ "$(grep -c "^done . $1" "$T/fake.out")" -eq 4 ] || { echo "not all $1:"; cat "$T/fake.out"; return 1; }
}

# within MS COMMAND...: the limit is far above what it takes, and far below a hang.
within() {
  local limit=$1 from
  shift
  from=$(date +%s%N)
  "$@"
  local ms=$((($(date +%s%N) - from) / 1000000))
  [ "$ms" -lt "$limit" ] || { echo "took $ms ms, limit $limit"; return 1; }
}

behaving() {
  local mpi
  for mpi in $MPIS; do
    fake 4 "$1" 4000
    within 120000 with_runtime $mpi 4 "$PROGS/$mpi/mpi_cases" unharmed "$T/data"
    fake_end
    unharmed $mpi
    [ -z "${2:-}" ] || all_said "$2"
    if [ "${2:-}" = ok ]; then
      [ -s "$T/partial" ]
    else
      [ ! -e "$T/partial" ] || { echo "the partial log was left"; return 1; }
    fi
  done
}

@test "no daemon: nothing is different" {
  for mpi in $MPIS; do
    SOCKET=$T/nowhere within 120000 with_runtime $mpi 4 "$PROGS/$mpi/mpi_cases" unharmed "$T/data"
    unharmed $mpi
  done
}

@test "no job: the library does nothing" {
  for mpi in $MPIS; do
    SOCKET= within 120000 with_runtime $mpi 4 "$PROGS/$mpi/mpi_cases" unharmed "$T/data"
    unharmed $mpi
  done
}

@test "IOSCRIBE_DISABLE=1: the daemon hears nothing" {
  for mpi in $MPIS; do
    fake 4 ok 4000
    IOSCRIBE_DISABLE=1 with_runtime $mpi 4 "$PROGS/$mpi/mpi_cases" unharmed "$T/data"
    fake_end
    unharmed $mpi
    [ "$(grep -c hello "$T/fake.out")" -eq 0 ]
  done
}

@test "a daemon that works: one partial log, all ranks agree" {
  behaving ok ok
}

@test "a daemon that accepts and never answers" {
  behaving deaf
}

@test "a daemon that never answers FETCH" {
  behaving no-fetch failed
}

@test "a daemon that hangs up at FETCH" {
  behaving hangup
}

@test "a daemon that talks nonsense" {
  behaving nonsense
}

@test "a daemon whose image is damaged for one rank: all fall back" {
  behaving bad-image failed
}

@test "a daemon that refuses one rank: all fall back" {
  behaving deny-one failed
}

@test "a daemon that does not want the collective path" {
  behaving no-collective
}

@test "a daemon that never acknowledges DONE" {
  behaving no-done ok
}

@test "a daemon that was stopped" {
  for mpi in $MPIS; do
    fake 4 ok 4000
    kill -STOP "$fake_pid"
    within 120000 with_runtime $mpi 4 "$PROGS/$mpi/mpi_cases" unharmed "$T/data"
    kill -CONT "$fake_pid"
    fake_end
    unharmed $mpi
  done
}

@test "the log's folder cannot be written: all fall back" {
  for mpi in $MPIS; do
    fake 4 ok 4000
    mkdir "$T/partial" # a folder stands where the log should
    with_runtime $mpi 4 "$PROGS/$mpi/mpi_cases" unharmed "$T/data"
    fake_end
    rmdir "$T/partial"
    unharmed $mpi
    all_said failed
  done
}

@test "the collective log: reduced, rebased, flagged, the same with both MPIs" {
  for mpi in $MPIS; do
    fake 4 ok 4000
    with_runtime $mpi 4 "$PROGS/$mpi/mpi_cases" nothing "$T/data"
    fake_end
    all_said ok
    "$IOSCRIBE" parse --show-incomplete "$T/partial" >"$T/$mpi.txt"
  done
  diff "$T/mpich.txt" "$T/openmpi.txt"
  line() { grep -qxF "$1" <(cut -f 1,2,4-6 "$T/mpich.txt") || { echo "not in the log: $1"; return 1; }; }
  line $'POSIX\t-1\tPOSIX_WRITES\t100\t/data/shared' # 10 + 20 + 30 + 40
  line $'POSIX\t-1\tPOSIX_BYTES_WRITTEN\t10000\t/data/shared'
  line $'POSIX\t-1\tPOSIX_MAX_BYTE_WRITTEN\t3999\t/data/shared'
  line $'POSIX\t-1\tPOSIX_FASTEST_RANK\t0\t/data/shared'
  line $'POSIX\t-1\tPOSIX_SLOWEST_RANK\t3\t/data/shared'
  line $'POSIX\t-1\tPOSIX_SLOWEST_RANK_BYTES\t4000\t/data/shared'
  line $'POSIX\t-1\tPOSIX_F_WRITE_TIME\t5.000000\t/data/shared'
  line $'POSIX\t-1\tPOSIX_F_VARIANCE_RANK_TIME\t0.312500\t/data/shared'
  line $'POSIX\t-1\tPOSIX_F_VARIANCE_RANK_BYTES\t1250000.000000\t/data/shared'
  line $'POSIX\t-1\tPOSIX_F_WRITE_START_TIMESTAMP\t1.000000\t/data/shared' # rank 0's
  line $'POSIX\t-1\tPOSIX_F_WRITE_END_TIMESTAMP\t5.000000\t/data/shared'   # rank 3's, three seconds later
  line $'POSIX\t2\tPOSIX_WRITES\t12\t/data/own.2'
  line $'POSIX\t2\tPOSIX_F_WRITE_END_TIMESTAMP\t4.000000\t/data/own.2'
  grep -q '^# start_time: 1700000000$' "$T/mpich.txt" # the earliest rank's
  grep -q '^# end_time: 1700000103$' "$T/mpich.txt"   # the latest rank's
  grep -q '^# nprocs: 4$' "$T/mpich.txt"
  # flagged by rank 3 alone; used by even ranks alone
  run "$IOSCRIBE" parse "$T/partial"
  [ "$status" -ne 0 ] && [[ $output == *POSIX_EXT* ]]
}

@test "5,000 shared files: several batches, every sum right" {
  for mpi in $MPIS; do
    fake 4 many 8000
    with_runtime $mpi 4 "$PROGS/$mpi/mpi_cases" nothing "$T/data"
    fake_end
    all_said ok
    "$IOSCRIBE" parse --show-incomplete "$T/partial" >"$T/text"
    # file i was written i + 1 times by each of four ranks
    [ "$(awk -F '\t' '$4 == "POSIX_WRITES" && $2 == -1 && $6 ~ /many/ {
      split($6, p, "."); n++; if ($5 != 4 * (p[2] + 1)) bad++ } END { print n + 0, bad + 0 }' "$T/text")" = "5000 0" ]
  done
}

@test "no libz: the log holds stored streams, and reads the same" {
  fake 4 ok 4000
  with_runtime mpich 4 "$PROGS/mpich/mpi_cases" nothing "$T/data"
  fake_end
  "$IOSCRIBE" parse --show-incomplete "$T/partial" | grep -v '(compressed)' >"$T/with"
  mkdir "$T/empty"
  printf 'not a library' >"$T/empty/libz.so.1"
  fake 4 ok 4000
  LD_LIBRARY_PATH=$T/empty with_runtime mpich 4 "$PROGS/mpich/mpi_cases" nothing "$T/data"
  fake_end
  all_said ok
  "$IOSCRIBE" parse --show-incomplete "$T/partial" | grep -v '(compressed)' >"$T/without"
  [ "$(stat -c %s "$T/partial")" -gt 3000 ] # not compressed
  diff "$T/with" "$T/without"
}
