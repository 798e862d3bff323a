#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# LAYERS: bytes of one file at each level, beneath calls, and their ratios.
load helper

# A real counter of the one record of a file, to four places.
real() {
  "$IOSCRIBE" parse --base "$LOG" | awk -F '\t' -v n="$1" -v file="$2" '$4 == n && $6 ~ file { printf "%.4f\n", $5 }'
}

three_levels() {
  [ "$status" -eq 0 ]
  one_log
  expect '/f$' LAYERS_MPIIO_BYTES_WRITTEN=2000 LAYERS_MPIIO_BYTES_READ=1000 LAYERS_POSIX_BYTES_WRITTEN=2024 \
    LAYERS_POSIX_BYTES_READ=1000 LAYERS_MPIIO_BENEATH_WRITTEN=2000 LAYERS_MPIIO_BENEATH_READ=1000 \
    LAYERS_HDF5_BYTES_READ=0 LAYERS_HDF5_BENEATH_WRITTEN=0
}

@test "MPI-IO over system calls, a record a rank joined to one" {
  library_copy libmpich.so.12
  trace mpiio mpiexec.mpich -n 2 "$LIBPROG/mpich/mpiio_layers" f
  three_levels
  [ "$(records LAYERS)" -eq 1 ]
  [ "$(real LAYERS_F_WRITE_POSIX_PER_MPIIO '/f$')" = 1.0120 ]
  [ "$(real LAYERS_F_READ_POSIX_PER_TOP '/f$')" = 1.0000 ]
  [ "$(real LAYERS_F_READ_MPIIO_PER_TOP '/f$')" = -1.0000 ]
}

@test "the same, reduced by the daemon" {
  library_copy libmpich.so.12
  trace_options=(--no-runtime)
  trace mpiio mpiexec.mpich -n 2 "$LIBPROG/mpich/mpiio_layers" f
  three_levels
}

@test "HDF5 over system calls: a chunk of 4,000 bytes for each dataset of it" {
  library_copy libmpich.so.12 libhdf5_mpich.so.103
  trace hdf5 "$LIBPROG/mpich/hdf5_calls" a.h5
  [ "$status" -eq 0 ]
  one_log
  [ "$(records LAYERS)" -eq 1 ]
  expect '/a.h5$' LAYERS_HDF5_BYTES_WRITTEN=$((69736 + 4000 + 580)) LAYERS_HDF5_BYTES_READ=$((66560 + 148)) \
    LAYERS_MPIIO_BYTES_WRITTEN=0 LAYERS_POSIX_BYTES_WRITTEN="$(counter POSIX_BYTES_WRITTEN '/a.h5$')"
  # all that the library does to the file, it does inside its calls
  [ "$(counter LAYERS_HDF5_BENEATH_WRITTEN '/a.h5$')" -gt 60000 ]
  [ "$(counter LAYERS_HDF5_BENEATH_WRITTEN '/a.h5$')" -le "$(counter POSIX_BYTES_WRITTEN '/a.h5$')" ]
  "$IOSCRIBE" export --json "$LOG" | grep -q LAYERS_HDF5_BYTES_WRITTEN
}
