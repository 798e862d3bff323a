#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# A job on two nodes with a daemon each leaves one log of its MPI world, however
# it ends and whatever becomes of a daemon.

load nodes

finished() {
  find "$T/logs" -name '*.darshan'
}

# end_both: nothing is finished before the last node has ended the job.
end_both() {
  job 1 end --deadline 60 >"$T/printed.1"
  is "$(finished)" ""
  job 2 end --deadline 60 >"$T/printed"
}

# start_waiting [kept]: ranks that have come to wait for `go`, LAUNCHED is whose end to wait for.
start_waiting() {
  mpi 4 "$PROGRAM" waits "$@" &
  LAUNCHED=$!
  until_true test -e come.0 -a -e come.1 -a -e come.2 -a -e come.3
}

# after BYTES LOG: what each rank wrote after MPI_Finalize.
after() {
  local r
  for r in 0 1 2 3; do is "$(sum "$2" POSIX_BYTES_WRITTEN "/after.$r" "$r")" "$1"; done
}

@test "all ranks write one log together; both nodes' process tables and what came after MPI_Finalize are in it" {
  both
  mpi 4 "$PROGRAM" finalize || { cat "$T/out"; false; }
  end_both
  local log
  log=$(one_log)
  is "$(cat "$T/printed")" "$log"
  known "$log" 4 100000
  after 700 "$log"
  is "$(metadata "$log" finalize)" collective
  is "$(metadata "$log" nodes)" 2
  is "$(metadata "$log" missing_nodes)" ""
  is "$(hosts "$log")" "process:zoo1: process:zoo2:"
  is "$(parse "$log" | grep -c $'PROCESS_WAIT_STATUS\t')" 4
  is "$(parse "$log" | grep -c $'LEDGER_EVENTS\t')" 2
  is "$(stat -c '%a' "$log")" 400
}

