#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# A record goes on where it was when its file is closed and opened again, dupped, shared and forked, whichever
# way calls are counted: inside the program, by probes in the library, or some this way and some that.
load helper

mpi_way() {
  local set
  rm -rf "$T/w" && mkdir -p "$T/w/many"
  cd "$T/w"
  library_copy libmpich.so.12
  trace_options=()
  for set in "${@:2}"; do trace_options+=(--set "$set"); done
  trace mpiio mpiexec.hydra -n "$1" "$LIBPROG/mpich/mpiio_reopen" "$T/w"
  [ "$status" -eq 0 ]
  one_log
}

# switches RANKS: what tests/prog/mpiio_reopen.c does.
switches() {
  expect '/reopened$' MPIIO_RW_SWITCHES=$((6 * $1)) MPIIO_COLL_WRITES=$((3 * $1)) MPIIO_COLL_READS=$((3 * $1))
  expect '/mixed$' MPIIO_RW_SWITCHES=$((5 * $1)) MPIIO_NB_WRITES="$1" MPIIO_NB_READS="$1"
  expect '/twice$' MPIIO_RW_SWITCHES=$((5 * $1)) MPIIO_INDEP_WRITES=$((3 * $1)) MPIIO_INDEP_READS=$((3 * $1))
  expect '/odd$' MPIIO_RW_SWITCHES=0 MPIIO_INDEP_READS=$((2 * $1))
  expect '/even$' MPIIO_RW_SWITCHES=0 MPIIO_INDEP_WRITES=$((2 * $1))
  expect '' LEDGER_LIB_DROPPED=0 LEDGER_LIB_UNKNOWN=0
}

# Counters of a module that do not say when or how long.
plain() {
  "$IOSCRIBE" parse --base "$LOG" | awk -F '\t' -v m="$1" '
    $1 == m && $4 !~ /_F_|TIME|RANK/ { print $2, $6, $4, $5 }' | sort
}

@test "MPI-IO: switches go on over close and open; inside and probes agree" {
  mpi_way 2 mpiio_wrap=yes
  switches 2
  plain MPI-IO >"$T/inside"
  mpi_way 2 mpiio_wrap=no
  switches 2
  plain MPI-IO >"$T/probes"
  diff "$T/probes" "$T/inside"
}

@test "MPI-IO: 4,000 files, each opened twice" {
  mkdir many
  library_copy libmpich.so.12
  # 8,000 tables of bytes over time at once may outrun a daemon without a processor; the log says so, and is not asked here
  trace_options=(--set MOD_DISABLE=HEATMAP)
  trace mpiio "$LIBPROG/mpich/mpiio_reopen" "$T/w" many
  [ "$status" -eq 0 ]
  one_log
  switches 1
  expect '/many/' MPIIO_RW_SWITCHES=4000 MPIIO_INDEP_OPENS=8000 MPIIO_INDEP_READS=4000 MPIIO_INDEP_WRITES=4000
}

streams() {
  rm -rf "$T/w" && mkdir "$T/w"
  cd "$T/w"
  library_copy libc.so.6
  trace_options=("$@")
  trace stdio "$PROG/stdio_reopen"
  [ "$status" -eq 0 ]
  one_log
  expect '/reopened$' STDIO_OPENS=3 STDIO_WRITES=2 STDIO_READS=1 STDIO_BYTES_WRITTEN=200 STDIO_MAX_BYTE_WRITTEN=199 \
    STDIO_MAX_BYTE_READ=99
  expect '/first$' STDIO_OPENS=2 STDIO_BYTES_WRITTEN=50 STDIO_BYTES_READ=50 STDIO_MAX_BYTE_READ=49
  expect '/second$' STDIO_OPENS=1 STDIO_BYTES_WRITTEN=60 STDIO_MAX_BYTE_WRITTEN=59
  expect '/dupped$' STDIO_OPENS=2 STDIO_FDOPENS=1 STDIO_WRITES=3 STDIO_BYTES_WRITTEN=40 STDIO_MAX_BYTE_WRITTEN=39
  expect '/shared$' STDIO_BYTES_WRITTEN=300 STDIO_WRITES=3 STDIO_MAX_BYTE_WRITTEN=299
  expect '/started$' STDIO_BYTES_WRITTEN=200 STDIO_WRITES=2 STDIO_MAX_BYTE_WRITTEN=213
  expect '/threads$' STDIO_OPENS=3 STDIO_WRITES=4000 STDIO_BYTES_WRITTEN=200000 STDIO_MAX_BYTE_WRITTEN=99999
  # what two streams of one file take at the same time is time of the file once
  "$IOSCRIBE" parse --base "$LOG" | awk -F '\t' '
    $6 ~ /\/threads$/ { v[$4] = $5 }
    END { took = v["STDIO_F_WRITE_END_TIMESTAMP"] - v["STDIO_F_WRITE_START_TIMESTAMP"]
          print "writing", v["STDIO_F_WRITE_TIME"], "in", took
          exit !(v["STDIO_F_WRITE_TIME"] > 0 && v["STDIO_F_WRITE_TIME"] <= took + 0.001) }'
}

@test "streams: positions and times go on" {
  streams
}
