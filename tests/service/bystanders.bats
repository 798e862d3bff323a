#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# While no process has joined a job nothing of ours stands at system calls, nor in libraries; the first process that
# joins in a way that can wait misses none of its calls, and one that cannot is counted.

load helper

# Names of programs at system calls that the daemon has attached; kernels cut them at 15 bytes.
at_calls() {
  "$IOSCRIBE_SOURCE/tests/service/links.py" "$DAEMON" | grep -E '^scribe_(sys|raw|fn|event|uring|ev_sub|ev_cqe)' || true
}

none_at_calls() { [ -z "$(at_calls)" ]; }

all_at_calls() { [ "$(at_calls | wc -l)" -ge 2 ]; }

sees_processes() { [ "$("$IOSCRIBE_SOURCE/tests/service/links.py" "$DAEMON" | grep -cE '^scribe_(sched|ev_)')" -ge 3 ]; }

# settings LINE...: for the daemon to come.
settings() { printf '%s\n' "$@" >>"$IOSCRIBE_CONFIG"; }

# As it comes: not for jobs that nobody has joined.
by_default() { sed -i '/^attach_at_begin/d' "$IOSCRIBE_CONFIG"; }

begin() {
  job begin --job-id "$1" --uid 65534 --match-env "JOBX=$1"
}

# first JOB NAME [NAME=VALUE...]: a process of the job that opens two files, reads one and writes the other.
first() {
  local id=$1 name=$2
  shift 2
  [ -e in ] || { printf 0123456789 >in; chmod 644 in; }
  user env "JOBX=$id" IOSCRIBE_ENABLE=1 "$@" dd if=in "of=$name" bs=10 count=1 status=none 3>&-
}

# exact LOG NAME...: each of these was written by a process that `first` has started; `in` was read by all.
exact() {
  local log=$1 name n=0
  shift
  "$IOSCRIBE" parse --base "$log" >"$T/text"
  for name; do
    n=$((n + 1))
    [ "$(of "$name" POSIX_WRITES) $(of "$name" POSIX_BYTES_WRITTEN)" = "1 10" ] || { echo "$name"; grep "/$name" "$T/text" | head -n 20; return 1; }
    # dd opens it, and duplicates what it has opened
    [ "$(of "$name" POSIX_OPENS)" -eq 2 ] || { echo "$name: opens $(of "$name" POSIX_OPENS)"; return 1; }
  done
  echo "of in: opens $(of in POSIX_OPENS), reads $(of in POSIX_READS), of $n"
  [ "$(of in POSIX_OPENS)" -eq $((2 * n)) ] && [ "$(of in POSIX_READS)" -eq "$n" ]
}

of() { awk -F '\t' -v file="/w/$1" -v name="$2" '$4 == name && substr($6, length($6) - length(file) + 1) == file { n += $5 } END { print n + 0 }' "$T/text"; }

ledger() { value "$1" "LEDGER_$2"; }

end() {
  LOG=$(job end --job-id "$1" --deadline 30)
  [ -f "$LOG" ] || { echo "no log of job $1: $LOG"; return 1; }
}

runtime() { echo "LD_PRELOAD=$IOSCRIBE_BUILD/runtime/client/libioscribe.so IOSCRIBE_SOCKET=$IOSCRIBE_DIR/socket"; }

@test "a job that nobody has joined has nothing at system calls; announced, all; a while after the last, nothing again" {
  by_default
  settings 'attach_linger_ms = 0'
  serve
  begin 1
  none_at_calls && sees_processes
  job ready 1
  all_at_calls
  first 1 out
  until_true none_at_calls # five seconds after it was announced
  sees_processes
  end 1
  exact "$LOG" out
  [ "$(ledger "$LOG" F_LATE_PROCS)" = 0 ]
  until_true sh -c '[ -z "$("$IOSCRIBE" job list --timeout 60)" ]'
}

@test "whose runtime waits misses nothing: 100 processes, each of them the first" {
  by_default
  settings 'attach_linger_ms = 0'
  serve
  begin 2
  local i names=()
  for i in $(seq 100); do
    # shellcheck disable=SC2046 # two words
    first 2 "out.$i" $(runtime)
    names+=("out.$i")
  done
  end 2
  exact "$LOG" "${names[@]}"
  [ "$(ledger "$LOG" F_LATE_PROCS)" = 0 ]
  [ "$(ledger "$LOG" IO_MISSED_CALLS)" = 0 ]
}

