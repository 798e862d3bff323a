#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# MPI-IO with the runtime preloaded: calls are counted inside the program, and the MPI library
# has no probes (tests/prog/mpiio_ways.c).
load helper

# ways MPI WAY: a traced run of one process.
ways() {
  local mpi=$1 way=$2 name=libmpich.so.12
  [ "$mpi" = mpich ] || name=libmpi.so.40
  library_copy "$name"
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  trace mpiio "$LIBPROG/$mpi/mpiio_ways" "$way" "$T/w/f" "$name"
}

# written N: so many writes of 8 bytes, by MPI-IO and beneath it.
written() {
  expect '/f$' MPIIO_INDEP_WRITES="$1" MPIIO_BYTES_WRITTEN=$((8 * $1)) MPIIO_ACCESS1_ACCESS=8 \
    MPIIO_ACCESS1_COUNT="$1" MPIIO_SIZE_WRITE_AGG_0_100="$1" MPIIO_INDEP_OPENS=2 \
    LAYERS_MPIIO_BENEATH_WRITTEN=$((8 * $1)) LAYERS_POSIX_BYTES_WRITTEN=$((8 * $1))
  expect '' LEDGER_LIB_DROPPED=0 LEDGER_LIB_UNKNOWN=0 LEDGER_LIB_SIZE_UNKNOWN=0
}

@test "MPICH: its library has no probes, no call is lost" {
  ways mpich plain
  [ "$status" -eq 0 ]
  one_log
  [[ "$output" =~ writes\ ([0-9]+)\ probes\ 0\ then\ 0 ]]
  written "${BASH_REMATCH[1]}"
}

@test "Open MPI: the same" {
  ways openmpi plain
  [ "$status" -eq 0 ]
  one_log
  [[ "$output" =~ writes\ ([0-9]+)\ probes\ 0\ then\ 0 ]]
  expect '/f$' MPIIO_INDEP_WRITES="${BASH_REMATCH[1]}" MPIIO_BYTES_WRITTEN=$((8 * BASH_REMATCH[1]))
}

@test "switched off: the library's probes count, and stay" {
  trace_options=(--set mpiio_wrap=no)
  library_copy libmpich.so.12
  trace mpiio timeout -k 1 60 "$LIBPROG/mpich/mpiio_ways" plain "$T/w/f" libmpich.so.12
  [ "$status" -eq 0 ]
  one_log
  [[ "$output" =~ writes\ ([0-9]+)\ probes\ ([0-9]+)\ then\ ([0-9]+) ]]
  [ "${BASH_REMATCH[2]}" -ge 28 ]
  [ "${BASH_REMATCH[3]}" -eq "${BASH_REMATCH[2]}" ]
  written "${BASH_REMATCH[1]}"
}

@test "called by the library's address, as ctypes and Julia do: by the library's probes alone" {
  trace_options=(--set mpiio_wrap=no)
  ways mpich address
  [ "$status" -eq 0 ]
  one_log
  written 300
}

@test "called by the profiling name" {
  ways mpich profiling
  [ "$status" -eq 0 ]
  one_log
  written 300
}

@test "a fork among calls: the child's do not count to the parent" {
  ways mpich forks
  [ "$status" -eq 0 ]
  one_log
  expect '/f$' MPIIO_INDEP_WRITES=200 MPIIO_BYTES_WRITTEN=1600
  # the child has not opened the file by MPI: it is told, and not counted
  [ "$(counter LEDGER_LIB_UNKNOWN)" -ge 1 ]
}

@test "four threads on one file, and twenty sizes" {
  ways mpich threads
  [ "$status" -eq 0 ]
  one_log
  expect '/f$' MPIIO_INDEP_WRITES=4210 MPIIO_BYTES_WRITTEN=$((32000 + 287000)) MPIIO_ACCESS1_ACCESS=8 \
    MPIIO_ACCESS1_COUNT=4000 MPIIO_ACCESS2_ACCESS=2000 MPIIO_ACCESS2_COUNT=20 MPIIO_ACCESS3_ACCESS=1900 \
    MPIIO_ACCESS4_COUNT=18 MPIIO_MAX_WRITE_TIME_SIZE="$(counter MPIIO_MAX_WRITE_TIME_SIZE '/f$')"
}

@test "killed in the middle of calls: what was done is in the log" {
  ways mpich killed
  [ "$status" -eq 137 ]
  "$IOSCRIBE" parse --base "$LOG" >"$T/parsed"
  local n p
  n=$(counter MPIIO_INDEP_WRITES '/f$')
  p=$(counter POSIX_WRITES '/f$')
  [ "$n" -ge 2000 ]
  [ "$(counter MPIIO_BYTES_WRITTEN '/f$')" -eq $((8 * n)) ]
  [ "$p" -ge "$n" ]
  [ "$p" -le $((n + 1)) ]
}