@test "torchrun on two nodes: one log of each world, the restart's is another" {
  local n launched=()
  both
  ln -s "$IOSCRIBE_SOURCE/tests/launchers/launch.py" torchrun
  for n in 1 2; do
    "$T/launch" "10.77.0.$n" "exec env IOSCRIBE_ENABLE=1 IOSCRIBE_SOCKET=/run/ioscribe/socket ./torchrun --world a \
      --folder $T/w --nodes 2 --node $((n - 1)) --restarts 1" >"$T/out.$n" 2>&1 3>&- &
    launched+=($!)
  done
  for n in "${launched[@]}"; do wait "$n" || { cat "$T"/out.*; false; }; done
  end_both
  python3 "$IOSCRIBE_SOURCE/tests/launchers/launchers.py" "$IOSCRIBE_BUILD" --worlds a:0:4 a:1:4 --logs "$T"/logs/*
}

@test "the ranks of one node are killed, and the launcher ends the others" {
  both
  run mpi 4 "$PROGRAM" killed 2
  [ "$status" -ne 0 ]
  end_both
  local log
  log=$(one_log)
  known "$log" 4 100000
  is "$(metadata "$log" finalize)" deferred
  is "$(hosts "$log")" "process:zoo1: process:zoo2:"
}

@test "a daemon that is killed and comes back while the ranks go on" {
  stop_daemon 2
  daemon 2 --pin
  both
  start_waiting
  kill_daemon 2
  daemon 2 --pin
  touch go
  wait "$LAUNCHED" || { cat "$T/out"; false; }
  end_both
  local log
  log=$(one_log)
  known "$log" 4 200000
  after 700 "$log"
  is "$(hosts "$log")" "process:zoo1: process:zoo2:"
  stop_daemon 2
}

@test "a daemon that is killed and does not come back: its node is missing in the log that merge makes" {
  both
  start_waiting kept
  kill_daemon 2
  touch go
  # of ranks that end without MPI_Finalize the launcher may end the others, all of which have written by then
  wait "$LAUNCHED" || grep 'BAD TERMINATION' "$T/out" || { cat "$T/out"; false; }
  job 1 end --deadline 60 >/dev/null
  is "$(finished)" ""
  run "$IOSCRIBE" merge "$T"/logs/*.parts
  echo "$output"
  [ "$status" -eq 0 ]
  [[ ${lines[1]} == *"lacks what these nodes had: zoo2" ]]
  local log
  log=$(one_log)
  is "${lines[0]}" "$log"
  is "$(metadata "$log" missing_nodes)" zoo2
  is "$(header "$log" nprocs)" 4
  is "$(sum "$log" POSIX_BYTES_WRITTEN '/half\..$')" 400000
  is "$(ranks "$log" '/shared$')" "0 1"
  "$IOSCRIBE" parse "$log" 2>&1 | grep "POSIX module's data are incomplete"
}

@test "a node that is gone after all ranks had written their log together" {
  both
  mpi 4 "$PROGRAM" finalize || { cat "$T/out"; false; }
  until_true compgen -G "$T/logs/*.parts/*.zoo1.part" >/dev/null
  kill_daemon 1
  job 2 end --deadline 60 >/dev/null
  is "$(finished)" ""
  "$IOSCRIBE" merge "$T"/logs/*.parts
  local log
  log=$(one_log)
  known "$log" 4 100000
  is "$(metadata "$log" finalize)" collective
  is "$(metadata "$log" missing_nodes)" zoo1
  # its part of the world was there already; that it may have had more is said
  is "$(hosts "$log")" "process:zoo1: process:zoo2:"
}

@test "what is no MPI program on either node is one log, too" {
  both
  "$T/launch" 10.77.0.1 'IOSCRIBE_ENABLE=1 head -c 3000 /dev/zero >one' 3>&-
  "$T/launch" 10.77.0.1 'IOSCRIBE_ENABLE=1 exec dd if=/dev/zero of=both bs=1000 count=2 conv=notrunc' 2>/dev/null 3>&-
  "$T/launch" 10.77.0.2 'IOSCRIBE_ENABLE=1 exec dd if=/dev/zero of=both bs=1000 count=5 conv=notrunc' 2>/dev/null 3>&-
  end_both
  local log
  log=$(one_log)
  is "$(header "$log" nprocs)" 1
  is "$(sum "$log" POSIX_BYTES_WRITTEN '/both$')" 7000
  is "$(ranks "$log" '/both$')" 0
  is "$(hosts "$log")" "process:zoo1: process:zoo2:"
}

@test "nobody opted in: nothing is left; only one node did: its log comes with the other's end" {
  both
  "$T/launch" 10.77.0.1 'head -c 3000 /dev/zero >one'
  job 1 end --deadline 60
  job 2 end --deadline 60
  is "$(find "$T/logs" -mindepth 1)" ""
  JOB=${JOB}7
  begin 1 && begin 2
  "$T/launch" 10.77.0.2 'IOSCRIBE_ENABLE=1 exec dd if=/dev/zero of=both bs=1000 count=5' 2>/dev/null 3>&-
  job 2 end --deadline 60 >/dev/null
  is "$(finished)" ""
  job 1 end --deadline 60 >"$T/printed"
  local log
  log=$(one_log)
  is "$(cat "$T/printed")" "$log"
  is "$(sum "$log" POSIX_BYTES_WRITTEN '/both$')" 5000
}

@test "both nodes end at once, several times, under a name that the user gave" {
  local i n file=$T/logs/named.darshan
  for i in 1 2 3 4 5; do
    JOB=$JOB$i
    for n in 1 2; do begin "$n" "log_file=$file"; done
    for n in 1 2; do
      "$T/launch" "10.77.0.$n" 'IOSCRIBE_ENABLE=1 exec dd if=/dev/zero of=both bs=1000 count=5' 2>/dev/null 3>&-
    done
    job 1 end --deadline 60 >"$T/printed.1" &
    job 2 end --deadline 60 >"$T/printed.2"
    wait $!
    is "$(one_log)" "$file"
    is "$(sum "$file" POSIX_BYTES_WRITTEN '/both$')" 10000
  done
}

@test "what another user has put in the place of the parts is not touched: they come when the place is free" {
  chown 65534:65534 "$T/w"
  mkdir -m 777 "$T/logs/nobody_id$JOB.parts"
  chown 5:5 "$T/logs/nobody_id$JOB.parts"
  local n
  for n in 1 2; do
    begin "$n" --uid 65534
    "$T/launch" "10.77.0.$n" 'IOSCRIBE_ENABLE=1 exec setpriv --reuid=65534 --regid=65534 --clear-groups \
      dd if=/dev/zero of=both bs=1000 count=5 conv=notrunc' 2>/dev/null 3>&-
  done
  for n in 1 2; do job "$n" end --deadline 60 >/dev/null; done
  is "$(ls "$T/logs/nobody_id$JOB.parts")" ""
  rmdir "$T/logs/nobody_id$JOB.parts"
  until_true eval '[[ $(find "$T/logs" -mindepth 1 | tr "\n" " ") =~ ^[^\ ]*\.darshan\ $ ]]' || { ls -lR "$T/logs" "$T"/spool.*; false; }
  local log
  log=$(one_log)
  is "$(sum "$log" POSIX_BYTES_WRITTEN '/both$')" 10000
  is "$(stat -c %U "$log")" nobody
}

@test "with directories of the date, which users cannot make" {
  local n logs=$T/dated
  mkdir -p -m 755 "$logs"
  chown 65534:65534 "$T/w"
  for n in 1 2; do
    begin "$n" --uid 65534 "log_dir=$logs" log_layout=dated
    "$T/launch" "10.77.0.$n" 'IOSCRIBE_ENABLE=1 exec setpriv --reuid=65534 --regid=65534 --clear-groups \
      sh -c "dd if=/dev/zero of=both bs=1000 count=5 conv=notrunc"' 2>/dev/null 3>&-
  done
  job 1 end --deadline 60 >/dev/null
  is "$(find "$logs" -name '*.darshan')" ""
  job 2 end --deadline 60 >"$T/printed"
  is "$(find "$logs" -type f)" "$(cat "$T/printed")"
  [[ $(cat "$T/printed") == "$logs"/2*/*/*/*.darshan ]]
  is "$(sum "$(cat "$T/printed")" POSIX_BYTES_WRITTEN '/both$')" 10000
}