@test "100 at once, and two jobs begun one after the other, by turns" {
  by_default
  settings 'attach_linger_ms = 0'
  serve
  begin 3
  begin 4
  local i names=() pids=() odd=() even=()
  for i in $(seq 100); do
    # shellcheck disable=SC2046 # two words
    first $((3 + i % 2)) "out.$i" $(runtime) &
    pids+=($!)
    if [ $((i % 2)) = 1 ]; then even+=("out.$i"); else odd+=("out.$i"); fi
    [ $((i % 10)) != 0 ] || { wait "${pids[@]}"; pids=(); sleep 0.05; }
  done
  end 3
  exact "$LOG" "${odd[@]}"
  [ "$(ledger "$LOG" F_LATE_PROCS)" = 0 ]
  # the other one goes on
  until_true none_at_calls
  # shellcheck disable=SC2046 # two words
  first 4 last $(runtime)
  end 4
  exact "$LOG" "${even[@]}" last
  [ "$(ledger "$LOG" F_LATE_PROCS)" = 0 ]
}

@test "ioscribe run through a service whose jobs nobody has joined: exact" {
  by_default
  settings 'attach_linger_ms = 0'
  serve
  begin 5
  none_at_calls
  printf 0123456789 >in
  chmod 644 in
  LOG=$T/w/run.darshan
  user "$IOSCRIBE" run --quiet --force --log "$LOG" -- dd if=in of=out bs=10 count=1 status=none 3>&-
  exact "$LOG" out
  [ "$(ledger "$LOG" F_LATE_PROCS)" = 0 ]
  until_true none_at_calls
  job end 5
}

@test "who joins unannounced is counted, with what it read and wrote before, and the summary says so" {
  by_default
  settings 'attach_linger_ms = 0'
  serve
  begin 6
  none_at_calls
  kill -STOP "$DAEMON" # however quick it is
  first 6 unseen
  kill -CONT "$DAEMON"
  until_true none_at_calls
  end 6
  [ "$(ledger "$LOG" F_LATE_PROCS)" = 1 ]
  [ "$(ledger "$LOG" F_LATE_CALLS)" -ge 2 ]
  [ "$(ledger "$LOG" IO_MISSED_CALLS)" = 0 ]
  output=$("$IOSCRIBE" summary "$LOG" | tr -s '[:space:]' ' ')
  [[ $output == *"NOT complete"* ]]
  [[ $output == *"processes that had begun before their system calls and libraries were recorded"* ]]
}

@test "Slurm's task prolog announces the task, and is itself no part of the job" {
  by_default
  settings 'attach_linger_ms = 0'
  # as the hook, with time: half a second may be little where others test, too
  cp -r "$IOSCRIBE_SOURCE/scripts/hooks" "$IOSCRIBE_SOURCE/scripts/slurm" "$T"
  sed -i 's/-k 0.1 0.5/-k 0.1 50/; s/--timeout 0.4/--timeout 40/' "$T/hooks/common"
  grep -q 'timeout -k 0.1 50' "$T/hooks/common"
  echo 'echo hook >of_hook' >>"$T/slurm/task-prolog"
  sed -i 's/|| exit 0$/|| true/' "$T/slurm/task-prolog"
  printf 'ioscribe = %s\ndir = %s\n' "$IOSCRIBE" "$IOSCRIBE_DIR" >"$T/hooks.conf"
  chmod -R a+rX "$T/hooks" "$T/slurm" "$T/hooks.conf"
  serve
  begin 7
  user env JOBX=7 SLURM_JOB_ID=7 IOSCRIBE_ENABLE=1 "IOSCRIBE_HOOKS_CONF=$T/hooks.conf" "$T/slurm/task-prolog" 3>&-
  all_at_calls
  first 7 out
  end 7
  exact "$LOG" out
  [ "$(cat of_hook)" = hook ]
  ! grep -q of_hook "$T/text" || return 1
  [ "$(ledger "$LOG" F_LATE_PROCS)" = 0 ]
}

@test "a job is announced by its user and by root, by nobody else; one that has ended by nobody" {
  by_default
  serve
  begin 8
  run_it user "$IOSCRIBE" job ready 8 --timeout 60
  [ "$status" -eq 0 ]
  USER_ID=65533 run_it user "$IOSCRIBE" job ready 8 --timeout 60
  [ "$status" -eq 1 ]
  [[ $output == *"no job 8 here"* ]]
  job end 8
  run_it "$IOSCRIBE" job ready 8 --timeout 60
  [ "$status" -eq 1 ]
}

@test "attach_at_begin = yes: they stand from the job's begin" {
  grep -qx 'attach_at_begin = yes' "$IOSCRIBE_CONFIG"
  serve
  begin 9
  all_at_calls
  first 9 out
  end 9
  exact "$LOG" out
  [ "$(ledger "$LOG" F_LATE_PROCS)" = 0 ]
}

