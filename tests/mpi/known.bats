#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# MPI programs with known totals: every counter in the log is what the program
# says it must be, for shared records (rank -1) and for those of single ranks.

traces=1
BOTH='exact, reduced by the ranks|without the runtime|on one node|module mpi_f08'
load helper

known() {
  local mpi=$1
  shift
  traced "$mpi" "$@"
  status_is 0
  nprocs 4
  as_expected
}

@test "C: counters of shared and own files are exact, reduced by the ranks" {
  for mpi in $MPIS; do
    known $mpi 4 mpi_known "$T/data"
    by_ranks
  done
}

@test "C with MPI_Init_thread: the same" {
  for mpi in $MPIS; do
    known $mpi 4 mpi_known "$T/data" threads
    by_ranks
  done
}

@test "without the runtime: the same, reduced by the daemon" {
  run_options=(--no-runtime)
  for mpi in $MPIS; do
    known $mpi 4 mpi_known "$T/data"
    by_daemon
  done
}

@test "all ranks on one node: the daemon reduces, and no rank waits for it in MPI_Finalize" {
  run_options=(--set collective=auto)
  for mpi in $MPIS; do
    known $mpi 4 mpi_known "$T/data"
    by_daemon
  done
}

@test "Fortran by mpif.h, module mpi and module mpi_f08, MPI_Init and MPI_Init_thread" {
  for mpi in $MPIS; do
    for binding in mpif mpi f08; do
      if [ -z "${IOSCRIBE_GATE:-}" ] || [ $mpi = mpich ]; then # in the gate each MPI has one way to begin
        known $mpi 4 mpi_fortran_$binding "$T/data"
        by_ranks
      fi
      if [ -z "${IOSCRIBE_GATE:-}" ] || [ $mpi != mpich ]; then
        known $mpi 4 mpi_fortran_$binding "$T/data" threads
        by_ranks
      fi
    done
  done
}

@test "a log by the ranks and one by the daemon hold the same records" {
  for mpi in $MPIS; do
    known $mpi 4 mpi_known "$T/data"
    by_ranks
    # what depends on the clock, and the ranks that were slowest, may differ
    grep '^POSIX	' "$T/log.txt" | grep "	$T/data/" | grep -Ev '_F_|_RANK|MAX_(READ|WRITE)_TIME_SIZE' | sort >"$T/ranks"
    run_options=(--no-runtime)
    known $mpi 4 mpi_known "$T/data"
    by_daemon
    grep '^POSIX	' "$T/log.txt" | grep "	$T/data/" | grep -Ev '_F_|_RANK|MAX_(READ|WRITE)_TIME_SIZE' | sort >"$T/daemon"
    run_options=()
    [ "$(wc -l <"$T/ranks")" -gt 300 ]
    diff "$T/ranks" "$T/daemon"
  done
}

@test "one rank, and seven" {
  for mpi in $MPIS; do
    traced $mpi 1 mpi_known "$T/data"
    status_is 0
    nprocs 1
    by_ranks
    as_expected
    run_options=(--no-runtime)
    traced $mpi 1 mpi_known "$T/data"
    nprocs 1
    as_expected
    run_options=()
    traced $mpi 7 mpi_known "$T/data"
    status_is 0
    nprocs 7
    by_ranks
    as_expected
  done
}
