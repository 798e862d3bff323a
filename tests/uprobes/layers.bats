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
  trace_options=(--set collective=yes)
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

# ratio COUNTER FILE ABOVE BELOW: the ratio of the record is BELOW / ABOVE.
ratio() {
  local have want
  have=$(real "$1" "$2")
  want=$(awk -v a="$3" -v b="$4" 'BEGIN { printf "%.4f", b / a }')
  [ "$have" = "$want" ] || { echo "$1 of $2: $have, $4 / $3 is $want"; return 1; }
}

# between LEAST VALUE MOST
between() {
  [ "$1" -le "$2" ] && [ "$2" -le "$3" ] || { echo "$2 is not between $1 and $3"; return 1; }
}

@test "collective buffering: one rank moves for two, bytes stay the same" {
  library_copy libmpich.so.12
  head -c 4096 /dev/zero >f
  trace mpiio mpiexec.mpich -n 2 "$LIBPROG/mpich/mpiio_buffers" f buffered
  [ "$status" -eq 0 ]
  one_log
  expect '/f$' MPIIO_COLL_WRITES=2 MPIIO_COLL_READS=2 POSIX_WRITES=1 POSIX_READS=1 LAYERS_MPIIO_BYTES_WRITTEN=2048 \
    LAYERS_MPIIO_BYTES_READ=2048 LAYERS_POSIX_BYTES_WRITTEN=2048 LAYERS_POSIX_BYTES_READ=2048 \
    LAYERS_MPIIO_BENEATH_WRITTEN=2048 LAYERS_MPIIO_BENEATH_READ=2048
  ratio LAYERS_F_WRITE_POSIX_PER_MPIIO '/f$' 1 1
  ratio LAYERS_F_READ_POSIX_PER_MPIIO '/f$' 1 1
}

@test "data sieving: what lies between is read and written, too" {
  library_copy libmpich.so.12
  head -c 4096 /dev/zero >f
  trace mpiio mpiexec.mpich -n 2 "$LIBPROG/mpich/mpiio_buffers" f sieved
  [ "$status" -eq 0 ]
  one_log
  # from the first block's begin to the last one's end: 63 * 32 + 16; read before it is written, and read again
  expect '/f$' MPIIO_INDEP_WRITES=1 LAYERS_MPIIO_BYTES_WRITTEN=1024 LAYERS_MPIIO_BYTES_READ=1024 \
    LAYERS_POSIX_BYTES_WRITTEN=2032 LAYERS_POSIX_BYTES_READ=4064 LAYERS_MPIIO_BENEATH_WRITTEN=2032 \
    LAYERS_MPIIO_BENEATH_READ=4064
  ratio LAYERS_F_WRITE_POSIX_PER_MPIIO '/f$' 1024 2032
  ratio LAYERS_F_READ_POSIX_PER_TOP '/f$' 1024 4064
}

@test "HDF5's chunks: compressed ones are less, parts of plain ones more" {
  local stored
  library_copy libhdf5_serial.so.103
  trace hdf5 "$LIBPROG/hdf5_chunks_serial" c.h5
  [ "$status" -eq 0 ]
  one_log
  stored=$(sed -n 's/^stored //p' <<<"$output")
  [ "$stored" -gt 0 ]
  [ "$stored" -lt 40000 ]
  expect '/c.h5$' LAYERS_HDF5_BYTES_WRITTEN=800000 LAYERS_HDF5_BYTES_READ=16 \
    LAYERS_POSIX_BYTES_WRITTEN="$(counter POSIX_BYTES_WRITTEN '/c.h5$')" \
    LAYERS_POSIX_BYTES_READ="$(counter POSIX_BYTES_READ '/c.h5$')"
  # beside the data only what describes it
  between $((400000 + stored)) "$(counter POSIX_BYTES_WRITTEN '/c.h5$')" $((400000 + stored + 16384))
  between 160000 "$(counter POSIX_BYTES_READ '/c.h5$')" $((160000 + 16384))
  between 160000 "$(counter LAYERS_HDF5_BENEATH_READ '/c.h5$')" "$(counter POSIX_BYTES_READ '/c.h5$')"
  between $((400000 + stored)) "$(counter LAYERS_HDF5_BENEATH_WRITTEN '/c.h5$')" "$(counter POSIX_BYTES_WRITTEN '/c.h5$')"
  ratio LAYERS_F_WRITE_POSIX_PER_TOP '/c.h5$' 800000 "$(counter POSIX_BYTES_WRITTEN '/c.h5$')"
  ratio LAYERS_F_READ_POSIX_PER_TOP '/c.h5$' 16 "$(counter POSIX_BYTES_READ '/c.h5$')"
}

