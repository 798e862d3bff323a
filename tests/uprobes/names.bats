#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# One file has one id in every module, however it was named.
load helper

# ids PATH MODULE...: records of these modules and of POSIX have this name and its one id.
ids() {
  local path=$1 m id ids
  shift
  ids=$("$IOSCRIBE" parse --base "$LOG" | awk -F '\t' -v p="$path" '$6 == p { print $3 }' | sort -u)
  echo "$path: $ids"
  [ "$(wc -l <<<"$ids")" -eq 1 ]
  id=$ids
  for m in POSIX "$@"; do
    "$IOSCRIBE" parse --base "$LOG" | awk -F '\t' -v m="$m" -v p="$path" -v id="$id" \
      '$1 == m && $6 == p && $3 == id { found = 1 } END { exit !found }' || { echo "no $m record of $path"; return 1; }
  done
}

# No record of a library by another of the names. (A link itself may be looked at: that is POSIX's.)
none_of() {
  ! "$IOSCRIBE" parse --base "$LOG" | awk -F '\t' '$1 ~ /^(MPI-IO|H5F|H5D|PNETCDF|LAYERS)/ { print $6 }' | grep -E "$1"
}

@test "MPI-IO: through a link, by a relative path, with a prefix" {
  library_copy libmpich.so.12
  mkdir real && ln -s real link
  for name in link/f ./real/../link/f ufs:link/f "ufs:$T/w/link/f"; do
    rm -f real/f
    trace mpiio "$LIBPROG/mpich/mpiio_layers" "$name"
    [ "$status" -eq 0 ]
    one_log
    ids "$T/w/real/f" MPI-IO LAYERS
    none_of 'link|ufs|\.\.'
  done
}

@test "HDF5: a link to the file, datasets below its real name" {
  library_copy libmpich.so.12 libhdf5_mpich.so.103
  mkdir real && ln -s real/a.h5 b.h5
  : >real/a.h5
  trace hdf5 "$LIBPROG/mpich/hdf5_calls" ./b.h5
  [ "$status" -eq 0 ]
  one_log
  ids "$T/w/real/a.h5" H5F LAYERS
  expect "^$T/w/real/a.h5:/chunked\$" H5D_WRITES=1
  none_of 'b\.h5'
}

@test "PnetCDF: through a link" {
  library_copy libmpi.so.40 libpnetcdf.so.0d
  mkdir real && ln -s real link
  trace_options=(--no-runtime)
  trace pnetcdf,mpiio mpirun.openmpi --allow-run-as-root -n 1 "$LIBPROG/openmpi/pnetcdf_fortran" "$T/w/link/t.nc"
  [ "$status" -eq 0 ]
  one_log
  ids "$T/w/real/t.nc" PNETCDF_FILE MPI-IO LAYERS
  expect "^$T/w/real/t.nc:v\$" PNETCDF_VAR_OPENS=1
  none_of 'link'
}

@test "HDF5 over MPI-IO, two ranks: by a link, a relative path, a prefix; one id in four modules" {
  library_copy libmpich.so.12 libhdf5_mpich.so.103
  mkdir real && ln -s real link
  for name in ./real/../link/b.h5 "ufs:$T/w/link/b.h5"; do
    rm -f real/b.h5
    trace hdf5,mpiio mpiexec.mpich -n 2 "$LIBPROG/mpich/hdf5_calls" "$name" mpio
    [ "$status" -eq 0 ]
    one_log
    ids "$T/w/real/b.h5" H5F MPI-IO LAYERS
    expect "^$T/w/real/b.h5:/rows\$" H5D_WRITES=4
    # what a dataset says of its file is that id, too
    [ "$("$IOSCRIBE" parse --base "$LOG" | awk -F '\t' '
      $1 == "H5F" { id = $3 } $4 == "H5D_FILE_REC_ID" { of = $5 } END { print id == of && id != "" }')" = 1 ]
    none_of 'link|ufs|\.\.'
  done
}

# A prefix is for MPICH: Open MPI takes it for a part of the name.
@test "PnetCDF: by relative paths through a link" {
  library_copy libmpi.so.40 libpnetcdf.so.0d
  mkdir real && ln -s real link
  trace_options=(--no-runtime)
  for name in link/t.nc ../w/real/../link/t.nc; do
    rm -f real/t.nc
    trace pnetcdf,mpiio mpirun.openmpi --allow-run-as-root -n 1 "$LIBPROG/openmpi/pnetcdf_fortran" "$name"
    [ "$status" -eq 0 ]
    one_log
    ids "$T/w/real/t.nc" PNETCDF_FILE MPI-IO LAYERS
    expect "^$T/w/real/t.nc:v\$" PNETCDF_VAR_OPENS=1
    none_of 'link|ufs|\.\.'
  done
}