@test "a stopped daemon holds nobody for long, and nobody fails" {
  by_default
  settings 'attach_linger_ms = 0'
  serve
  begin 10
  kill -STOP "$DAEMON"
  local before=$EPOCHREALTIME
  # shellcheck disable=SC2046 # two words
  first 10 out $(runtime)
  awk -v a="$before" -v b="$EPOCHREALTIME" 'BEGIN { print b - a " s"; exit b - a > 5 }'
  kill -CONT "$DAEMON"
  end 10
  [ "$(ledger "$LOG" F_LATE_PROCS)" = 1 ]
}

# killed: the daemon, and the next one is there.
killed() {
  kill -KILL "$DAEMON"
  until_true is_gone "$DAEMON"
  serve --pin
}

@test "killed and back while nobody has joined, while somebody is there, and a moment after: all exact" {
  mountpoint -q /sys/fs/bpf || mount -t bpf bpf /sys/fs/bpf
  by_default
  settings 'attach_linger_ms = 1000'
  serve --pin
  begin 11
  killed
  none_at_calls && sees_processes
  # shellcheck disable=SC2046 # two words
  first 11 a $(runtime)
  killed # while they stand there for nobody
  # shellcheck disable=SC2046 # two words
  first 11 b $(runtime)
  until_true none_at_calls
  killed
  none_at_calls
  mkfifo "$T/go"
  chmod 666 "$T/go"
  # shellcheck disable=SC2046 # two words
  user env JOBX=11 IOSCRIBE_ENABLE=1 $(runtime) sh -c 'echo >up; read x; exec dd if=in of=c bs=10 count=1 status=none' <>"$T/go" 3>&- &
  until_true test -e up
  killed # while somebody is there
  all_at_calls
  echo >"$T/go"
  wait $!
  # shellcheck disable=SC2046 # two words
  first 11 d $(runtime)
  end 11
  exact "$LOG" a b c d
  [ "$(ledger "$LOG" F_LATE_PROCS)" = 0 ]
  until_true sh -c '[ -z "$("$IOSCRIBE" job list --timeout 60)" ]'
}

# ---- libraries ----

# bystander [yes|no]: an untraced process that has mapped MPICH; $BYSTANDER. mpiio_wrap, by default no.
bystander() {
  LIBPROG=$IOSCRIBE_BUILD/tests/uprobes
  mkdir "$T/lib"
  cp "$(ldconfig -p | awk '$1 == "libmpich.so.12" { print $NF; exit }')" "$T/lib/libmpich.so.12"
  settings 'library_cache = no' "library_paths = $T/lib" 'trace_libraries = mpiio' "mpiio_wrap = ${1:-no}"
  /usr/bin/python3 -c '
import ctypes, sys, time
ctypes.CDLL(sys.argv[1])
open(sys.argv[2], "w")
time.sleep(1000)' "$T/lib/libmpich.so.12" "$T/mapped" 3>&- &
  BYSTANDER=$!
  echo "$BYSTANDER" >>"$T/pids"
  until_true test -e "$T/mapped"
}

# Breakpoints in what it has mapped of the library.
breakpoints() { "$IOSCRIBE_SOURCE/tests/service/breakpoints.py" "$BYSTANDER" "$T/lib/libmpich.so.12"; }

no_breakpoint() { [ "$(breakpoints)" -eq 0 ]; }

has_breakpoints() { [ "$(breakpoints)" -ge 50 ]; }

# mpi JOB [NAME=VALUE...]: two ranks that call everything of MPI-IO.
mpi() {
  local id=$1
  shift
  user env "JOBX=$id" IOSCRIBE_ENABLE=1 "LD_LIBRARY_PATH=$T/lib" "$@" \
    mpiexec.mpich -n 2 "$LIBPROG/mpich/mpiio_calls" f 3>&-
}

