#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# HDF5 at its edges (tests/prog/hdf5_edges.c): every selection, dataspace and
# layout, names, calls that fail, files closed in every way, a killed process.
load helper
load hdf5_edges

@test "the library without MPI" {
  library_copy libhdf5_serial.so.103
  trace hdf5 "$LIBPROG/hdf5_edges_serial" .
  edges_totals
}

@test "with MPICH, which is not started" {
  library_copy libmpich.so.12 libhdf5_mpich.so.103
  trace hdf5,mpiio "$LIBPROG/mpich/hdf5_edges" .
  edges_totals
}

@test "with Open MPI, which is not started, nothing preloaded" {
  library_copy libmpi.so.40 libhdf5_openmpi.so.103
  trace_options=(--no-runtime)
  trace hdf5,mpiio "$LIBPROG/openmpi/hdf5_edges" .
  edges_totals
}

@test "killed inside H5Dwrite: the calls before it are there, that one is not" {
  library_copy libhdf5_serial.so.103
  trace hdf5 "$LIBPROG/hdf5_edges_serial" . killed
  [ "$status" -eq 137 ]
  one_log
  expect "^$T/w/killed.h5\$" H5F_OPENS=1 H5F_FLUSHES=1
  expect "^$T/w/killed.h5:/x\$" H5D_OPENS=1 H5D_WRITES=1 H5D_BYTES_WRITTEN=40 H5D_SIZE_WRITE_AGG_0_100=1 \
    H5D_ACCESS1_ACCESS=40 H5D_ACCESS1_COUNT=1
  [ "$(records H5D)" -eq 1 ]
  file_ids
  expect '' LEDGER_LIB_UNKNOWN=0 LEDGER_LIB_DROPPED=0
}

@test "h5py: files are closed by counting references" {
  library_copy libhdf5_serial.so.103
  cat >"$T/some.py" <<'X'
import h5py, numpy, os
with h5py.File("py.h5", "w") as f:
    rows = f.create_dataset("g/rows", data=numpy.arange(1000.0))
    f.flush()
    rows.flush()
    packed = f.create_dataset("packed", (40, 60), dtype="i2", chunks=(10, 20), compression="gzip")
    packed[...] = numpy.ones((40, 60), "i2")
    packed[5:15:2, 7] = 3
    os.mkdir("below")
    os.chdir("below")  # the file is where it was
    f["given"] = numpy.arange(50, dtype="f4")  # written first, named then
    f.create_dataset("moved", data=numpy.arange(5.0))
    try:
        f["g/none"]
        raise SystemExit("found")
    except KeyError:
        pass
f = h5py.File("../py.h5", "r")
assert f["g/rows"][()].sum() == 499500.0
assert f["g"]["rows"][10:20].sum() == 145
f.close()
X
  trace hdf5 /usr/bin/python3 "$T/some.py"
  [ "$status" -eq 0 ]
  one_log
  expect "^$T/w/py.h5\$" H5F_OPENS=2 H5F_FLUSHES=1
  expect "^$T/w/py.h5:/g/rows\$" H5D_WRITES=1 H5D_READS=2 H5D_BYTES_WRITTEN=8000 H5D_BYTES_READ=8080 H5D_FLUSHES=1
  # all of it, and 5 single elements of 2 bytes
  expect "^$T/w/py.h5:/packed\$" H5D_WRITES=2 H5D_BYTES_WRITTEN=$((40 * 60 * 2 + 10)) H5D_CHUNK_SIZE_D1=20 \
    H5D_CHUNK_SIZE_D2=10 H5D_DATATYPE_SIZE=2 H5D_ACCESS2_LENGTH_D5=5 H5D_ACCESS2_STRIDE_D5=2
  expect "^$T/w/py.h5:/given\$" H5D_OPENS=1 H5D_WRITES=1 H5D_BYTES_WRITTEN=200 H5D_ACCESS1_ACCESS=200
  expect "^$T/w/py.h5:/moved\$" H5D_WRITES=1 H5D_BYTES_WRITTEN=40
  [ "$(records H5D)" -eq 4 ]
  file_ids
  closed_times
  expect '' LEDGER_LIB_UNKNOWN=0 LEDGER_LIB_DROPPED=0
}
