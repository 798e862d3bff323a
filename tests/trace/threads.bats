#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Many threads and processes: counts and bytes exact, time not counted twice.
load helper

eight() {
  trace "$PROG/threads8" "$1" 2
  [ "$status" -eq 0 ]
  one_log
  local reads writes bytes_read bytes_written
  read -r reads writes bytes_read bytes_written <<<"$output"
  [ "$writes" -gt 1000 ]
  echo "# $1: $writes writes, $reads reads" >&3
  expect POSIX_READS "$reads" eight
  expect POSIX_WRITES "$writes" eight
  expect POSIX_BYTES_READ "$bytes_read" eight
  expect POSIX_BYTES_WRITTEN "$bytes_written" eight
  # Every operation is in one size bucket.
  [ "$(counter 'POSIX_SIZE_READ_0_100' eight)" -le "$reads" ]
  local sum
  sum=$("$IOSCRIBE" parse --base "$LOG" | awk -F '\t' '$4 ~ /^POSIX_SIZE_WRITE/ && $6 ~ /eight/ { s += $5 } END { print s + 0 }')
  [ "$sum" = "$writes" ]
  # Overlap is counted once: no class can take longer than the run.
  "$IOSCRIBE" parse --base "$LOG" | awk -F '\t' '
    /^# run time:/ { split($0, word, ": "); longest = word[2] }
    $4 ~ /^POSIX_F_(READ|WRITE)_TIME$/ && $6 ~ /eight/ { n++; if ($5 <= 0 || $5 > longest) { print $4, $5, longest; bad = 1 } }
    END { exit bad || n != 2 }'
  ! grep -q 'incomplete' "$T/parsed" || return 1
  expect LEDGER_DROP_NO_SLOT 0
}

@test "8 threads, pread and pwrite on one file" {
  eight positioned
}

@test "8 threads, read and write on one description" {
  eight shared
}

@test "8 threads appending to one file" {
  eight append
  local size
  size=$(stat -c %s eight)
  expect POSIX_MAX_BYTE_WRITTEN $((size - 1)) eight
}

@test "10,000 short-lived threads on 100 files" {
  trace "$PROG/short_threads" 10000
  [ "$status" -eq 0 ]
  one_log
  local opens writes bytes
  read -r opens writes bytes <<<"$output"
  expect POSIX_OPENS "$opens" /short
  expect POSIX_WRITES "$writes" /short
  expect POSIX_READS 10000 /short
  expect POSIX_BYTES_WRITTEN "$bytes" /short
  expect POSIX_EXT_CLOSES 10000 /short
  expect LEDGER_DROP_NO_SLOT 0
  expect LEDGER_DROP_STORAGE 0
  [ "$("$IOSCRIBE" parse --base "$LOG" | awk -F '\t' '$4 == "POSIX_OPENS" && $6 ~ /short/' | wc -l)" -eq 100 ]
}

@test "process numbers used again: 3,000 processes in a namespace of 400" {
  trace unshare --pid --fork --mount-proc sh -c "echo 400 >/proc/sys/kernel/pid_max && exec $PROG/many_procs 3000"
  [ "$status" -eq 0 ]
  one_log
  local opens writes bytes wrapped
  read -r opens writes bytes wrapped <<<"$output"
  [ "$wrapped" -gt 3 ]
  expect POSIX_OPENS "$opens" '/p[0-9]+$'
  expect POSIX_WRITES "$writes" '/p[0-9]+$'
  expect POSIX_BYTES_WRITTEN "$bytes" '/p[0-9]+$'
  expect LEDGER_DROP_NO_PROC 0
}
