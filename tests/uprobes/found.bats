#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Libraries wherever they are: inside the program, below another root, brought
# by Python, another C library's; and what is found too late says so.
load helper

@test "MPI inside the program" {
  trace mpiio mpiexec.mpich -n 2 "$LIBPROG/mpiio_wrap" f
  mpiio_totals
  trace_options=(--no-runtime)
  trace mpiio mpiexec.mpich -n 2 "$LIBPROG/mpiio_wrap" f
  mpiio_totals
}

@test "HDF5 inside the program" {
  library_copy libmpich.so.12
  trace hdf5 "$LIBPROG/hdf5_inside" a.h5
  [ "$status" -eq 0 ]
  one_log
  expect '/a.h5$' H5F_OPENS=2 H5F_FLUSHES=1
  expect '/a.h5:/group/plain$' H5D_OPENS=3 H5D_READS=2 H5D_WRITES=4 H5D_BYTES_READ=66560 H5D_BYTES_WRITTEN=69736
  expect '/a.h5:/chunked$' H5D_WRITES=1 H5D_BYTES_WRITTEN=4000
}

@test "a wholly static program: its streams" {
  trace stdio "$LIBPROG/stdio_static"
  [ "$status" -eq 0 ]
  one_log
  expect '/writes$' STDIO_OPENS=2 STDIO_BYTES_WRITTEN=71355
  expect '/threads$' STDIO_OPENS=1 STDIO_BYTES_WRITTEN=64000
  expect '/by_exit$' STDIO_OPENS=1 STDIO_WRITES=1 STDIO_BYTES_WRITTEN=4
}

@test "a program that is written over in place while it is probed: the new build runs, and the module says what it lacks" {
  cp "$LIBPROG/mpiio_wrap" "$T/program"
  trace_options=(--no-runtime)
  trace mpiio bash -c '"$1" f && cat "$2" >"$1" && "$1" g' bash "$T/program" "$LIBPROG/mpiio_again"
  [ "$status" -eq 0 ]
  cmp "$T/program" "$LIBPROG/mpiio_again"
  run "$IOSCRIBE" parse "$LOG"
  grep 'a library of its was opened for writing, and lost its probes' <<<"$output"
}

@test "a command that uses none of the libraries: nothing is attached to, the preloaded one neither" {
  trace_options=(--verbose)
  trace auto sleep 0.5
  [ "$status" -eq 0 ]
  grep -q 'ioscribed\|libbpf' <<<"$output" # it does tell
  ! grep 'places probed' <<<"$output"
}

@test "below another root, with its own copy of the library" {
  make_root "$LIBPROG/mpich/mpiio_waits"
  trace_options=(--no-runtime)
  trace_until 'libmpich.*places probed.*late' mpiio unshare --mount sh -c '
    for d in dev proc sys; do mount --rbind /$d "$1/root/$d" || exit 9; done
    mount --bind "$1/w" "$1/root/w" || exit 9
    exec chroot "$1/root" /program /w/f /w/go' sh "$T"
  [ "$status" -eq 0 ]
  one_log
  expect '/w/f$' MPIIO_INDEP_OPENS=1 MPIIO_INDEP_WRITES=5 MPIIO_BYTES_WRITTEN=40 MPIIO_INDEP_READS=3 \
    MPIIO_BYTES_READ=48
}

