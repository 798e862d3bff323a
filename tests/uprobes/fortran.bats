#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The libraries from Fortran: each call passes two libraries and counts once.
load helper

mpiio() {
  [ "$status" -eq 0 ]
  one_log
  expect '/f$' MPIIO_COLL_OPENS=2 MPIIO_INDEP_OPENS=0 MPIIO_INDEP_WRITES=4 MPIIO_COLL_WRITES=2 MPIIO_NB_WRITES=2 \
    MPIIO_SPLIT_READS=2 MPIIO_INDEP_READS=2 MPIIO_SYNCS=2 MPIIO_BYTES_WRITTEN=2640 MPIIO_BYTES_READ=824 \
    MPIIO_HINTS=0 MPIIO_SIZE_WRITE_AGG_0_100=4 MPIIO_SIZE_WRITE_AGG_100_1K=4
  expect '' LEDGER_LIB_DROPPED=0 LEDGER_LIB_UNKNOWN=0 LEDGER_LIB_SIZE_UNKNOWN=0
}

@test "MPI-IO, MPICH" {
  library_copy libmpich.so.12
  trace mpiio mpiexec.mpich -n 2 "$LIBPROG/mpich/mpiio_fortran" f
  mpiio
}

@test "MPI-IO, Open MPI" {
  library_copy libmpi.so.40
  trace_options=(--no-runtime)
  trace mpiio mpirun.openmpi --allow-run-as-root --oversubscribe -n 2 "$LIBPROG/openmpi/mpiio_fortran" "$T/w/f"
  mpiio
}

# interfaces MPI: mpif.h, use mpi, use mpi_f08, counted inside the program; the last by probes alone, too.
interfaces() {
  local mpi=$1 interface
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  for interface in mpif use f08 f08; do
    rm -f i
    trace mpiio "$LIBPROG/$mpi/mpiio_$interface" "$T/w/i"
    [ "$status" -eq 0 ]
    one_log
    expect '/i$' MPIIO_INDEP_OPENS=1 MPIIO_COLL_OPENS=0 MPIIO_INDEP_WRITES=6 MPIIO_COLL_WRITES=3 MPIIO_NB_WRITES=2 \
      MPIIO_SPLIT_WRITES=1 MPIIO_INDEP_READS=1 MPIIO_COLL_READS=1 MPIIO_NB_READS=1 MPIIO_SPLIT_READS=1 \
      MPIIO_BYTES_WRITTEN=1120 MPIIO_BYTES_READ=426 MPIIO_HINTS=2 MPIIO_VIEWS=1 MPIIO_SYNCS=1 MPIIO_MODE=9 \
      MPIIO_RW_SWITCHES=3
    expect '' LEDGER_LIB_DROPPED=0 LEDGER_LIB_UNKNOWN=0 LEDGER_LIB_SIZE_UNKNOWN=0
    [ "$interface" != f08 ] || trace_options=(--no-runtime)
  done
}

@test "MPI-IO by mpif.h, use mpi and use mpi_f08, MPICH" {
  library_copy libmpich.so.12
  interfaces mpich
}

@test "MPI-IO by mpif.h, use mpi and use mpi_f08, Open MPI" {
  library_copy libmpi.so.40
  interfaces openmpi
}

@test "HDF5" {
  library_copy libmpich.so.12 libhdf5_mpich.so.103
  trace hdf5 "$LIBPROG/mpich/hdf5_fortran" a.h5
  [ "$status" -eq 0 ]
  one_log
  expect '/a.h5$' H5F_OPENS=1 H5F_FLUSHES=1
  expect '/a.h5:/values$' H5D_OPENS=1 H5D_WRITES=1 H5D_READS=2 H5D_BYTES_WRITTEN=192 H5D_BYTES_READ=384 \
    H5D_DATASPACE_NDIMS=2 H5D_DATASPACE_NPOINTS=24 H5D_DATATYPE_SIZE=8
}

@test "PnetCDF, by both its Fortran interfaces" {
  library_copy libmpi.so.40 libpnetcdf.so.0d
  trace_options=(--no-runtime)
  trace pnetcdf mpirun.openmpi --allow-run-as-root -n 1 "$LIBPROG/openmpi/pnetcdf_fortran" "$T/w/t.nc"
  [ "$status" -eq 0 ]
  one_log
  expect '/t.nc$' PNETCDF_FILE_CREATES=1 PNETCDF_FILE_SYNCS=1 PNETCDF_FILE_OPENS=0 PNETCDF_FILE_COLL_WAITS=1 \
    PNETCDF_FILE_WAIT_FAILURES=0
  # the interface of Fortran 90 writes the whole variable by its counts; dimensions are those of C
  expect '/t.nc:v$' PNETCDF_VAR_OPENS=1 PNETCDF_VAR_COLL_WRITES=3 PNETCDF_VAR_COLL_READS=2 PNETCDF_VAR_GET_VARA=2 \
    PNETCDF_VAR_BYTES_WRITTEN=160 PNETCDF_VAR_BYTES_READ=96 PNETCDF_VAR_NPOINTS=24 PNETCDF_VAR_DATATYPE_SIZE=4 \
    PNETCDF_VAR_PUT_VARS=1 PNETCDF_VAR_ACCESS1_ACCESS=48 PNETCDF_VAR_ACCESS1_COUNT=3 PNETCDF_VAR_ACCESS1_LENGTH_D1=2 \
    PNETCDF_VAR_ACCESS1_LENGTH_D2=6 PNETCDF_VAR_PUT_VAR1=0
  expect '/t.nc:rec$' PNETCDF_VAR_OPENS=1 PNETCDF_VAR_NB_WRITES=2 PNETCDF_VAR_INDEP_READS=1 PNETCDF_VAR_GET_VAR1=1 \
    PNETCDF_VAR_BYTES_WRITTEN=96 PNETCDF_VAR_BYTES_READ=8 PNETCDF_VAR_IS_RECORD_VAR=1 PNETCDF_VAR_NDIMS=2
}
