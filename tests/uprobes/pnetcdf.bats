#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# PnetCDF: every function that moves data, by totals that are known.
load helper

NC="mpirun.openmpi --allow-run-as-root --oversubscribe"

# form FORM BYTES RANKS: what one form of the program (tests/prog/pnetcdf_calls.c)
# leaves on its three variables. 12 functions of numbers and one of text, each
# put, get (independent and collective), iput, iget, bput, and mput, mget of two
# variables, but for varn, which has no mput.
form() {
  local form=$1 bytes=$2 ranks=$3 name=${1^^} many=2 beside=24
  [ "$form" != varn ] || { many=1; beside=0; }
  expect "/t.nc:$form\$" PNETCDF_VAR_OPENS="$ranks" \
    "PNETCDF_VAR_PUT_$name=$((ranks * 24 * many))" "PNETCDF_VAR_GET_$name=$((ranks * 24 * many))" \
    "PNETCDF_VAR_IPUT_$name=$((ranks * 12))" "PNETCDF_VAR_IGET_$name=$((ranks * 12))" \
    "PNETCDF_VAR_BPUT_$name=$((ranks * 12))" PNETCDF_VAR_INDEP_WRITES=$((ranks * 12 * many)) \
    PNETCDF_VAR_COLL_WRITES=$((ranks * 12 * many)) PNETCDF_VAR_INDEP_READS=$((ranks * 12 * many)) \
    PNETCDF_VAR_COLL_READS=$((ranks * 12 * many)) PNETCDF_VAR_NB_WRITES=$((ranks * 24)) \
    PNETCDF_VAR_NB_READS=$((ranks * 12)) \
    PNETCDF_VAR_BYTES_WRITTEN=$((ranks * bytes * (24 * many + 24))) \
    PNETCDF_VAR_BYTES_READ=$((ranks * bytes * (24 * many + 12))) \
    PNETCDF_VAR_SIZE_WRITE_AGG_0_100=$((ranks * (24 * many + 24))) \
    PNETCDF_VAR_SIZE_READ_AGG_0_100=$((ranks * (24 * many + 12))) \
    PNETCDF_VAR_RW_SWITCHES=$((ranks * (many == 2 ? 9 : 6))) PNETCDF_VAR_ACCESS1_ACCESS="$bytes" \
    PNETCDF_VAR_ACCESS1_COUNT=$((ranks * (48 * many + 36))) PNETCDF_VAR_NDIMS=2 PNETCDF_VAR_NPOINTS=24 \
    PNETCDF_VAR_DATATYPE_SIZE=4 PNETCDF_VAR_IS_RECORD_VAR=0 PNETCDF_VAR_ACCESS2_COUNT=0 &&
    # text: a quarter of the bytes, one function instead of twelve; mput and mget name it twice
    expect "/t.nc:${form}_text\$" "PNETCDF_VAR_PUT_$name=$((ranks * (many == 2 ? 6 : 2)))" \
      "PNETCDF_VAR_GET_$name=$((ranks * (many == 2 ? 6 : 2)))" "PNETCDF_VAR_IPUT_$name=$ranks" \
      "PNETCDF_VAR_IGET_$name=$ranks" "PNETCDF_VAR_BPUT_$name=$ranks" PNETCDF_VAR_DATATYPE_SIZE=1 \
      PNETCDF_VAR_BYTES_WRITTEN=$((ranks * bytes / 4 * (many == 2 ? 8 : 4))) &&
    expect "/t.nc:${form}_beside\$" PNETCDF_VAR_OPENS="$ranks" "PNETCDF_VAR_PUT_$name=$((ranks * beside))" \
      "PNETCDF_VAR_GET_$name=$((ranks * beside))"
}

