#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# MPI-IO's edges (tests/prog/mpiio_edges.c): derived types, views, what is posted, shared
# pointers, the end of a file, mistakes; counted in each way there is.
load helper

# edges MPI: a traced run of two ranks, and its totals.
edges() {
  local mpi=$1
  rm -rf e
  mkdir e
  if [ "$mpi" = mpich ]; then
    trace mpiio mpiexec.mpich -n 2 "${by[@]}" "$LIBPROG/mpich/mpiio_edges" "$T/w/e"
  else
    trace mpiio mpirun.openmpi --allow-run-as-root --oversubscribe -n 2 "${by[@]}" "$LIBPROG/openmpi/mpiio_edges" "$T/w/e"
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
  times
  # every number that is not a time or a rank's, however it was counted
  "$IOSCRIBE" parse --base "$LOG" | awk -F '\t' '$1 == "MPI-IO" && $4 !~ /_F_|_TIME_SIZE|_RANK|_ACCESS[1-4]_/ {
    print $2, $4, $5, $6 }' | sort >"$T/now"
  [ "$(grep -c MPIIO_ "$T/now")" -ge $((11 * 35)) ]
  [ -z "$(awk '$3 < 0' "$T/now")" ]
  [ ! -e "$T/numbers" ] || diff "$T/numbers" "$T/now"
  mv "$T/now" "$T/numbers"
}

# Of each record: what was done took time, began when the file was open, and ended before it was closed.
times() {
  "$IOSCRIBE" parse --base "$LOG" | awk -F '\t' '
    $1 == "MPI-IO" { v[$6 " " $2, $4] = $5; seen[$6 " " $2] = 1 }
    function wrong(r, what) { print r ": " what; bad = 1 }
    function side(r, name, bytes,    from, to) {
      from = v[r, "MPIIO_F_" name "_START_TIMESTAMP"]; to = v[r, "MPIIO_F_" name "_END_TIMESTAMP"]
      if (!v[r, bytes]) return
      if (!(v[r, "MPIIO_F_" name "_TIME"] > 0)) wrong(r, name " took no time")
      if (!(from >= v[r, "MPIIO_F_OPEN_START_TIMESTAMP"] && to > from && to <= v[r, "MPIIO_F_CLOSE_END_TIMESTAMP"]))
        wrong(r, name " from " from " to " to)
    }
    END {
      for (r in seen) {
        side(r, "READ", "MPIIO_BYTES_READ"); side(r, "WRITE", "MPIIO_BYTES_WRITTEN")
        if (!(v[r, "MPIIO_F_META_TIME"] > 0)) wrong(r, "an open that took no time")
        if (!(v[r, "MPIIO_F_OPEN_END_TIMESTAMP"] > v[r, "MPIIO_F_OPEN_START_TIMESTAMP"])) wrong(r, "its open")
        if (!(v[r, "MPIIO_F_CLOSE_END_TIMESTAMP"] > v[r, "MPIIO_F_CLOSE_START_TIMESTAMP"])) wrong(r, "its close")
      }
      exit bad
    }'
}

# every_way MPI: counted inside the program; there, by functions that are probed, for it gets no memory; by probes of
# the library with the runtime; by probes alone.
every_way() {
  by=()
  edges "$1"
  by=(env IOSCRIBE_SOCKET=/nowhere)
  edges "$1"
  by=()
  trace_options=(--set mpiio_wrap=no)
  edges "$1"
  trace_options=(--no-runtime)
  edges "$1"
}

@test "MPICH: inside the program, probed with the runtime, without it: all the same" {
  library_copy libmpich.so.12
  every_way mpich
}

@test "Open MPI: inside the program, probed with the runtime, without it: all the same" {
  library_copy libmpi.so.40
  every_way openmpi
}

# A call that is killed is not there, all before it are; both ways of counting.
@test "killed while a call waits for a lock" {
  library_copy libmpich.so.12
  local way
  for way in yes no; do
    rm -f s
    trace_options=(--set mpiio_wrap=$way)
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
    trace_options=(--set mpiio_wrap=$way)
    trace mpiio mpiexec.mpich -n 2 "$LIBPROG/mpich/mpiio_stuck" alone "$T/w/s"
    [ "$status" -ne 0 ]
    [ "$status" -ne 3 ]
    one_log
    expect '/s$' MPIIO_COLL_OPENS=2 MPIIO_COLL_WRITES=10 MPIIO_BYTES_WRITTEN=160 MPIIO_ACCESS1_ACCESS=16 \
      MPIIO_ACCESS1_COUNT=10 MPIIO_INDEP_WRITES=0
    expect '' LEDGER_LIB_DROPPED=0 LEDGER_LIB_UNKNOWN=0
  done
}