# mpi_exact JOB TIMES: all calls of so many rounds.
mpi_exact() {
  local log=$(job end --job-id "$1" --deadline 30 | tr ' ' '\n' | grep mpiio_calls) n=$2 wrong=0 one
  for one in MPIIO_COLL_OPENS=2 MPIIO_INDEP_READS=6 MPIIO_INDEP_WRITES=10 MPIIO_COLL_READS=4 MPIIO_COLL_WRITES=4 \
    MPIIO_SPLIT_WRITES=2 MPIIO_NB_WRITES=4 MPIIO_BYTES_READ=3480 MPIIO_BYTES_WRITTEN=16888; do
    local sum=0 each
    for each in $log; do sum=$((sum + $(value "$each" "${one%=*}" '/f$'))); done
    [ "$sum" -eq $((n * ${one#*=})) ] || { echo "${one%=*}: $sum, not $n times ${one#*=}"; wrong=1; }
  done
  [ "$wrong" = 0 ]
}

@test "the site's libraries are probed from the service's start to its end, whoever comes and goes: every call is there" {
  by_default
  settings 'attach_linger_ms = 0'
  bystander
  serve
  until_true has_breakpoints
  begin 12
  begin 13
  mpi 12 # announced by nobody
  until_true none_at_calls
  has_breakpoints
  job ready 13
  mpi 13
  mpi_exact 12 1
  mpi_exact 13 1
  until_true none_at_calls
  has_breakpoints
  kill -INT "$DAEMON"
  gone "$DAEMON"
  until_true no_breakpoint
}

@test "MPI-IO of ranks whose runtime waits, each the first of the node: exact" {
  by_default
  settings 'attach_linger_ms = 0'
  bystander
  serve
  begin 14
  local i
  for i in 1 2 3; do
    until_true none_at_calls
    # shellcheck disable=SC2046 # two words
    mpi 14 $(runtime)
  done
  mpi_exact 14 3
}

@test "counted inside programs: nothing stands in the MPI library, which may be a user's own; who cannot count says so" {
  by_default
  bystander yes
  chown 65534 "$T/lib/libmpich.so.12"
  serve
  begin 15
  local inside
  inside=$(runtime)
  # shellcheck disable=SC2086 # two words
  mpi 15 ${inside/libioscribe.so/libioscribe.so:$IOSCRIBE_BUILD/runtime/client/libioscribe-inside.so}
  no_breakpoint
  mpi_exact 15 1
  begin 21
  user env JOBX=21 IOSCRIBE_ENABLE=1 "LD_LIBRARY_PATH=$T/lib" "$LIBPROG/mpich/mpiio_calls" f 3>&-
  end 21
  run "$IOSCRIBE" parse --base "$LOG"
  [ "$status" -ne 0 ]
  [[ "$output" == *"libmpich.so.12 is not probed (mpiio_wrap = yes), and a program that uses it runs without libioscribe-inside.so"* ]]
}

@test "who joins unannounced, also while the daemon does not run, has missed no call of MPI" {
  by_default
  settings 'attach_linger_ms = 0'
  bystander
  serve
  begin 16
  user env JOBX=16 IOSCRIBE_ENABLE=1 "LD_LIBRARY_PATH=$T/lib" "$LIBPROG/mpich/mpiio_waits" f "$T/w/go" 3>&- &
  local waits=$! log
  until_true all_at_calls
  touch go
  wait "$waits"
  log=$(job end --job-id 16 --deadline 30)
  [ "$(ledger "$log" F_LATE_PROCS)" = 1 ]
  [ "$(value "$log" MPIIO_INDEP_WRITES)" = 5 ]
  [ "$(value "$log" MPIIO_INDEP_READS)" = 3 ]
  "$IOSCRIBE" parse --base "$log" >"$T/text" 2>"$T/said"
  [ ! -s "$T/said" ]

  until_true none_at_calls
  begin 17
  kill -STOP "$DAEMON"
  user env JOBX=17 IOSCRIBE_ENABLE=1 "LD_LIBRARY_PATH=$T/lib" "$LIBPROG/mpich/mpiio_waits" h "$T/w/go" 3>&-
  kill -CONT "$DAEMON"
  log=$(job end --job-id 17 --deadline 30)
  [ "$(value "$log" MPIIO_INDEP_WRITES)" = 5 ]
  [ "$(value "$log" MPIIO_INDEP_READS)" = 3 ]
  "$IOSCRIBE" parse --base "$log" >"$T/text" 2>"$T/said"
  [ ! -s "$T/said" ]
}

@test "killed and back, while nobody has joined and after somebody: MPI-IO is exact, and its probes were there all the time" {
  mountpoint -q /sys/fs/bpf || mount -t bpf bpf /sys/fs/bpf
  by_default
  settings 'attach_linger_ms = 1000'
  bystander
  serve --pin
  until_true has_breakpoints
  begin 18
  killed
  has_breakpoints
  job ready 18
  killed # while programs stand at system calls for nobody
  has_breakpoints
  mpi 18
  until_true none_at_calls
  killed
  has_breakpoints
  job ready 18
  mpi 18
  mpi_exact 18 2
  has_breakpoints
}

@test "told that they stand, and the daemon is killed: the next one keeps them as long as was promised" {
  mountpoint -q /sys/fs/bpf || mount -t bpf bpf /sys/fs/bpf
  by_default
  settings 'attach_linger_ms = 0'
  serve --pin
  begin 19
  job ready 19
  local begun=$(date +%s%N) ms
  killed
  until_true none_at_calls
  ms=$((($(date +%s%N) - begun) / 1000000))
  echo "$ms ms"
  [ "$ms" -ge 5000 ]
}
