#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# HDF5: files and datasets, alone and together, by totals that are known.
load helper

alone() {
  [ "$status" -eq 0 ]
  one_log
  expect '/a.h5$' H5F_OPENS=2 H5F_FLUSHES=1 H5F_USE_MPIIO=0
  expect '/a.h5:/group/plain$' H5D_OPENS=3 H5D_READS=2 H5D_WRITES=4 H5D_FLUSHES=1 H5D_BYTES_READ=66560 \
    H5D_BYTES_WRITTEN=69736 H5D_RW_SWITCHES=1 H5D_REGULAR_HYPERSLAB_SELECTS=2 \
    H5D_IRREGULAR_HYPERSLAB_SELECTS=1 H5D_POINT_SELECTS=1 H5D_SIZE_WRITE_AGG_0_100=2 \
    H5D_SIZE_WRITE_AGG_1K_10K=1 H5D_SIZE_WRITE_AGG_10K_100K=1 H5D_SIZE_READ_AGG_100_1K=1 \
    H5D_SIZE_READ_AGG_10K_100K=1 H5D_ACCESS1_ACCESS=65536 H5D_ACCESS1_COUNT=2 H5D_DATASPACE_NDIMS=2 \
    H5D_DATASPACE_NPOINTS=8192 H5D_DATATYPE_SIZE=8 H5D_CHUNK_SIZE_D1=0 H5D_USE_MPIIO_COLLECTIVE=0
  expect '/a.h5:/chunked$' H5D_OPENS=1 H5D_WRITES=1 H5D_BYTES_WRITTEN=4000 H5D_DATASPACE_NDIMS=1 \
    H5D_DATASPACE_NPOINTS=1000 H5D_DATATYPE_SIZE=4 H5D_CHUNK_SIZE_D1=100 H5D_CHUNK_SIZE_D2=0
  expect '/a.h5:/group/plain$' H5D_USE_DEPRECATED=0 H5D_ACCESS1_LENGTH_D5=0 H5D_ACCESS2_ACCESS=4096 \
    H5D_ACCESS2_LENGTH_D5=4 H5D_ACCESS2_LENGTH_D4=128 H5D_ACCESS2_STRIDE_D5=1 H5D_ACCESS2_STRIDE_D4=1 \
    H5D_ACCESS2_COUNT=1 H5D_ACCESS3_ACCESS=1024 H5D_ACCESS3_LENGTH_D5=1 H5D_ACCESS3_LENGTH_D4=128 \
    H5D_ACCESS4_ACCESS=80 H5D_ACCESS4_LENGTH_D5=0
  # 3 x 8 x 5 x 4 bytes by strides of 2 and 3, a stored chunk of 100 bytes out and in, 2 x 1 blocks of 2 x 3
  expect '/a.h5:/packed$' H5D_OPENS=2 H5D_USE_DEPRECATED=1 H5D_WRITES=4 H5D_READS=2 H5D_BYTES_WRITTEN=580 \
    H5D_BYTES_READ=148 H5D_REGULAR_HYPERSLAB_SELECTS=4 H5D_ACCESS1_ACCESS=160 H5D_ACCESS1_COUNT=3 \
    H5D_ACCESS1_LENGTH_D5=8 H5D_ACCESS1_LENGTH_D4=5 H5D_ACCESS1_LENGTH_D3=0 H5D_ACCESS1_STRIDE_D5=2 \
    H5D_ACCESS1_STRIDE_D4=3 H5D_ACCESS2_ACCESS=100 H5D_ACCESS2_COUNT=2 H5D_ACCESS2_LENGTH_D5=0 \
    H5D_ACCESS3_ACCESS=48 H5D_ACCESS3_COUNT=1 H5D_ACCESS3_LENGTH_D5=4 H5D_ACCESS3_LENGTH_D4=3 \
    H5D_ACCESS3_STRIDE_D5=8 H5D_CHUNK_SIZE_D1=5 H5D_CHUNK_SIZE_D2=8
  [ "$(records H5F)" -eq 1 ]
  [ "$(records H5D)" -eq 3 ]
  expect '' LEDGER_LIB_DROPPED=0 LEDGER_LIB_UNKNOWN=0
}

@test "HDF5 with MPICH: selections, conversion, chunks" {
  library_copy libmpich.so.12 libhdf5_mpich.so.103
  trace hdf5,mpiio "$LIBPROG/mpich/hdf5_calls" a.h5
  alone
}

@test "HDF5 with Open MPI: selections, conversion, chunks" {
  library_copy libmpi.so.40 libhdf5_openmpi.so.103
  trace_options=(--no-runtime)
  trace hdf5,mpiio mpirun.openmpi --allow-run-as-root -n 1 "$LIBPROG/openmpi/hdf5_calls" a.h5
  alone
}

@test "two ranks on one file: MPI-IO below, reduced by the ranks" {
  library_copy libmpich.so.12 libhdf5_mpich.so.103
  trace hdf5,mpiio mpiexec.mpich -n 2 "$LIBPROG/mpich/hdf5_calls" b.h5 mpio
  [ "$status" -eq 0 ]
  one_log
  expect '/b.h5$' H5F_OPENS=2 H5F_USE_MPIIO=1 MPIIO_COLL_OPENS=2 MPIIO_COLL_WRITES=2
  expect '/b.h5:/rows$' H5D_OPENS=2 H5D_WRITES=4 H5D_BYTES_WRITTEN=4096 H5D_REGULAR_HYPERSLAB_SELECTS=4 \
    H5D_USE_MPIIO_COLLECTIVE=1
  [ "$(records H5D)" -eq 1 ]
}
