#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Libraries of a user's: files that are made to harm whoever reads them, directories to
# search without end, things in them that are no files. The service answers all the while,
# is the same process afterwards, and has opened nothing that the user could not.
load helper

# The library at hand is MPI: it is to be probed.
export IOSCRIBE_MPIIO_WRAP=no

# many_symbols FILE: 300,000 symbols with one name of 200 kB
many_symbols() {
  python3 - "$1" <<'P'
import struct, sys
n, name = 300000, b"\0" + b"a" * 200000 + b"\0"
symbols = b"\0" * 24 + struct.pack("<IBBHQQ", 1, 0x12, 0, 1, 0x1000, 16) * n
at = 64 + 56 + 64 * 3
sections = b"\0" * 64
sections += struct.pack("<IIQQQQIIQQ", 0, 11, 2, 0, at, len(symbols), 2, 1, 8, 24)
sections += struct.pack("<IIQQQQIIQQ", 0, 3, 2, 0, at + len(symbols), len(name), 0, 0, 1, 0)
head = b"\x7fELF\2\1\1" + b"\0" * 9 + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 120, 0, 64, 56, 1, 64, 3, 0)
load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 0x2000, 0x2000, 4096)
open(sys.argv[1], "wb").write(head + load + sections + symbols + name)
P
}

# Milliseconds that an answer takes.
answer_ms() {
  local from=$(date +%s%N)
  timeout 20 "$IOSCRIBE" job list >/dev/null || return 1
  echo $((($(date +%s%N) - from) / 1000000))
}

# programs N PATH-LIST: nobody executes a fresh program so often, with these directories
programs() {
  user env JOBX=1 IOSCRIBE_ENABLE=1 "LD_LIBRARY_PATH=$2" sh -c '
    for i in $(seq '"$1"'); do cp /bin/true ./true.$i; ./true.$i; done; echo x >done.1' 3>&-
}

begin() {
  serve
  job begin --job-id 1 --uid 65534 --match-env JOBX=1
}

still_there() {
  kill -0 "$DAEMON"
  log=$(job end 1)
  [ "$(value "$log" POSIX_BYTES_WRITTEN '/done\.1$')" -ge 2 ]
}

@test "a library of 300,000 symbols with a name of 200 kB" {
  begin
  mkdir "$T/lib"
  many_symbols "$T/lib/libmpi.so.12"
  chown -R 65534 "$T/lib"
  programs 1 "$T/lib"
  ms=$(answer_ms)
  echo "answered after $ms ms"
  [ "$ms" -lt 1500 ]
  still_there
}

@test "libraries that are cut short while they are read" {
  begin
  mkdir "$T/lib"
  chown 65534 "$T/lib"
  many_symbols "$T/full"
  setpriv --reuid=65534 --regid=65534 --clear-groups sh -c "cd $T/lib; while :; do for i in 1 2 3; do cp $T/full libmpi.so.\$i; : >libmpi.so.\$i; rm libmpi.so.\$i; done; done" 3>&- &
  echo $! >>"$T/pids"
  for i in 1 2 3 4 5 6; do
    programs 5 "$T/lib:$T/./lib$i"
  done
  kill -0 "$DAEMON"
  still_there
}

@test "one directory of 500 libraries, 7,500 times" {
  begin
  mkdir "$T/lib"
  for i in $(seq 500); do : >"$T/lib/libmpi.so.$i"; done
  chown -R 65534 "$T/lib"
  programs 2 "$(for i in $(seq 3500); do printf '%s:' "$T/lib"; done)"
  ms=$(answer_ms)
  echo "answered after $ms ms"
  [ "$ms" -lt 1500 ]
  still_there
}

@test "a pipe of root's behind a library's name is not opened" {
  begin
  mkdir -m 700 "$T/roots"
  mkfifo "$T/roots/libmpi.so.12" "$T/roots/libhdf5.so.103"
  sh -c ": >$T/roots/libmpi.so.12; : >$T/released" 3>&- &
  echo $! >>"$T/pids"
  programs 2 "$T/roots:$T/roots/libmpi.so.12"
  job list >/dev/null
  [ ! -e "$T/released" ]
  # nor one of the user's own
  user mkfifo "$T/w/libmpi.so.12"
  setpriv --reuid=65534 --regid=65534 --clear-groups \
    sh -c ": >$T/w/libmpi.so.12; : >$T/w/released" 3>&- &
  echo $! >>"$T/pids"
  programs 2 "$T/w"
  job list >/dev/null
  [ ! -e "$T/w/released" ]
  still_there
}

