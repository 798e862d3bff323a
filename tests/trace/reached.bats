#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# A path is the file that it leads to; a descriptor is the description that it is now; a loss is what would have counted.
load helper

complete() {
  "$IOSCRIBE" summary "$LOG" | grep -q '^ledger *complete' || { "$IOSCRIBE" summary "$LOG"; return 1; }
}

@test "paths: through /proc/PID/fd, cwd and root, and /dev/fd: the file that they lead to" {
  trace "$PROG/paths_reached" links
  [ "$status" -eq 0 ]
  one_log
  expect POSIX_STATS 13 stat.dat
  expect POSIX_EXT_ACCESSES 1 stat.dat
  expect POSIX_EXT_TRUNCATES 1 cut.dat
  expect POSIX_RENAME_SOURCES 1 exe.dat
  expect POSIX_RENAME_TARGETS 1 other.dat
  complete
}

@test "paths: read before the call writes over them" {
  trace "$PROG/paths_reached" over
  [ "$status" -eq 0 ]
  one_log
  expect POSIX_EXT_READLINKS 2 over.link
  expect POSIX_EXT_XATTR_READS 2 over.dat
  expect POSIX_STATS 4 over.dat
  expect POSIX_EXT_STATFS 1 over.dat
  complete
}

@test "paths: what is excluded is the file that is reached" {
  trace "$PROG/paths_reached" excluded
  [ "$status" -eq 0 ]
  one_log
  expect POSIX_STATS 1 in.dat
  [ "$(counter POSIX_STATS)" -eq 1 ]
  complete
}

@test "descriptors: two processes with one table: each call is of the file that the number then is" {
  trace "$PROG/paths_reached" shared
  [ "$status" -eq 0 ]
  one_log
  expect POSIX_BYTES_WRITTEN 10 before.dat
  expect POSIX_BYTES_WRITTEN 19 after.dat
  complete
}

@test "losses: msync of memory without a file is none" {
  trace "$PROG/paths_reached" anonymous
  [ "$status" -eq 0 ]
  one_log
  expect LEDGER_NAME_UNREADABLE 0
  complete
}

@test "libaio: appends of one list stand behind one another; what waits at the end is no loss" {
  trace_options=(--dxt)
  trace "$PROG/paths_reached" aio
  [ "$status" -eq 0 ]
  one_log
  expect POSIX_MAX_BYTE_WRITTEN 151 one.dat
  expect POSIX_MAX_BYTE_WRITTEN 55 two.dat
  expect POSIX_CONSEC_WRITES 4 one.dat
  expect POSIX_CONSEC_WRITES 3 two.dat
  expect POSIX_MAX_BYTE_WRITTEN 1028 three.dat
  expect POSIX_CONSEC_WRITES 1 three.dat
  expect POSIX_EXT_AIO_OPS 5 one.dat
  expect LEDGER_AIO_UNMATCHED 0
  complete
}

@test "losses: a hundred programs that end in the middle of their event loop lose nothing, and no log says so" {
  local name bytes
  trace bash -c 'for seed in $(seq 100); do "$1" $seed; done 2>/dev/null; exit 0' bash "$PROG/event_loop"
  [ "$(grep -c '^loop' <<<"$output")" -eq 100 ]
  one_log
  while read -r name bytes; do
    expect POSIX_BYTES_WRITTEN "$bytes" "/$name$"
  done < <(grep '^loop' <<<"$output" | head -n 20)
  [ "$(counter POSIX_BYTES_WRITTEN)" -eq "$(awk '/^loop/ { n += $2 } END { print n }' <<<"$output")" ]
  complete
  trace /usr/bin/python3 -c '
import asyncio, os

async def main():
    ends = [os.pipe() for _ in range(10)]
    for read, _ in ends:
        asyncio.get_running_loop().add_reader(read, print)
    await asyncio.to_thread(lambda: open("threaded", "w").write("x" * 100))
    asyncio.get_running_loop().call_later(3600, print)
    await asyncio.sleep(0.1)
    os._exit(0)

asyncio.run(main())'
  [ "$status" -eq 0 ]
  one_log
  complete
}
