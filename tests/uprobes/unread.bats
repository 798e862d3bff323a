#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Libraries that are hard to read, or cannot be: the log has their calls, or says
# which library could not be looked into. It never calls the module whole.
load helper

# incomplete MODULE TEXT: the log's reader says so.
incomplete() {
  "$IOSCRIBE" parse "$LOG" >/dev/null 2>"$T/said" || true
  grep -F "the $1 module's data are incomplete, $2" "$T/said" ||
    { cat "$T/said"; "$IOSCRIBE" summary "$LOG"; return 1; }
}

@test "a library of more than 1 GiB" {
  library_copy libmpich.so.12
  truncate -s 1200M "$T/lib/libmpich.so.12"
  trace mpiio mpiexec.mpich -n 2 "$LIBPROG/mpich/mpiio_calls" f
  [ "$status" -eq 0 ]
  one_log
  mpiio_totals
}

# served_by_user COMMAND...: the libraries of $T/lib come from a program of the namespace's own.
served_by_user() {
  trace mpiio unshare --mount sh -c '
    dir=$1; shift
    mkdir "$dir/fs"
    /usr/bin/python3 "$IOSCRIBE_SOURCE/tests/service/library_fs.py" "$dir/fs" "$dir/lib/libmpich.so.12" &
    until mountpoint -q "$dir/fs"; do sleep 0.1; done
    LD_LIBRARY_PATH=$dir/fs "$@"; status=$?
    kill $!
    exit $status' sh "$T" "$@"
}

@test "a library on a file system that a user serves is named" {
  library_copy libmpich.so.12
  served_by_user "$LIBPROG/mpich/mpiio_calls" f
  [ "$status" -eq 0 ]
  incomplete MPI-IO 'libmpich.so.12 could not be looked into: a program of a user'\''s serves its file system'
  "$IOSCRIBE" summary "$LOG" | tr -s '[:space:]' ' ' | grep 'libmpich.so.12 could not be looked into'
}

@test "HDF5 inside a program below another root: recorded, or said not to be" {
  make_root "$LIBPROG/hdf5_inside"
  trace hdf5 unshare --mount sh -c '
    for d in dev proc sys; do mount --rbind /$d "$1/$d" || exit 9; done
    exec chroot "$1" /program /w/a.h5' sh "$T/root"
  [ "$status" -eq 0 ]
  "$IOSCRIBE" parse "$LOG" >/dev/null 2>"$T/said" || true
  grep "module's data are incomplete, .*/program" "$T/said" ||
    expect '/a.h5:/chunked$' H5D_WRITES=1 H5D_BYTES_WRITTEN=4000
}