@test "a directory of libraries whose server does not answer" {
  late_fs
  begin
  kill -STOP "$FS"
  programs 1 "$T/fs/real" &
  echo $! >>"$T/pids"
  longest=0
  for i in $(seq 30); do
    ms=$(answer_ms)
    [ "$ms" -le "$longest" ] || longest=$ms
    sleep 0.05
  done
  echo "longest wait for an answer: $longest ms"
  [ "$longest" -lt 900 ]
  kill -0 "$DAEMON"
}

@test "a library that is not read in time: its module is incomplete, and a later job has it read" {
  local id pid helpers
  mkdir "$T/lib"
  cp "$(ldconfig -p | awk '$1 == "libmpich.so.12" { print $NF; exit }')" "$T/lib/libmpich.so.12"
  chown 65534 "$T/lib/libmpich.so.12"
  printf 'library_cache = no\nuser_libraries = always\n' >>"$IOSCRIBE_CONFIG"
  begin
  programs 1 /nowhere
  until_true helpers_of_nobody
  helpers=$(helpers_of_nobody)
  for pid in $helpers; do kill -STOP "$pid"; done
  # who has kept the service waiting is not asked for a while
  for id in 1 2 3 4 5 6 7 8 9; do
    [ "$id" = 1 ] || job begin --job-id $id --uid 65534 --match-env JOBX=$id
    if [ "$id" = 2 ]; then
      # the library stays in use, and so probed, from one of the later programs to the next
      job begin --job-id 99 --uid 65534 --match-env JOBX=99
      setpriv --reuid=65534 --regid=65534 --clear-groups \
        env JOBX=99 IOSCRIBE_ENABLE=1 "LD_PRELOAD=$T/lib/libmpich.so.12" sleep 100 3>&- 4>&- &
      echo $! >>"$T/pids"
    fi
    user env JOBX=$id IOSCRIBE_ENABLE=1 "LD_LIBRARY_PATH=$T/lib" \
      "$IOSCRIBE_BUILD/tests/uprobes/mpich/mpiio_calls" f 3>&-
    log=$(job end $id --deadline 30 | tr ' ' '\n' | grep darshan)
    for pid in $helpers; do kill -CONT "$pid" 2>/dev/null || true; done
    "$IOSCRIBE" parse "$log" >/dev/null 2>"$T/said" && break
    cat "$T/said"
    # or it was, and had been called by then
    grep -qE "the MPI-IO module's data are incomplete, (libmpich.so.12 could not be looked into: it was not read in time|.*/lib/libmpich.so.12 was called before it was probed|a process that maps a library ended before it had been looked into)" "$T/said"
    sleep 2
  done
  [ "$id" -gt 1 ]
  [ "$(value "$log" MPIIO_BYTES_WRITTEN '/f$')" -eq 8444 ]
}

@test "who reads what users wrote may read, and nothing else" {
  begin
  programs 1 /lib
  job list >/dev/null
  checked=0
  for pid in $(helpers_of_nobody); do
    [ "$(awk '$1 == "Seccomp_filters:" { print $2 }' "/proc/$pid/status")" -ge 2 ]
    [ "$(awk '$1 == "CapEff:" { print $2 }' "/proc/$pid/status")" = 0000000000000000 ]
    checked=$((checked + 1))
  done
  [ "$checked" -ge 2 ]
  still_there
}

# of_status FIELD: of what the service tells root.
of_status() { "$IOSCRIBE" job status --timeout 60 | sed -n "s/^$1=//p" | head -n 1; }

# calls ID LIBRARIES FILE: two ranks of job ID with these libraries, which wait until they are probed; `log` is theirs.
calls() {
  job begin --job-id "$1" --uid 65534 --match-env "JOBX=$1"
  user env "JOBX=$1" IOSCRIBE_ENABLE=1 "LD_PRELOAD=$IOSCRIBE_BUILD/runtime/client/libioscribe.so" \
    "IOSCRIBE_SOCKET=$IOSCRIBE_DIR/socket" "LD_LIBRARY_PATH=$2" mpiexec.mpich -n 2 "$IOSCRIBE_BUILD/tests/uprobes/mpich/mpiio_calls" "$3" 3>&-
  log=$(job end "$1" --deadline 30 | tr ' ' '\n' | grep mpiio_calls)
}

are_exact() {
  "$IOSCRIBE" parse "$log" >/dev/null
  [ "$(value "$log" MPIIO_INDEP_WRITES "/$1\$")" -eq 10 ]
  [ "$(value "$log" MPIIO_COLL_WRITES "/$1\$")" -eq 4 ]
  [ "$(value "$log" MPIIO_BYTES_WRITTEN "/$1\$")" -eq 16888 ]
  [ "$(value "$log" LEDGER_F_LATE_PROCS)" -eq 0 ]
}

