#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# MPI-IO: every kind of call, by totals that are known.
load helper

totals() {
  [ "$status" -eq 0 ]
  one_log
  expect '/f$' MPIIO_INDEP_OPENS=0 MPIIO_COLL_OPENS=2 MPIIO_INDEP_READS=6 MPIIO_INDEP_WRITES=10 \
    MPIIO_COLL_READS=4 MPIIO_COLL_WRITES=4 MPIIO_SPLIT_READS=2 MPIIO_SPLIT_WRITES=2 MPIIO_NB_READS=2 \
    MPIIO_NB_WRITES=4 MPIIO_SYNCS=2 MPIIO_HINTS=4 MPIIO_VIEWS=4 MPIIO_MODE=9 MPIIO_BYTES_READ=3480 \
    MPIIO_BYTES_WRITTEN=16888 MPIIO_RW_SWITCHES=14 MPIIO_SIZE_READ_AGG_0_100=8 MPIIO_SIZE_READ_AGG_100_1K=6 \
    MPIIO_SIZE_WRITE_AGG_0_100=4 MPIIO_SIZE_WRITE_AGG_100_1K=12 MPIIO_SIZE_WRITE_AGG_1K_10K=4 \
    MPIIO_ACCESS1_ACCESS=1000 MPIIO_ACCESS1_COUNT=4 MPIIO_ACCESS2_ACCESS=160 MPIIO_ACCESS2_COUNT=4
  expect '/f.self.0$' MPIIO_INDEP_OPENS=2 MPIIO_COLL_OPENS=0 MPIIO_INDEP_WRITES=5 MPIIO_BYTES_WRITTEN=40 \
    MPIIO_HINTS=0 MPIIO_ACCESS1_ACCESS=8 MPIIO_ACCESS1_COUNT=5
  # one record a file and rank: the open that failed left none
  [ "$(records MPI-IO)" -eq 3 ]
  expect '' LEDGER_LIB_DROPPED=0 LEDGER_LIB_UNKNOWN=0 LEDGER_LIB_SIZE_UNKNOWN=0
  # the same file has one id in POSIX and MPI-IO
  "$IOSCRIBE" parse --base "$LOG" | awk -F '\t' '$6 ~ /\/f.self.0$/ { print $3 }' | sort -u | wc -l | grep -qx 1
}

@test "MPICH: every kind of call" {
  library_copy libmpich.so.12
  trace_options=(--no-runtime)
  trace mpiio mpiexec.mpich -n 2 "$LIBPROG/mpich/mpiio_calls" f
  totals
}

@test "MPICH, ranks reduce" {
  library_copy libmpich.so.12
  trace mpiio mpiexec.mpich -n 2 "$LIBPROG/mpich/mpiio_calls" f
  totals
}

@test "Open MPI: every kind of call" {
  library_copy libmpi.so.40
  trace_options=(--no-runtime)
  trace mpiio mpirun.openmpi --allow-run-as-root --oversubscribe -n 2 "$LIBPROG/openmpi/mpiio_calls" "$T/w/f"
  totals
}

@test "one probe each at emulated instructions, but for large counts" {
  local said
  library_copy libmpich.so.12
  trace_options=(--no-runtime --verbose)
  trace mpiio mpiexec.mpich -n 1 "$LIBPROG/mpich/mpiio_calls" f >"$T/said"
  said=$(grep 'places probed' "$T/said")
  echo "$said"
  [ "$(sed -n 's/.*: \([0-9]*\) places probed, \([0-9]*\) of them cheap.*/\1 \2/p' <<<"$said" | wc -l)" -eq 1 ]
  read -r places cheap <<<"$(sed -n 's/.*: \([0-9]*\) places probed, \([0-9]*\) of them cheap.*/\1 \2/p' <<<"$said")"
  [ $((places - cheap)) -le 14 ]
}