@test "a program of musl: not hurt, POSIX recorded" {
  trace all "$LIBPROG/musl_calls"
  [ "$status" -eq 7 ]
  [ "$output" = done ]
  one_log
  expect '/plain$' POSIX_OPENS=1 POSIX_WRITES=4 POSIX_BYTES_WRITTEN=4000
  # its fopen is not probed, but stood before, as all its calls are
  expect '/stream$' POSIX_OPENS=0 POSIX_BYTES_WRITTEN=0 STDIO_OPENS=3 STDIO_WRITES=3 STDIO_BYTES_WRITTEN=6
  rm ./*
  trace_options=(--set stdio_wrap=no)
  trace all "$LIBPROG/musl_calls"
  [ "$status" -eq 7 ]
  one_log
  expect '/stream$' POSIX_OPENS=3 POSIX_BYTES_WRITTEN=6 STDIO_OPENS=0
}

@test "Python with h5py" {
  library_copy libhdf5_serial.so.103
  cat >"$T/some.py" <<'X'
import h5py, numpy
with h5py.File("py.h5", "w") as f:
    f.create_dataset("rows", data=numpy.arange(1000.0))
with h5py.File("py.h5", "r") as f:
    assert f["rows"][:].sum() == 499500.0
X
  trace hdf5 /usr/bin/python3 "$T/some.py"
  [ "$status" -eq 0 ]
  one_log
  expect '/py.h5$' H5F_OPENS=2
  expect '/py.h5:/rows$' H5D_OPENS=2 H5D_WRITES=1 H5D_BYTES_WRITTEN=8000 H5D_READS=1 H5D_BYTES_READ=8000 \
    H5D_DATASPACE_NPOINTS=1000
}

@test "mpi4py, two ranks" {
  library_copy libmpi.so.40
  cat >"$T/ranks.py" <<'X'
from mpi4py import MPI
comm = MPI.COMM_WORLD
fh = MPI.File.Open(comm, "@/ranks", MPI.MODE_CREATE | MPI.MODE_RDWR)
for i in range(3):
    fh.Write_at_all(comm.rank * 300 + i * 100, bytearray(100))
fh.Sync()
comm.Barrier()
fh.Read_at(0, bytearray(50))
every = MPI.DOUBLE.Create_vector(5, 2, 4).Commit()
fh.Write_at(1000 + comm.rank * 200, [bytearray(200), 1, every])
fh.Iread_at(0, bytearray(40)).Wait()
fh.Write_ordered(bytearray(7))
fh.Set_view(8, MPI.INT, MPI.INT)
fh.Read_at_all_begin(0, [bytearray(12), 3, MPI.INT])
fh.Read_at_all_end(bytearray(12))
try:
    MPI.File.Open(MPI.COMM_SELF, "@/none/such")
    raise SystemExit(3)
except MPI.Exception:
    pass
fh.Close()
X
  sed -i "s,@,$T/w," "$T/ranks.py"
  for options in --quiet --no-runtime; do
    rm -f ranks
    trace_options=($options)
    trace mpiio mpirun.openmpi --allow-run-as-root --oversubscribe -n 2 /usr/bin/python3 "$T/ranks.py"
    [ "$status" -eq 0 ]
    one_log
    expect '/ranks$' MPIIO_COLL_OPENS=2 MPIIO_COLL_WRITES=8 MPIIO_INDEP_WRITES=2 MPIIO_BYTES_WRITTEN=774 \
      MPIIO_SYNCS=2 MPIIO_INDEP_READS=2 MPIIO_NB_READS=2 MPIIO_SPLIT_READS=2 MPIIO_VIEWS=2 MPIIO_BYTES_READ=204
    expect '' LEDGER_LIB_DROPPED=0 LEDGER_LIB_UNKNOWN=0 LEDGER_LIB_SIZE_UNKNOWN=0
  done
}

# A library of a name that nobody knows, loaded by hand.
late_script() {
  library_copy libmpich.so.12
  cp "$(ldconfig -p | awk '$1 == "libhdf5_mpich.so.103" { print $NF; exit }')" "$T/w/other_name.so"
  cat >"$T/dlopen.py" <<'X'
import ctypes, os, signal, subprocess, sys, time
stopped = 0
if sys.argv[1] == "begin":
    # what follows comes before the daemon can look
    stopped = int(subprocess.check_output(["pgrep", "-P", str(os.getppid()), "-x", "ioscribed"]).split()[0])
    os.kill(stopped, signal.SIGSTOP)
try:
    lib = ctypes.CDLL("./other_name.so")
    if stopped:
        lib.H5open()
finally:
    if stopped:
        os.kill(stopped, signal.SIGCONT)
for i in range(1200):
    if os.path.exists("go"):
        break
    time.sleep(0.05)
lib.H5Fcreate.restype = ctypes.c_long
lib.H5Fcreate.argtypes = [ctypes.c_char_p, ctypes.c_uint, ctypes.c_long, ctypes.c_long]
lib.H5Fclose.argtypes = [ctypes.c_long]
f = lib.H5Fcreate(b"dl.h5", 2, 0, 0)
assert f >= 0
assert lib.H5Fclose(f) >= 0
X
  trace_options=(--no-runtime)
}

@test "loaded by hand under another name, and not yet started: nothing is missed" {
  late_script
  trace_until 'other_name.*places probed.*late' hdf5 /usr/bin/python3 "$T/dlopen.py" wait
  [ "$status" -eq 0 ]
  one_log
  expect '/dl.h5$' H5F_OPENS=1
}

@test "started before it was found: the module says so" {
  late_script
  trace_until 'was called before it was probed' hdf5 /usr/bin/python3 "$T/dlopen.py" begin
  [ "$status" -eq 0 ]
  run "$IOSCRIBE" parse "$LOG"
  [[ "$output" == *"H5F"*"incomplete"* ]]
  "$IOSCRIBE" parse --base --show-incomplete "$LOG" | awk -F '\t' '$4 == "H5F_OPENS" && $5 == 1 && $6 ~ /dl.h5$/' | grep -q .
}

@test "places are found in a library that somebody probes already as in one that nobody does" {
  library_copy libmpich.so.12
  "$IOSCRIBE_BUILD/tests/bench/places" "$T/lib/libmpich.so.12" >"$T/before.places"
  grep -q 'MPI: [1-9][0-9]* places, [1-9]' "$T/before.places"
  LD_LIBRARY_PATH=$T/lib "$IOSCRIBE" run --quiet --force --log "$LOG" --set library_cache=no --set mpiio_wrap=no --set trace_libraries=mpiio -- /usr/bin/python3 -c '
import ctypes, subprocess, sys
at = ctypes.cast(ctypes.CDLL("libmpich.so.12").MPI_File_open, ctypes.c_void_p).value
assert ctypes.string_at(at, 1) == b"\xcc"
sys.exit(subprocess.call(sys.argv[1:]))' "$IOSCRIBE_BUILD/tests/bench/places" "$T/lib/libmpich.so.12" >"$T/during.places"
  diff "$T/before.places" "$T/during.places"
}
