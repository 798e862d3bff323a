#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# STDIO: streams found, their system calls credited once.
load helper

# What is the same in both ways of counting.
both_ways() {
  [ "$status" -eq 0 ]
  one_log
  expect '/writes$' STDIO_OPENS=2 STDIO_FDOPENS=0 STDIO_FLUSHES=2 STDIO_SEEKS=6 STDIO_BYTES_WRITTEN=71355 \
    STDIO_MAX_BYTE_WRITTEN=71334 STDIO_MAX_BYTE_READ=71334
  expect '/threads$' STDIO_OPENS=1 STDIO_BYTES_WRITTEN=64000 STDIO_MAX_BYTE_WRITTEN=63999
  expect '/forked$' STDIO_OPENS=1 STDIO_BYTES_WRITTEN=50 STDIO_FLUSHES=2 STDIO_MAX_BYTE_WRITTEN=49
  expect '/fdopened$' STDIO_OPENS=1 STDIO_FDOPENS=1 STDIO_WRITES=1 STDIO_BYTES_WRITTEN=9 POSIX_OPENS=1 \
    POSIX_WRITES=0
  expect '/first$' STDIO_OPENS=1 STDIO_BYTES_WRITTEN=1
  expect '/second$' STDIO_OPENS=1 STDIO_BYTES_WRITTEN=2 POSIX_FSYNCS=1 POSIX_OPENS=0 POSIX_WRITES=0
  expect '/by_exit$' STDIO_OPENS=1 STDIO_WRITES=1 STDIO_BYTES_WRITTEN=4
  # every descriptor but fdopen's was opened by stdio, and nothing is counted twice
  expect '^'"$T/w/" POSIX_OPENS=1 POSIX_READS=0 POSIX_WRITES=0 POSIX_BYTES_WRITTEN=0
  expect '' LEDGER_LIB_DROPPED=0 LEDGER_LIB_UNKNOWN=0
}

@test "streams are found, their system calls are STDIO's" {
  library_copy libc.so.6
  trace_options=(--set stdio_wrap=no)
  trace stdio "$PROG/stdio_calls"
  both_ways
  # four system calls of 4096 bytes and less read them; how writes are cut is glibc's affair
  [ "$(counter STDIO_BYTES_READ '/writes$')" -ge 611 ]
}

@test "fork, vfork, raw clone and SIGKILL in the middle of a stream, another program: found" {
  library_copy libc.so.6
  trace_options=(--set stdio_wrap=no)
  trace stdio "$PROG/stdio_forks"
  forks
  expect '/forks$' STDIO_WRITES=5 STDIO_MAX_BYTE_WRITTEN=89
}

@test "off: streams are POSIX's" {
  library_copy libc.so.6
  trace none "$PROG/stdio_calls"
  [ "$status" -eq 0 ]
  one_log
  [ "$(records STDIO)" -eq 0 ]
  expect '/threads$' POSIX_OPENS=1 POSIX_BYTES_WRITTEN=64000
}

@test "a library that is no library harms nothing" {
  library_copy libc.so.6
  printf 'not ELF' >"$T/lib/libmpi.so.40"
  head -c 3000 "$T/lib/libc.so.6" >"$T/lib/libmpich.so.12"
  trace stdio,mpiio "$PROG/stdio_calls"
  both_ways
}