# libraries_of FOLDER...: a copy of MPICH's in each; the service probes those of $T/site.
libraries_of() {
  local mpich at
  mpich=$(ldconfig -p | awk '$1 == "libmpich.so.12" { print $NF; exit }')
  for at in "$@"; do
    mkdir "$T/$at"
    cp "$mpich" "$T/$at/libmpich.so.12"
  done
  printf 'library_cache = no\nlibrary_paths = %s:%s\ntrace_libraries = mpiio\nattach_linger_ms = 0\n' "$T/site" "$T/shared" >>"$IOSCRIBE_CONFIG"
}

@test "the site's libraries are probed once, when the service starts" {
  libraries_of site shared
  chmod 666 "$T/shared/libmpich.so.12"
  serve --verbose
  until_true grep -q "site/libmpich.so.12: [0-9]* places probed" "$IOSCRIBE_DIR/log"
  grep -q "$T/shared/libmpich.so.12 is not probed for all jobs: others than root may change it" "$IOSCRIBE_DIR/log"
  calls 1 "$T/site" site
  are_exact site
  calls 2 "$T/site" again
  are_exact again
  [ "$(grep -c "site/libmpich.so.12: [0-9]* places probed" "$IOSCRIBE_DIR/log")" -eq 1 ]
}

@test "libraries that are none of the site's are probed only where the site says so" {
  libraries_of site lib
  chown 65534 "$T/lib/libmpich.so.12"
  serve --verbose
  until_true grep -q "site/libmpich.so.12: [0-9]* places probed" "$IOSCRIBE_DIR/log"
  calls 1 "$T/lib" never
  ! "$IOSCRIBE" parse "$log" >/dev/null 2>"$T/said" || return 1
  grep "the MPI-IO module's data are incomplete, $T/lib/libmpich.so.12: it is none of the site's, and others are not probed (user_libraries)" "$T/said"
  ! grep -q "$T/lib/libmpich.so.12: [0-9]* places probed" "$IOSCRIBE_DIR/log" || return 1
  kill -INT "$DAEMON"
  gone "$DAEMON"
  echo 'user_libraries = always' >>"$IOSCRIBE_CONFIG"
  serve --verbose
  calls 2 "$T/lib" always
  are_exact always
}

@test "a copy of the runtime that is not the site's: a program that uses no MPI is whole, one that does is not" {
  printf 'trace_libraries = mpiio\nmpiio_wrap = yes\n' >>"$IOSCRIBE_CONFIG"
  unset IOSCRIBE_MPIIO_WRAP
  mkdir "$T/copy"
  cp "$IOSCRIBE_BUILD"/runtime/client/libioscribe*.so "$T/copy"
  chmod -R a+rX "$T/copy"
  serve
  job begin --job-id 1 --uid 65534 --match-env JOBX=1
  user env JOBX=1 IOSCRIBE_ENABLE=1 "IOSCRIBE_SOCKET=$IOSCRIBE_DIR/socket" "LD_PRELOAD=$T/copy/libioscribe-inside.so" \
    /usr/bin/python3 -c 'open("a", "w").write("x")' 3>&-
  log=$(job end 1)
  "$IOSCRIBE" parse "$log" >/dev/null
  job begin --job-id 2 --uid 65534 --match-env JOBX=2
  user env JOBX=2 IOSCRIBE_ENABLE=1 "IOSCRIBE_SOCKET=$IOSCRIBE_DIR/socket" "LD_PRELOAD=$T/copy/libioscribe-inside.so" \
    mpiexec.mpich -n 2 "$IOSCRIBE_BUILD/tests/uprobes/mpich/mpiio_calls" copied >/dev/null 3>&-
  log=$(job end 2 --deadline 30 | tr ' ' '\n' | grep mpiio_calls)
  ! "$IOSCRIBE" parse "$log" >/dev/null 2>"$T/said" || return 1
  grep "the MPI-IO module's data are incomplete, " "$T/said"
}

