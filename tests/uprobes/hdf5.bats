#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# HDF5: files and datasets, alone and together, by totals that are known.
load helper

@test "HDF5 with MPICH: selections, conversion, chunks" {
  library_copy libmpich.so.12 libhdf5_mpich.so.103
  trace hdf5,mpiio "$LIBPROG/mpich/hdf5_calls" a.h5
  hdf5_totals
}

@test "HDF5 with Open MPI: selections, conversion, chunks" {
  library_copy libmpi.so.40 libhdf5_openmpi.so.103
  trace_options=(--no-runtime)
  trace hdf5,mpiio mpirun.openmpi --allow-run-as-root -n 1 "$LIBPROG/openmpi/hdf5_calls" a.h5
  hdf5_totals
}

@test "two ranks on one file: MPI-IO below, reduced by the ranks" {
  library_copy libmpich.so.12 libhdf5_mpich.so.103
  trace_options=(--set collective=yes)
  trace hdf5,mpiio mpiexec.mpich -n 2 "$LIBPROG/mpich/hdf5_calls" b.h5 mpio
  [ "$status" -eq 0 ]
  one_log
  expect '/b.h5$' H5F_OPENS=2 H5F_USE_MPIIO=1 MPIIO_COLL_OPENS=2 MPIIO_COLL_WRITES=2
  expect '/b.h5:/rows$' H5D_OPENS=2 H5D_WRITES=4 H5D_BYTES_WRITTEN=4096 H5D_REGULAR_HYPERSLAB_SELECTS=4 \
    H5D_USE_MPIIO_COLLECTIVE=1
  [ "$(records H5D)" -eq 1 ]
}

@test "two ranks, MPI-IO itself not probed: whether it was used is not known" {
  library_copy libmpich.so.12 libhdf5_mpich.so.103
  trace hdf5 mpiexec.mpich -n 2 "$LIBPROG/mpich/hdf5_calls" b.h5 mpio
  [ "$status" -eq 0 ]
  one_log
  expect '/b.h5$' H5F_OPENS=2 H5F_USE_MPIIO=-1 MPIIO_COLL_OPENS=0
  expect '/b.h5:/rows$' H5D_WRITES=4 H5D_BYTES_WRITTEN=4096 H5D_USE_MPIIO_COLLECTIVE=-1
}
