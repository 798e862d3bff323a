#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# However a program ends: one finished log, all its I/O, how it ended, its code.
load helper

# dies WAY CODE END_KIND WAIT_STATUS
ends() {
  trace "$PROG/dies" $1
  [ "$status" -eq "$2" ]
  one_log
  expect POSIX_OPENS 1 half
  expect POSIX_WRITES 100 half
  expect POSIX_BYTES_WRITTEN 100000 half
  expect POSIX_READS 1 half
  expect POSIX_BYTES_READ 500 half
  expect POSIX_MAX_BYTE_WRITTEN 99999 half
  expect PROCESS_END_KIND "$3"
  expect PROCESS_WAIT_STATUS "$4"
}

@test "exit 0" {
  ends "exit 0" 0 1 0
}

@test "exit 7: the code comes through" {
  ends "exit 7" 7 1 $((7 << 8))
}

@test "_exit in the middle" {
  ends _exit 5 1 $((5 << 8))
}

@test "raw exit_group" {
  ends raw 6 1 $((6 << 8))
}

@test "abort: 128 + signal" {
  ends abort 134 2 6
}

@test "SIGKILL by itself" {
  ends kill 137 2 9
}

@test "SIGSEGV" {
  ends segv 139 2 11
}

@test "SIGKILL from outside, half way" {
  "$IOSCRIBE" run --quiet --force --log "$LOG" -- "$PROG/dies" hang 3>&- &
  local run=$! victim="" i
  for i in $(seq 1 100); do
    victim=$(pgrep -x -f "$PROG/dies hang" | head -n 1) || true
    [ -n "$victim" ] && [ "$(stat -c %s half 2>/dev/null || echo 0)" -eq 100000 ] && break
    sleep 0.1
  done
  [ -n "$victim" ]
  sleep 0.2
  kill -KILL "$victim"
  local code=0
  wait "$run" || code=$?
  [ "$code" -eq 137 ]
  one_log
  expect POSIX_BYTES_WRITTEN 100000 half
  expect POSIX_BYTES_READ 500 half
  expect PROCESS_WAIT_STATUS 9
}

@test "a child that outlives the command is waited for or said to be running" {
  trace sh -c "$PROG/dies exit & exec $PROG/dies exit 3"
  [ "$status" -eq 3 ]
  one_log
  expect POSIX_BYTES_WRITTEN 200000 half
}

@test "a signal to ioscribe run reaches the command, and there is a log" {
  "$IOSCRIBE" run --quiet --force --log "$LOG" -- "$PROG/dies" hang 3>&- &
  local run=$! i
  for i in $(seq 1 100); do
    [ "$(stat -c %s half 2>/dev/null || echo 0)" -eq 100000 ] && break
    sleep 0.1
  done
  sleep 0.3
  kill -TERM "$run"
  local code=0
  wait "$run" || code=$?
  [ "$code" -eq 143 ]
  one_log
  expect POSIX_BYTES_WRITTEN 100000 half
  expect PROCESS_WAIT_STATUS 15
}

@test "a command that does not exist: 127, one line, nothing left" {
  trace /no/such/program
  [ "$status" -eq 127 ]
  [ "${#lines[@]}" -eq 1 ]
  [[ $output == *"/no/such/program"* ]]
}

@test "not root: one clear line, the command is not started" {
  chmod 777 "$T" "$T/w"
  run setpriv --reuid=65534 --regid=65534 --clear-groups "$IOSCRIBE" run --force --log "$LOG" -- touch "$T/w/started"
  echo "$output"
  [ "$status" -eq 1 ]
  [ "${#lines[@]}" -eq 1 ]
  [[ $output == *root* ]]
  [ ! -e "$T/w/started" ]
}

@test "standard output, error and environment of the command are as untraced" {
  run sh -c "'$IOSCRIBE' run --quiet --force --log '$LOG' -- sh -c 'echo out; echo err >&2; pwd; id -u' 2>'$T/err'"
  [ "${lines[0]}" = out ]
  [ "${lines[1]}" = "$T/w" ]
  [ "${lines[2]}" = 0 ]
  [ "$(cat "$T/err")" = err ]
}

@test "a log that takes longer than a minute to build is waited for" {
  "$IOSCRIBE" run --quiet --force --dxt --log "$LOG" -- dd if=/dev/zero of=file bs=1 count=1000000 status=none 3>&- &
  local run=$! daemon copy="" p
  until daemon=$(pgrep -x -P "$run" ioscribed); do kill -0 "$run"; done
  # the daemon's child that has the log's memory file is its copy, which builds the log
  until [ -n "$copy" ]; do
    for p in $(pgrep -P "$daemon"); do
      ! readlink /proc/$p/fd/* 2>/dev/null | grep -q ioscribe-log || copy=$p
    done
    kill -0 "$run"
  done
  kill -STOP "$copy"
  sleep 65
  kill -CONT "$copy"
  wait "$run"
  one_log
  expect POSIX_BYTES_WRITTEN 1000000 file
}