@test "a library that its user writes over in place while it is probed has lost its probes by then" {
  local mpich=$(ldconfig -p | awk '$1 == "libmpich.so.12" { print $NF; exit }') program=$IOSCRIBE_BUILD/tests/uprobes/mpich waits from
  mkdir "$T/lib"
  cp "$mpich" "$T/lib/libmpich.so.12"
  chown -R 65534 "$T/lib"
  printf 'library_cache = no\ntrace_libraries = mpiio\nuser_libraries = always\n' >>"$IOSCRIBE_CONFIG"
  serve --verbose
  job begin --job-id 1 --uid 65534 --match-env JOBX=1
  setpriv --reuid=65534 --regid=65534 --clear-groups env JOBX=1 IOSCRIBE_ENABLE=1 "LD_LIBRARY_PATH=$T/lib" \
    "$program/mpiio_waits" f "$T/w/go" 3>&- &
  waits=$!
  echo "$waits" >>"$T/pids"
  breakpoints() { "$IOSCRIBE_SOURCE/tests/service/breakpoints.py" "$waits" "$T/lib/libmpich.so.12"; }
  has_breakpoints() { [ "$(breakpoints)" -ge 50 ]; }
  until_true has_breakpoints
  from=$(date +%s%N)
  user dd "if=$mpich" "of=$T/lib/libmpich.so.12" conv=notrunc status=none
  echo "# written after $((($(date +%s%N) - from) / 1000000)) ms"
  [ "$(breakpoints)" -eq 0 ]
  user env "LD_LIBRARY_PATH=$T/lib" mpiexec.mpich -n 2 "$program/mpiio_calls" g 3>&-
  [ "$(breakpoints)" -eq 0 ]
  touch "$T/w/go"
  wait "$waits"
  log=$(job end 1 --deadline 30)
  ! "$IOSCRIBE" parse "$log" >/dev/null 2>"$T/said" || return 1
  grep "the MPI-IO module's data are incomplete, a library of its was opened for writing, and lost its probes" "$T/said"
  # the new one is read anew, and probed
  calls 2 "$T/lib" h
  are_exact h
}

# Stopped, and not in the middle of a turn of its loop.
stop_between_turns() {
  kill -STOP "$DAEMON"
  until_true grep -q '^State:.T' "/proc/$DAEMON/status"
  grep -qE '^(232|281|22) ' "/proc/$DAEMON/syscall" && return # epoll_wait, epoll_pwait
  kill -CONT "$DAEMON"
  return 1
}

looks_into() {
  local pid
  for pid in $(pgrep -x ioscribe-helper -P "$(pgrep -P "$DAEMON" -x ioscribe-spawn)"); do
    ! grep -qs process_vm_rw "/proc/$pid/stack" || return 0
  done
  return 1
}

# A process of job 1 is being looked into, and the page is one of the stopped server's.
hidden_page() {
  late_fs
  mkdir "$T/lib"
  cp "$(ldconfig -p | awk '$1 == "libmpi.so.40" { print $NF; exit }')" "$T/lib/libmpi.so.40"
  chown -R 65534 "$T/lib"
  printf 'library_cache = no\ntrace_libraries = mpiio\nuser_libraries = always\n' >>"$IOSCRIBE_CONFIG"
  serve --verbose
  job begin --job-id 1 --uid 65534 --match-env JOBX=1
  job list >/dev/null
  long=$(of_status turns_long)
  until_true stop_between_turns
  cp "$IOSCRIBE_SOURCE/tests/service/hidden_page.py" "$T" # a user may have no way to the sources
  setpriv --reuid=65534 --regid=65534 --clear-groups env JOBX=1 IOSCRIBE_ENABLE=1 \
    /usr/bin/python3 "$T/hidden_page.py" \
    "$T/lib/libmpi.so.40" "$T/fs/real/a" "$T/w/ready" 3>&- &
  loader=$!
  echo "$loader" >>"$T/pids"
  until_true test -e "$T/w/ready"
  kill -STOP "$FS"
  kill -CONT "$DAEMON"
  until_true looks_into
}

@test "whether a process has used a library stands in a page whose server does not answer: nobody waits in the daemon" {
  hidden_page
  until_true grep -q 'libmpi.so.40: was called before it was probed' "$IOSCRIBE_DIR/log"
  echo "long turns: $long, then $(of_status turns_long); longest $(of_status longest_turn_ms) ms"
  [ "$(of_status turns_long)" -eq "$long" ]
  kill -KILL "$loader" "$FS"
  umount -l "$T/fs"
  # what nobody could tell is not called whole
  log=$(job end 1 --deadline 0 | tr ' ' '\n' | grep darshan)
  run_it "$IOSCRIBE" parse "$log"
  [[ "$output" == *"the MPI-IO module's data are incomplete, $T/lib/libmpi.so.40 was called before it was probed"* ]]
}

@test "a job that ends while a process of it is being looked into: its log does not call the module whole" {
  hidden_page
  log=$(job end 1 --deadline 0 | tr ' ' '\n' | grep darshan)
  run_it "$IOSCRIBE" parse "$log"
  [[ "$output" == *"the MPI-IO module's data are incomplete"* ]]
  # and how long the log took is not the machine's age
  awk -F '\t' '$4 == "LEDGER_F_FINALIZE_TIME" { n++; bad += $5 >= 60 } END { exit !n || bad }' \
    <<<"$("$IOSCRIBE" parse --show-incomplete "$log")"
  kill -KILL "$loader" "$FS"
  umount -l "$T/fs"
}
