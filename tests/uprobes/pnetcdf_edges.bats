#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# PnetCDF at its edges (tests/prog/pnetcdf_edges.c): records, requests, cancelled
# ones, lists, many variables, a file that is open twice, errors, a killed process.
load helper

NC="mpirun.openmpi --allow-run-as-root --oversubscribe"

# var NAME COUNTER=VALUE...
var() {
  local name=$1
  shift
  expect "/p.nc:$name\$" "${@/#/PNETCDF_VAR_}"
}

# What n ranks leave together. Failed calls, cancelled requests' waits and numbers that are no files leave nothing.
edges() {
  local n=$1
  [ "$status" -eq 0 ]
  one_log
  expect '/p.nc$' PNETCDF_FILE_CREATES="$n" PNETCDF_FILE_OPENS=$((3 * n)) PNETCDF_FILE_REDEFS="$n" \
    PNETCDF_FILE_SYNCS=$((4 * n)) PNETCDF_FILE_COLL_WAITS=$((2 * n)) PNETCDF_FILE_INDEP_WAITS="$n" \
    PNETCDF_FILE_WAIT_FAILURES="$n" \
    PNETCDF_FILE_BYTES_WRITTEN="$(awk '/^rank/ { n += $4 } END { print n }' <<<"$output")" \
    PNETCDF_FILE_BYTES_READ="$(awk '/^rank/ { n += $6 } END { print n }' <<<"$output")"
  # records of 80 bytes: 3 written, 3 posted, 1 read; all 3 records of n ranks read by each; a single element
  var temp OPENS="$n" COLL_WRITES=$((3 * n)) INDEP_WRITES="$n" NB_WRITES=$((3 * n)) COLL_READS="$n" \
    INDEP_READS="$n" NB_READS=0 PUT_VARA=$((3 * n)) PUT_VAR1="$n" IPUT_VARA=$((3 * n)) GET_VAR="$n" GET_VARA="$n" \
    BYTES_WRITTEN=$((n * (6 * 80 + 4))) BYTES_READ=$((n * (80 + 240 * n))) RW_SWITCHES=$((2 * n)) \
    ACCESS1_ACCESS=80 ACCESS1_COUNT=$((7 * n)) ACCESS1_LENGTH_D1=1 ACCESS1_LENGTH_D2=4 ACCESS1_LENGTH_D3=5 \
    ACCESS1_LENGTH_D4=0 ACCESS1_STRIDE_D1=0 NDIMS=3 NPOINTS=20 DATATYPE_SIZE=4 IS_RECORD_VAR=1
  var step OPENS="$n" NB_WRITES=$((3 * n)) NB_READS=$((2 * n)) BPUT_VARN="$n" BPUT_VAR1="$n" IGET_VAR1="$n" \
    IGET_VARA="$n" IPUT_VAR1="$n" BYTES_WRITTEN=$((16 * n)) BYTES_READ=$((8 * n)) COLL_WRITES=0 INDEP_READS=0 \
    IS_RECORD_VAR=1 NDIMS=1 NPOINTS=1
  # 6 elements each way; read whole by two files that are one, and by the number of the first again
  var fixed OPENS=$((3 * n)) PUT_VARS="$n" GET_VARM="$n" GET_VAR=$((3 * n)) COLL_WRITES="$n" COLL_READS=$((4 * n)) \
    BYTES_WRITTEN=$((48 * n)) BYTES_READ=$((n * (48 + 3 * 160))) ACCESS1_ACCESS=160 ACCESS1_COUNT=$((3 * n)) \
    ACCESS2_ACCESS=48 ACCESS2_LENGTH_D1=2 ACCESS2_LENGTH_D2=3 ACCESS2_STRIDE_D1=2 ACCESS2_STRIDE_D2=2 \
    ACCESS2_COUNT=$((2 * n)) IS_RECORD_VAR=0 DATATYPE_SIZE=8
  var bytes OPENS="$n" COLL_WRITES=0 INDEP_WRITES=0 PUT_VAR=0 BYTES_WRITTEN=0 DATATYPE_SIZE=1 NPOINTS=4
  var wide PUT_VARN="$n" GET_VARN="$n" BYTES_WRITTEN=$((300 * n)) BYTES_READ=$((200 * n)) DATATYPE_SIZE=2
  expect '/p.nc:few[0-9]*$' PNETCDF_VAR_OPENS=$((80 * n)) PNETCDF_VAR_PUT_VAR1=$((80 * n)) \
    PNETCDF_VAR_BYTES_WRITTEN=$((320 * n)) PNETCDF_VAR_COLL_WRITES=$((80 * n))
  [ "$(records PNETCDF_VAR)" -eq 85 ]
  [ "$(records PNETCDF_FILE)" -eq 1 ]
  expect '' LEDGER_LIB_DROPPED=0 LEDGER_LIB_UNKNOWN=0 LEDGER_LIB_SIZE_UNKNOWN=0 LEDGER_LIB_HANDLES_FULL=0
}

@test "one rank, nothing preloaded" {
  library_copy libmpi.so.40 libpnetcdf.so.0d
  trace_options=(--no-runtime)
  trace pnetcdf,mpiio $NC -n 1 "$LIBPROG/openmpi/pnetcdf_edges" "$T/w/p.nc"
  edges 1
}

@test "two ranks, reduced" {
  library_copy libmpi.so.40 libpnetcdf.so.0d
  trace pnetcdf,mpiio $NC -n 2 "$LIBPROG/openmpi/pnetcdf_edges" "$T/w/p.nc"
  edges 2
}

@test "ended inside a write by a limit: the calls before it are there, that one is not" {
  library_copy libmpi.so.40 libpnetcdf.so.0d
  trace pnetcdf,mpiio $NC -n 1 "$LIBPROG/openmpi/pnetcdf_edges" "$T/w/p.nc" killed
  [ "$status" -ne 0 ]
  [ "$status" -ne 4 ]
  one_log
  expect '/p.nc$' PNETCDF_FILE_CREATES=1 PNETCDF_FILE_OPENS=0 PNETCDF_FILE_SYNCS=0
  var fixed PUT_VAR=1 COLL_WRITES=1 BYTES_WRITTEN=160 ACCESS1_ACCESS=160 ACCESS1_COUNT=1
  expect '' LEDGER_LIB_DROPPED=0 LEDGER_LIB_UNKNOWN=0
}
