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
  expect POSIX_OPENS 1 direct
  expect POSIX_EXT_CLOSES 1 direct
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

@test "io_uring: writes that append stand where the bytes landed" {
  trace_options=(--dxt)
  trace "$PROG/uring_order" append
  [ "$status" -eq 0 ]
  one_log
  expect POSIX_MAX_BYTE_WRITTEN 1349 plain
  expect POSIX_CONSEC_WRITES 4 plain
  expect POSIX_MAX_BYTE_WRITTEN 599 appends
  expect POSIX_CONSEC_WRITES 2 appends
  "$IOSCRIBE" dxt "$LOG" | awk '/file_name/ { f = $NF } $3 == "write" { print f, $5 }' | sed 's,.*/,,' | sort -V >"$T/offsets"
  diff "$T/offsets" - <<X
appends 0
appends 200
appends 400
plain 0
plain 1000
plain 1100
plain 1200
plain 1300
X
}

@test "io_uring: each step of a chain is of the file that it is at that step" {
  trace "$PROG/uring_order" chain
  [ "$status" -eq 0 ]
  one_log
  for of in first:1000 second:2000 third:300 fourth:0; do
    expect POSIX_OPENS 1 "${of%:*}"
    expect POSIX_MODE 416 "${of%:*}"
    expect POSIX_EXT_CREATES 1 "${of%:*}"
    expect POSIX_EXT_CLOSES 1 "${of%:*}"
    expect POSIX_BYTES_WRITTEN "${of#*:}" "${of%:*}"
    expect POSIX_EXT_FAILED_DATA 0 "${of%:*}"
  done
  "$IOSCRIBE" summary "$LOG" | grep -q '^ledger *complete'
}

@test "io_uring: direct descriptors are opened and closed" {
  trace "$PROG/uring_order" direct
  [ "$status" -eq 0 ]
  one_log
  for of in chosen:500:416 given:0:384; do
    IFS=: read -r name bytes mode <<<"$of"
    expect POSIX_OPENS 1 "$name"
    expect POSIX_MODE "$mode" "$name"
    expect POSIX_EXT_CREATES 1 "$name"
    expect POSIX_EXT_CLOSES 1 "$name"
    expect POSIX_BYTES_WRITTEN "$bytes" "$name"
  done
  expect LEDGER_URING_DIRECT_OPEN 2
  expect LEDGER_URING_LOST 0
}

@test "io_uring: what waits when the program ends is no loss" {
  trace "$PROG/uring_order" pending
  [ "$status" -eq 0 ]
  one_log
  expect POSIX_READS 0 loop
  expect POSIX_BYTES_WRITTEN 300 loop
  expect LEDGER_URING_UNMATCHED 0
  "$IOSCRIBE" summary "$LOG" | grep -q '^ledger *complete'
}

@test "io_uring: commands to a device are named, because their bytes are not counted" {
  trace "$PROG/uring" passthrough
  [ "$status" -eq 0 ]
  one_log
  "$IOSCRIBE" summary "$LOG" | grep '^bypass     io_uring passthrough in 1 rank'
  trace "$PROG/uring" plain
  ! "$IOSCRIBE" summary "$LOG" | grep '^bypass'
}
