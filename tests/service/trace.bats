#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# ioscribe trace: windows on a running job, compared with the program's own stamps.
load helper

PACED=$IOSCRIBE_BUILD/tests/mpi/mpich/mpi_paced

# Four ranks of nobody's without the runtime, which run until `enough`.
paced() {
  export IOSCRIBE_MPIIO_WRAP=no
  serve "${service_options[@]}"
  job begin --job-id 71 --uid 65534 --match-env JOBX=71 "$@"
  user env JOBX=71 IOSCRIBE_ENABLE=1 HOME="$T/w" mpiexec.mpich -n 4 "$PACED" >"$T/out" 2>&1 3>&- &
  MPI=$!
  echo "$MPI" >>"$T/pids"
  until_true test -e "$T/w/running.0" -a -e "$T/w/running.1" -a -e "$T/w/running.2" -a -e "$T/w/running.3"
}

enough() {
  user touch "$T/w/enough"
  wait "$MPI"
  job end --job-id 71 --deadline 60 | grep mpi_paced >"$T/final"
  "$IOSCRIBE" parse --base "$(cat "$T/final")" >"$T/final.txt"
}

trace() {
  user "$IOSCRIBE" trace --job 71 "$@"
}

is_open() {
  job show 71 | grep -qx windows=1
}

# window LOG RANKS [FILES]: sets SEGMENTS, BEGIN, END (ns).
window() {
  local words
  words=$(python3 "$IOSCRIBE_SOURCE/tests/service/window.py" "$IOSCRIBE" "$1" "$T/w" "${@:2}") || { echo "$words"; return 1; }
  read -r SEGMENTS BEGIN END <<<"$words"
}

# What the job's own log says is what the program did, and it has no segments.
final_is_exact() {
  local f
  for f in own.0 own.3 shared; do
    [ "$(value "$(cat "$T/final")" POSIX_BYTES_WRITTEN "/w/$f\$")" = \
      "$(cat "$T"/w/stamps.? | awk -v f="$f" '$1 == f && $2 == "write" { n += $4 } END { print n }')" ]
  done
  ! grep -q 'DXT_POSIX module' "$T/final.txt" || return 1
  ! "$IOSCRIBE" dxt "$(cat "$T/final")" | grep -q X_POSIX
}

@test "two seconds of a running MPI job, by its owner: these segments exactly; the job's own log is as ever" {
  paced
  trace --seconds 2 --output w.darshan >"$T/said"
  [ "$(cat "$T/said")" = w.darshan ]
  [ "$(stat -c '%u %F' w.darshan)" = "65534 regular file" ]
  enough
  window w.darshan 0,1,2,3
  [ "$((END - BEGIN))" -eq 2000000000 ]
  # files that were open before, and some that were made and gone within
  "$IOSCRIBE" dxt w.darshan >"$T/dxt"
  grep -q 'file_name: .*/w/own.2' "$T/dxt"
  grep -q 'file_name: .*/w/late.1' "$T/dxt"
  "$IOSCRIBE" parse --base w.darshan >"$T/text"
  grep -q "^# exe: .*mpi_paced" "$T/text"
  grep -qP "\tLEDGER_SEGMENTS\t$SEGMENTS\t" "$T/text"
  final_is_exact
  grep -qE "^# metadata: window_1 = begin [0-9.]+ end [0-9.]+ segments $SEGMENTS$" "$T/final.txt"
}

@test "the same of ranks with the runtime preloaded: MPI-IO as the programs have counted it" {
  serve
  user "$IOSCRIBE" run -q --force --log "$T/logs/r.darshan" -- bash -c '
    echo $$ >pid.tmp; mv pid.tmp pid
    exec mpiexec.mpich -n 2 "$0"' "$PACED" >"$T/out" 2>&1 3>&- &
  local runs=$!
  echo "$runs" >>"$T/pids"
  until_true test -e "$T/w/running.0" -a -e "$T/w/running.1"
  user "$IOSCRIBE" trace --job "$(cat pid)" --seconds 1 -o w.darshan
  user touch enough
  wait "$runs"
  window w.darshan 0,1
  "$IOSCRIBE" dxt w.darshan | grep -q X_MPIIO
  ! "$IOSCRIBE" dxt "$T/logs/r.darshan" | grep -q 'X_MPIIO\|X_POSIX'
}

@test "windows that overlap, of some ranks, of some files; one that is ended, one that is interrupted" {
  paced
  trace --seconds 2 --output all.darshan 3>&- &
  local all=$!
  trace --seconds 1 --rank 1,3 --output ranks.darshan 3>&- &
  local ranks=$!
  wait "$ranks"
  trace --seconds 0.5 --file '*/w/late.*' --output files.darshan
  wait "$all"
  trace --seconds 600 --output stopped.darshan 3>&- &
  local stopped=$!
  echo "$stopped" >>"$T/pids"
  until_true trace --stop
  wait "$stopped"
  until_true sh -c '"$IOSCRIBE" job show 71 | grep -qx windows=0'
  setpriv --reuid=65534 --regid=65534 --clear-groups "$IOSCRIBE" trace --job 71 --seconds 600 --output cut.darshan 3>&- &
  local cut=$!
  echo "$cut" >>"$T/pids"
  until_true is_open
  kill -INT "$cut"
  wait "$cut"
  enough
  window all.darshan 0,1,2,3
  window ranks.darshan 1,3
  window files.darshan 0,1,2,3 '^late'
  [ "$SEGMENTS" -gt 0 ]
  window stopped.darshan 0,1,2,3
  window cut.darshan 0,1,2,3
  final_is_exact
  [ "$(grep -c '^# metadata: window_[1-5] = begin' "$T/final.txt")" -eq 5 ]
}

