#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# MPI-IO's edges (tests/prog/mpiio_edges.c): derived types, views, what is posted, shared
# pointers, the end of a file, mistakes; counted inside the program, by probes with the
# runtime, and by probes alone.
load helper

# edges MPI: a traced run of two ranks, and its totals.
edges() {
  local mpi=$1
  rm -rf e
  mkdir e
  if [ "$mpi" = mpich ]; then
    trace mpiio mpiexec.mpich -n 2 "$LIBPROG/mpich/mpiio_edges" "$T/w/e"
  else
    trace mpiio mpirun.openmpi --allow-run-as-root --oversubscribe -n 2 "$LIBPROG/openmpi/mpiio_edges" "$T/w/e"
  fi
  [ "$status" -eq 0 ]
  one_log
  expect '/types$' MPIIO_COLL_OPENS=2 MPIIO_INDEP_WRITES=28 MPIIO_BYTES_WRITTEN=822 \
    MPIIO_SIZE_WRITE_AGG_0_100=26 MPIIO_SIZE_WRITE_AGG_100_1K=2 MPIIO_ACCESS1_COUNT=4 MPIIO_ACCESS2_COUNT=4 \
    MPIIO_ACCESS3_COUNT=4 MPIIO_ACCESS4_COUNT=2 MPIIO_RW_SWITCHES=0 MPIIO_VIEWS=0
  expect '/views$' MPIIO_INDEP_WRITES=4 MPIIO_COLL_WRITES=2 MPIIO_INDEP_READS=2 MPIIO_VIEWS=6 MPIIO_HINTS=2 \
    MPIIO_BYTES_WRITTEN=384 MPIIO_BYTES_READ=192 MPIIO_RW_SWITCHES=4
  expect '/posted$' MPIIO_NB_WRITES=16 MPIIO_NB_READS=8 MPIIO_BYTES_WRITTEN=1600 MPIIO_BYTES_READ=400 \
    MPIIO_SYNCS=2 MPIIO_INDEP_WRITES=0 MPIIO_COLL_WRITES=0 MPIIO_RW_SWITCHES=2 MPIIO_ACCESS1_ACCESS=100 \
    MPIIO_ACCESS1_COUNT=16 MPIIO_ACCESS2_ACCESS=50 MPIIO_ACCESS2_COUNT=8
  expect '/shared$' MPIIO_INDEP_WRITES=2 MPIIO_COLL_WRITES=2 MPIIO_SPLIT_WRITES=2 MPIIO_INDEP_READS=2 \
    MPIIO_COLL_READS=2 MPIIO_SPLIT_READS=2 MPIIO_BYTES_WRITTEN=240 MPIIO_BYTES_READ=240
  # as asked for, whatever there was to read
  expect '/ends$' MPIIO_INDEP_WRITES=1 MPIIO_BYTES_WRITTEN=10 MPIIO_INDEP_READS=4 MPIIO_BYTES_READ=400
  expect '/wrong$' MPIIO_INDEP_OPENS=2 MPIIO_INDEP_WRITES=1 MPIIO_INDEP_READS=0 MPIIO_BYTES_WRITTEN=8 \
    MPIIO_BYTES_READ=0
  expect '/hints$' MPIIO_COLL_OPENS=2 MPIIO_HINTS=2 MPIIO_SYNCS=4 MPIIO_MODE=133
  expect '/own[.][01]$' MPIIO_INDEP_OPENS=2 MPIIO_COLL_OPENS=0 MPIIO_COLL_WRITES=2 MPIIO_BYTES_WRITTEN=48
  expect '/gone[.][01]$' MPIIO_INDEP_OPENS=2 MPIIO_INDEP_WRITES=2 MPIIO_BYTES_WRITTEN=10
  # none of the opens that failed
  [ "$(records MPI-IO)" -eq 11 ]
  expect '' LEDGER_LIB_DROPPED=0 LEDGER_LIB_UNKNOWN=0 LEDGER_LIB_SIZE_UNKNOWN=0
}

@test "MPICH: counted inside the program" {
  library_copy libmpich.so.12
  edges mpich
}

@test "MPICH: probed, with the runtime and without" {
  library_copy libmpich.so.12
  trace_options=(--set mpiio_inside=no)
  edges mpich
  trace_options=(--no-runtime)
  edges mpich
}

@test "Open MPI: counted inside the program" {
  library_copy libmpi.so.40
  edges openmpi
}

@test "Open MPI: probed, with the runtime and without" {
  library_copy libmpi.so.40
  trace_options=(--set mpiio_inside=no)
  edges openmpi
  trace_options=(--no-runtime)
  edges openmpi
}

# A call that is killed is not there, all before it are; both ways of counting.
@test "killed while a call waits for a lock" {
  library_copy libmpich.so.12
  local way
  for way in yes no; do
    rm -f s
    trace_options=(--set mpiio_inside=$way)
    trace mpiio "$LIBPROG/mpich/mpiio_stuck" lock "$T/w/s"
    [ "$status" -eq 137 ]
    one_log
    expect '/s$' MPIIO_INDEP_OPENS=1 MPIIO_INDEP_WRITES=10 MPIIO_BYTES_WRITTEN=80 MPIIO_ACCESS1_ACCESS=8 \
      MPIIO_ACCESS1_COUNT=10 MPIIO_ACCESS2_COUNT=0 MPIIO_SIZE_WRITE_AGG_0_100=10 POSIX_WRITES=10
    expect '' LEDGER_LIB_DROPPED=0 LEDGER_LIB_UNKNOWN=0
  done
}

@test "killed in a collective call that another rank does not take part in" {
  library_copy libmpich.so.12
  local way
  for way in yes no; do
    rm -f s
    trace_options=(--set mpiio_inside=$way)
    trace mpiio mpiexec.mpich -n 2 "$LIBPROG/mpich/mpiio_stuck" alone "$T/w/s"
    [ "$status" -ne 0 ]
    [ "$status" -ne 3 ]
    one_log
    expect '/s$' MPIIO_COLL_OPENS=2 MPIIO_COLL_WRITES=10 MPIIO_BYTES_WRITTEN=160 MPIIO_ACCESS1_ACCESS=16 \
      MPIIO_ACCESS1_COUNT=10 MPIIO_INDEP_WRITES=0
    expect '' LEDGER_LIB_DROPPED=0 LEDGER_LIB_UNKNOWN=0
  done
}
