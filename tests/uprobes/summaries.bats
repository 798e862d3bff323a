#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What the end of a run and the summaries say: the same figures everywhere, a word where two differ,
# and what is not counted.
load helper

# told COMMAND...: traced with what it says at its end in $output; the log's summary says the same.
told() {
  rm -f "$T"/run*.darshan
  status=0
  output=$(LD_LIBRARY_PATH=$T/lib "$IOSCRIBE" run --force --log "$LOG" --set library_cache=no "${trace_options[@]}" \
    -- "$@" 2>&1 >"$T/out") || status=$?
  echo "$output"
  "$IOSCRIBE" summary --brief "$LOG" | sed 's/^/  /' >"$T/brief"
  diff "$T/brief" <(awk '/^ioscribe: log/ { n++; next } n == 1 && !/^  note /' <<<"$output")
  whole=$(tr -s '[:space:]' ' ' <<<"$output") # with the lines that were wrapped
}

@test "mapped files: how many, how many bytes, and what page faults fetched" {
  told "$PROG/mapping"
  [[ "$whole" =~ mapped\ 1\ file\ by\ 2\ mappings\ of\ 68.0\ KiB:\ [0-9]+\ page\ faults\ fetched\ [0-9.]+\ (B|KiB) ]]
  "$IOSCRIBE" summary "$LOG" | grep -q '^mapped     1 file by 2 mappings of 68.0 KiB'
  one_log
  expect '/mapped$' POSIX_MMAPS=2 POSIX_EXT_MAPPED_BYTES=69632
}

@test "excluded paths: how much was left out, and what brings it in" {
  told dd if=/dev/zero of=/var/tmp/ioscribe-left bs=1000 count=500 status=none
  [[ "$whole" =~ left\ out\ +50[0-9]\ reads\ and\ writes\ of\ 4[89][0-9].[0-9]\ KiB\ on\ excluded\ paths ]]
  [[ "$output" == *"--include PREFIX"* ]]
  trace_options=(--include /var/tmp)
  told dd if=/dev/zero of=/var/tmp/ioscribe-left bs=1000 count=500 status=none
  rm -f /var/tmp/ioscribe-left
  [[ "$output" != *"left out"* ]]
  grep -E '^ *POSIX +[0-9]+ .* 488.3 KiB +500 ' <<<"$output"
}

@test "streams are counted at the end of a run, and a pool of workers has not failed" {
  trace_options=(--set trace_libraries=stdio)
  told "$PROG/stdio_putc" 5000
  grep -E '^ *STDIO +1 +0 B +0 +4.9 KiB +5,000 ' <<<"$output"
  trace_options=()
  told /usr/bin/python3 -c 'import multiprocessing as m
with m.Pool(2) as p: print(p.map(abs, [1, -2]))'
  [[ "$output" != *failed* ]]
  # a worker that ends by itself before it is told to has ended with 0, too
  [[ "$output" =~ processes\ +[0-9]+:\ [0-9]+\ ended\ with\ 0(,.*\ by\ SIGTERM)?$'\n' ]]
}

@test "operations: the ledger's are the log's, or it says how many of the job's are in the log" {
  told cp "$PROG/mapping" copy
  ops=$(counter PROCESS_OPERATIONS)
  [ "$ops" -gt 0 ]
  expect '' LEDGER_EVENTS="$ops" LEDGER_RECORDED="$ops"
  [[ "$output" == *"ledger     complete: $ops operations seen, all recorded" ]]
  # two logs: the launcher's has the rest
  library_copy libmpich.so.12
  told mpiexec.mpich -n 2 "$LIBPROG/mpich/mpiio_calls" f
  ops=$(counter PROCESS_OPERATIONS)
  seen=$(counter LEDGER_EVENTS)
  if [ "$ops" -lt "$seen" ]; then
    [[ "$whole" == *"of the whole job, $ops in this log"* ]]
  fi
  [[ "$output" == *", 2 ranks, "* || "$output" == *": 2 ranks, "* ]]
}

@test "libraries above: bytes and time of MPI-IO, HDF5 and PnetCDF stand beside POSIX" {
  library_copy libmpich.so.12 libhdf5_mpich.so.103
  told "$LIBPROG/mpich/hdf5_calls" a.h5
  [[ "$whole" == *"HDF5 3 datasets; read "*" in 4 calls, wrote "*" in 9 calls; "*" s"* ]]
  told mpiexec.mpich -n 2 "$LIBPROG/mpich/mpiio_calls" f
  grep -E '^ *MPI-IO +[0-9]+ ' <<<"$output"
  library_copy libpnetcdf.so.0d libmpi.so.40
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  told mpirun.openmpi -n 1 "$LIBPROG/openmpi/pnetcdf_calls" "$T/w/t.nc"
  [[ "$whole" == *"PnetCDF "*" variables; read "* ]]
}