@test "three levels: HDF5 over MPI-IO over system calls, two ranks" {
  library_copy libmpich.so.12 libhdf5_mpich.so.103
  trace hdf5,mpiio mpiexec.mpich -n 2 "$LIBPROG/mpich/hdf5_calls" b.h5 mpio
  [ "$status" -eq 0 ]
  one_log
  expect '/b.h5$' LAYERS_HDF5_BYTES_WRITTEN=4096 LAYERS_HDF5_BYTES_READ=0 \
    LAYERS_MPIIO_BYTES_WRITTEN="$(counter MPIIO_BYTES_WRITTEN '/b.h5$')" \
    LAYERS_POSIX_BYTES_WRITTEN="$(counter POSIX_BYTES_WRITTEN '/b.h5$')"
  # beside the data what describes it, all of it by MPI-IO
  between 4096 "$(counter MPIIO_BYTES_WRITTEN '/b.h5$')" 16384
  ratio LAYERS_F_WRITE_MPIIO_PER_TOP '/b.h5$' 4096 "$(counter MPIIO_BYTES_WRITTEN '/b.h5$')"
  ratio LAYERS_F_WRITE_POSIX_PER_TOP '/b.h5$' 4096 "$(counter POSIX_BYTES_WRITTEN '/b.h5$')"
  ratio LAYERS_F_WRITE_POSIX_PER_MPIIO '/b.h5$' "$(counter MPIIO_BYTES_WRITTEN '/b.h5$')" \
    "$(counter POSIX_BYTES_WRITTEN '/b.h5$')"
}

@test "three levels: PnetCDF over MPI-IO over system calls, by what PnetCDF says it has moved" {
  local put asked
  library_copy libmpi.so.40 libpnetcdf.so.0d
  trace pnetcdf,mpiio mpirun.openmpi --allow-run-as-root -n 1 "$LIBPROG/openmpi/pnetcdf_edges" "$T/w/p.nc"
  [ "$status" -eq 0 ]
  one_log
  put=$(awk '/^rank/ { print $4 }' <<<"$output")
  # MPI-IO counts what is asked for: 256 KiB for a header, three times
  asked=$(counter MPIIO_BYTES_READ '/p.nc$')
  between $((3 * 262144 + 1056)) "$asked" $((3 * 262144 + 4096))
  # temp, step, fixed, wide, few0 to few79
  expect '/p.nc$' LAYERS_PNETCDF_BYTES_WRITTEN=$((484 + 16 + 48 + 300 + 320)) \
    LAYERS_PNETCDF_BYTES_READ=$((320 + 8 + 528 + 200)) LAYERS_MPIIO_BYTES_WRITTEN="$put" \
    LAYERS_MPIIO_BYTES_READ="$asked" LAYERS_POSIX_BYTES_READ="$(counter POSIX_BYTES_READ '/p.nc$')"
  ratio LAYERS_F_WRITE_MPIIO_PER_TOP '/p.nc$' 1168 "$put"
  ratio LAYERS_F_READ_MPIIO_PER_TOP '/p.nc$' 1056 "$asked"
}
