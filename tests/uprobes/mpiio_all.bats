#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# MPI-IO: every function that moves data, once (tests/prog/mpiio_all.c).
load helper

# totals FORMS: two ranks, each function in so many forms, 16 bytes a call.
totals() {
  local f=$1
  [ "$status" -eq 0 ]
  [[ "$output" == *"forms $f"* ]]
  one_log
  expect '/f$' MPIIO_COLL_OPENS=2 MPIIO_INDEP_WRITES=$((6 * f + 8)) MPIIO_INDEP_READS=$((6 * f + 8)) \
    MPIIO_COLL_WRITES=$((6 * f)) MPIIO_COLL_READS=$((6 * f)) MPIIO_SPLIT_WRITES=$((6 * f)) \
    MPIIO_SPLIT_READS=$((6 * f)) MPIIO_NB_WRITES=$((10 * f)) MPIIO_NB_READS=$((10 * f)) MPIIO_VIEWS=0 \
    MPIIO_BYTES_WRITTEN=$((448 * f + 128)) MPIIO_BYTES_READ=$((448 * f)) MPIIO_SYNCS=0 \
    MPIIO_SIZE_WRITE_AGG_0_100=$((28 * f + 8)) MPIIO_SIZE_READ_AGG_0_100=$((28 * f + 8)) \
    MPIIO_ACCESS1_ACCESS=16 MPIIO_ACCESS1_COUNT=$((56 * f + 8)) MPIIO_ACCESS2_COUNT=0 \
    MPIIO_RW_SWITCHES=$((4 * f + 14))
  expect '' LEDGER_LIB_DROPPED=0 LEDGER_LIB_UNKNOWN=0 LEDGER_LIB_SIZE_UNKNOWN=0
}

@test "MPICH, with the forms for large counts" {
  library_copy libmpich.so.12
  trace mpiio mpiexec.mpich -n 2 "$LIBPROG/mpich/mpiio_all" f
  totals 2
}

@test "Open MPI" {
  library_copy libmpi.so.40
  trace_options=(--no-runtime)
  trace mpiio mpirun.openmpi --allow-run-as-root --oversubscribe -n 2 "$LIBPROG/openmpi/mpiio_all" "$T/w/f"
  totals 1
}
