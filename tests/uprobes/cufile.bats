#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# cuFile by a library that stands in for it: the same symbols and types, no GPU.
load helper

# The program on two ranks, in $T/w, traced with $@; "all" is 3.5 MiB.
cufile() {
  local src=$BATS_TEST_DIRNAME/cufile
  mkdir -p "$T/lib" "$T/w"
  cc -O2 -fPIC -shared "$src/library.c" -o "$T/lib/libcufile.so.0" -Wl,-soname,libcufile.so.0
  cc -O2 -pthread "$src/program.c" "$T/lib/libcufile.so.0" -o "$T/program" -Wl,-rpath,"$T/lib"
  truncate -s 3670016 "$T/w/all"
  (cd "$T/w" && "$@" "$IOSCRIBE" run --quiet --force --log "$T/log.darshan" -- mpiexec.mpich -n 2 "$T/program")
  LOG=$T/log.darshan
}

# The summary's text without its line ends.
said() {
  tr -s ' \n' ' ' <"$T/summary" | grep -F "$1"
}

@test "cuFile: bytes by file and rank, past the kernel; asynchronous calls and batches without bytes" {
  cufile env
  "$IOSCRIBE" parse --all "$LOG" >"$T/text"
  expect '/w/all$' CUFILE_REGISTERS=2 CUFILE_READS=10 CUFILE_WRITES=0 CUFILE_BYTES_READ=7342032 \
    CUFILE_SIZE_READ_AGG_100K_1M=8 CUFILE_SIZE_READ_AGG_100_1K=2
  for rank in 0 1; do
    expect "/w/own$rank\$" CUFILE_REGISTERS=2 CUFILE_READS=1 CUFILE_BYTES_READ=1000 CUFILE_WRITES=4 \
      CUFILE_BYTES_WRITTEN=12388 CUFILE_ASYNC_READS=2 CUFILE_ASYNC_WRITES=1 CUFILE_BATCHED=3
  done
  [ "$(awk -F '\t' '$1 == "CUFILE" { print $2, $3 }' "$T/text" | sort -u | wc -l)" -eq 3 ]
  [ "$(awk -F '\t' '$1 == "POSIX" && $6 ~ /w\/(all|own.)$/ && $4 ~ /BYTES_/ { n += $5 } END { print n + 0 }' "$T/text")" -eq 0 ]
  awk -F '\t' '$1 == "CUFILE" && $6 ~ /all$/ { v[$4] = $5 } END {
    exit !(v["CUFILE_F_READ_TIME"] > 0 && v["CUFILE_F_READ_END_TIMESTAMP"] > v["CUFILE_F_READ_START_TIMESTAMP"] &&
           v["CUFILE_F_META_TIME"] > 0 && v["CUFILE_F_SLOWEST_RANK_TIME"] > 0 && v["CUFILE_SLOWEST_RANK_BYTES"] == 3671016) }' "$T/text"
  one_log
  "$IOSCRIBE" summary "$LOG" >"$T/summary"
  grep '^cuFile     3 files; read 7.0 MiB in 12 calls, wrote 24.2 KiB in 8 calls' "$T/summary"
  said "cuFile's own calls moved 7.0 MiB, none by system calls; of 12 asynchronous requests to it the bytes are not known"
}

@test "cuFile in its compatibility mode: the bytes are in POSIX, too" {
  cufile env CUFILE_FORCE_COMPAT_MODE=1
  expect '/w/all$' CUFILE_BYTES_READ=7342032
  expect '/w/all$' POSIX_BYTES_READ=7342032
  "$IOSCRIBE" summary "$LOG" >"$T/summary"
  said "cuFile's own calls moved 7.0 MiB, 7.0 MiB by system calls"
}