totals() {
  local ranks=$1
  [ "$status" -eq 0 ]
  one_log
  form var 96 "$ranks"
  form var1 4 "$ranks"
  form vara 24 "$ranks"
  form vars 16 "$ranks"
  form varm 16 "$ranks"
  form varn 20 "$ranks"
  expect '/t.nc:var$' PNETCDF_VAR_ACCESS1_LENGTH_D1=0 PNETCDF_VAR_ACCESS1_STRIDE_D1=0
  expect '/t.nc:vara$' PNETCDF_VAR_ACCESS1_LENGTH_D1=2 PNETCDF_VAR_ACCESS1_LENGTH_D2=3 \
    PNETCDF_VAR_ACCESS1_LENGTH_D3=0 PNETCDF_VAR_ACCESS1_STRIDE_D1=0
  expect '/t.nc:vars$' PNETCDF_VAR_ACCESS1_LENGTH_D1=2 PNETCDF_VAR_ACCESS1_LENGTH_D2=2 \
    PNETCDF_VAR_ACCESS1_STRIDE_D1=1 PNETCDF_VAR_ACCESS1_STRIDE_D2=2
  expect '/t.nc:rec$' PNETCDF_VAR_PUT_VARA=$((ranks * 2)) PNETCDF_VAR_GET_VAR="$ranks" \
    PNETCDF_VAR_BYTES_WRITTEN=$((ranks * 48)) PNETCDF_VAR_BYTES_READ=$((ranks * 48)) \
    PNETCDF_VAR_IS_RECORD_VAR=1 PNETCDF_VAR_NDIMS=2 PNETCDF_VAR_NPOINTS=3 PNETCDF_VAR_DATATYPE_SIZE=8
  expect '/t.nc:scalar$' PNETCDF_VAR_OPENS=$((ranks * 2)) PNETCDF_VAR_PUT_VAR="$ranks" \
    PNETCDF_VAR_GET_VAR1="$ranks" PNETCDF_VAR_GET_VAR="$ranks" PNETCDF_VAR_BYTES_WRITTEN=$((ranks * 4)) \
    PNETCDF_VAR_BYTES_READ=$((ranks * 8)) PNETCDF_VAR_NDIMS=0 PNETCDF_VAR_NPOINTS=1
  expect '/t.nc:types$' PNETCDF_VAR_PUT_VARD=$((ranks * 2)) PNETCDF_VAR_GET_VARD=$((ranks * 2)) \
    PNETCDF_VAR_INDEP_WRITES="$ranks" PNETCDF_VAR_COLL_READS="$ranks" PNETCDF_VAR_PUT_VARA=0 \
    PNETCDF_VAR_BYTES_WRITTEN=$((ranks * 96)) PNETCDF_VAR_BYTES_READ=$((ranks * 96))
  # one wait for each of 13 iput, iget and bput of 6 forms
  expect '/t.nc$' PNETCDF_FILE_CREATES="$ranks" PNETCDF_FILE_OPENS="$ranks" PNETCDF_FILE_REDEFS="$ranks" \
    PNETCDF_FILE_SYNCS="$ranks" PNETCDF_FILE_COLL_WAITS=$((ranks * 234)) PNETCDF_FILE_INDEP_WAITS="$ranks" \
    PNETCDF_FILE_WAIT_FAILURES="$ranks" \
    PNETCDF_FILE_BYTES_WRITTEN="$(awk '{ n += $4 } END { print n }' <<<"$(grep '^rank' <<<"$output")")" \
    PNETCDF_FILE_BYTES_READ="$(awk '{ n += $6 } END { print n }' <<<"$(grep '^rank' <<<"$output")")"
  expect '' LEDGER_LIB_DROPPED=0 LEDGER_LIB_UNKNOWN=0 LEDGER_LIB_SIZE_UNKNOWN=0 LEDGER_APPROX_VALUES=0
}

@test "every function once" {
  library_copy libmpi.so.40 libpnetcdf.so.0d
  trace_options=(--no-runtime)
  trace pnetcdf,mpiio $NC -n 1 "$LIBPROG/openmpi/pnetcdf_calls" "$T/w/t.nc"
  totals 1
  [ "$(records PNETCDF_FILE)" -eq 1 ]
  [ "$(records PNETCDF_VAR)" -eq 21 ]
  # one id for the file in every module
  [ "$("$IOSCRIBE" parse --base "$LOG" | awk -F '\t' '$6 ~ /\/t.nc$/ { print $3 }' | sort -u | wc -l)" -eq 1 ]
}

@test "two ranks, reduced" {
  library_copy libmpi.so.40 libpnetcdf.so.0d
  trace pnetcdf,mpiio $NC -n 2 "$LIBPROG/openmpi/pnetcdf_calls" "$T/w/t.nc"
  totals 2
  [ "$(records PNETCDF_VAR)" -eq 21 ]
}
