#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# io_uring, by file. (fio's engine: tests/oracle.)
load helper

@test "io_uring: open, write, read, sync, allocate and close through the ring" {
  trace "$PROG/uring" plain
  [ "$status" -eq 0 ]
  one_log
  expect POSIX_OPENS 1 plain
  expect POSIX_WRITES 7 plain
  expect POSIX_BYTES_WRITTEN $((5 * 4096 + 1600)) plain
  expect POSIX_READS 3 plain
  expect POSIX_BYTES_READ $((8192 + 1500 + 50)) plain
  expect POSIX_MAX_BYTE_WRITTEN 61499 plain
  expect POSIX_MAX_BYTE_READ 99999 plain
  expect POSIX_CONSEC_WRITES 4 plain
  expect POSIX_FSYNCS 1 plain
  expect POSIX_FDSYNCS 1 plain
  expect POSIX_EXT_URING_OPS 10 plain
  expect POSIX_EXT_CREATES 1 plain
  expect POSIX_EXT_FALLOCATES 1 plain
  expect POSIX_EXT_FAILED_DATA 1 plain
  expect POSIX_EXT_CLOSES 1 plain
  expect LEDGER_URING_LOST 0
  [ "$(counter LEDGER_URING_SUBMITTED)" -eq "$(counter LEDGER_URING_COMPLETED)" ]
}

@test "io_uring: direct descriptors, registered buffers, forced threads" {
  trace "$PROG/uring" direct
  [ "$status" -eq 0 ]
  one_log
  expect POSIX_WRITES 8 direct
  expect POSIX_BYTES_WRITTEN 16384 direct
  expect POSIX_READS 1 direct
  expect POSIX_BYTES_READ 8192 direct
  expect POSIX_MAX_BYTE_WRITTEN 16383 direct
  expect POSIX_EXT_URING_OPS 9 direct
  expect LEDGER_URING_DIRECT_OPEN 1
  expect LEDGER_URING_LOST 0
}

@test "io_uring: what completes without saying so is in the ledger" {
  trace "$PROG/uring" skip
  [ "$status" -eq 0 ]
  one_log
  local submitted completed writes
  submitted=$(counter LEDGER_URING_SUBMITTED)
  completed=$(counter LEDGER_URING_COMPLETED)
  writes=$(counter POSIX_WRITES skip)
  echo "submitted $submitted completed $completed recorded $writes"
  [ "$submitted" -eq 40 ]
  [ "$completed" -eq "$writes" ]
  [ "$writes" -ge 10 ]
  expect LEDGER_URING_UNMATCHED $((submitted - completed))
  "$IOSCRIBE" summary "$LOG" | grep -q '^ledger .*NOT complete'
}

@test "io_uring: many in flight" {
  trace "$PROG/uring" many
  [ "$status" -eq 0 ]
  one_log
  expect POSIX_WRITES 3200 many
  expect POSIX_BYTES_WRITTEN $((3200 * 512)) many
  expect POSIX_EXT_URING_OPS 3200 many
  expect LEDGER_URING_LOST 0
  expect LEDGER_URING_UNMATCHED 0
}