@test "a job that ends within the window ends it" {
  paced
  trace --seconds 600 --output w.darshan 3>&- &
  local waits=$!
  echo "$waits" >>"$T/pids"
  until_true is_open
  enough
  wait "$waits"
  window w.darshan 0,1,2,3
  final_is_exact
  "$IOSCRIBE" parse --base w.darshan | grep -q "^# exe: .*mpi_paced"
  # these and the writing of the stamps
  SEGMENTS=$("$IOSCRIBE" parse --base w.darshan | awk -F '\t' '$4 == "LEDGER_SEGMENTS" { print $5 }')
  grep -qE "^# metadata: window_1 = begin [0-9.]+ end [0-9.]+ segments $SEGMENTS$" "$T/final.txt"
}

@test "who may not, what is not there, and places that are taken: one line each, before anything begins" {
  paced
  run_it setpriv --reuid=54321 --regid=54321 --clear-groups "$IOSCRIBE" trace --job 71 --seconds 1 -o /tmp/no.darshan
  [ "$status" -eq 1 ]
  [ "$output" = "ioscribe trace: no job 71 here" ]
  run_it trace --stop
  [ "$status" -eq 1 ]
  [ "$output" = "ioscribe trace: no window is open on this job" ]
  run_it user "$IOSCRIBE" trace --job 72 --seconds 1
  [ "$output" = "ioscribe trace: no job 72 here" ]
  user touch here.darshan
  run_it trace --seconds 1 -o here.darshan
  [ "$status" -eq 1 ]
  [ "$output" = "ioscribe trace: here.darshan: File exists (--force replaces it)" ]
  trace --seconds 0.1 --force -o here.darshan
  [ -s here.darshan ]
  run_it trace --seconds 1 -o "$T/no.darshan"
  [ "$output" = "ioscribe trace: no log can be written to $T/: Permission denied" ]
  run_it trace --seconds 1 --rank 1-
  [ "$status" -eq 2 ]
  run_it trace
  [ "$output" = "ioscribe trace: --seconds N is needed, or --stop" ]
  enough
  run_it trace --seconds 1
  [[ "$output" = "ioscribe trace: "*"71"* ]]
  IOSCRIBE_DIR=$T/none run_it trace --seconds 1
  [ "$output" = "ioscribe trace: no service at $T/none: only jobs that it traces can be asked for" ]
}

@test "who does not take the log of his window gets no file of the daemon's, and holds no memory once he is disconnected" {
  paced
  cp "$IOSCRIBE_SOURCE/tests/service/unread.py" "$T" # a user may have no way to the sources
  coproc UNREAD { user /usr/bin/python3 "$T/unread.py" "$IOSCRIBE_DIR/socket" 71 100; }
  echo "$UNREAD_PID" >>"$T/pids"
  read -r bytes descriptors <&"${UNREAD[0]}"
  [ "$bytes" -gt 0 ]
  [ "$descriptors" -eq 0 ]
  holds_none() { ! ls -l "/proc/$DAEMON/fd" | grep ioscribe-window; }
  until_true holds_none
  enough
}

@test "a daemon that dies takes a window along, which is said; the next one has new windows, and the job's log is whole" {
  service_options=(--pin)
  paced
  trace --seconds 600 --output w.darshan >"$T/said" 2>&1 3>&- &
  local waits=$!
  echo "$waits" >>"$T/pids"
  until_true is_open
  kill -KILL "$DAEMON"
  gone "$DAEMON"
  status=0
  wait "$waits" || status=$?
  [ "$status" -eq 1 ]
  [ "$(cat "$T/said")" = "ioscribe trace: the daemon has gone, and the window with it" ]
  [ ! -e w.darshan ]
  serve --pin
  trace --seconds 0.5 --output again.darshan
  enough
  window again.darshan 0,1,2,3
  final_is_exact
}

@test "a run that has joined the service is asked for by its command's process id" {
  serve
  user "$IOSCRIBE" run -q --force --log "$T/logs/r.darshan" -- bash -c '
    echo $$ >pid.tmp; mv pid.tmp pid
    while [ ! -e enough ]; do echo x >>grows; sleep 0.01; done' 3>&- &
  local runs=$!
  echo "$runs" >>"$T/pids"
  until_true test -s pid
  user "$IOSCRIBE" trace --job "$(cat pid)" --seconds 1 -o w.darshan
  run_it setpriv --reuid=54321 --regid=54321 --clear-groups \
    "$IOSCRIBE" trace --job "$(cat pid)" --seconds 1 -o /tmp/no.darshan
  [ "$output" = "ioscribe trace: no job $(cat pid) here" ]
  user touch enough
  wait "$runs"
  "$IOSCRIBE" dxt w.darshan | grep -q 'file_name: .*/w/grows'
  "$IOSCRIBE" parse --base "$T/logs/r.darshan" | grep -qE '^# metadata: window_1 = begin [0-9.]+ end [0-9.]+ segments [1-9]'
}
