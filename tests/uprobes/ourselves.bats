#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Nothing that our libraries do is in any record: a run with the runtime preloaded has the
# records, and in them the numbers, of a run without. Everything lies where records are kept.
load helper

# Counts of all logs, over all ranks, of modules $1 and files of the test (an MPI's own
# are named by process): not when, how long, or what is no sum.
numbers() {
  local log
  for log in "$T"/run*.darshan; do "$IOSCRIBE" parse --base "$log"; done | awk -F '\t' -v mods="$1" -v top="$T/" '
    BEGIN { n = split(mods, m, " "); for (i = 1; i <= n; i++) want[m[i]] = 1 }
    # not preloaded, streams have the reads, writes and seeks of their system calls
    $1 == "STDIO" && $4 ~ /_(READS|WRITES|SEEKS)$/ { next }
    want[$1] && index($6, top) == 1 && $4 !~ /_F_|TIME|RANK|ACCESS|STRIDE|MAX|MODE|ALIGNMENT/ { sum[$1 " " $6 " " $4] += $5 }
    END { for (k in sum) if (sum[k] > 0) print k, sum[k] }' | sort
}

anew() {
  rm -rf "$T/w/data" "$T"/run*.darshan
  mkdir "$T/w/data"
  cd "$T/w/data"
}

# both NAME MODULES COMMAND...: the command with and without the runtime; in both the same.
both() {
  local name=$1 modules=$2
  shift 2
  anew
  "$@" || return 1
  numbers "$modules" >"$T/$name.with"
  anew
  trace_options+=(--no-runtime)
  "$@" || return 1
  unset 'trace_options[-1]'
  numbers "$modules" >"$T/$name.without"
  [ -s "$T/$name.with" ] && diff "$T/$name.without" "$T/$name.with"
}

traced() {
  trace "$@"
  [ "$status" -eq 0 ]
}

@test "MPI-IO with both MPIs: the program, its libraries, its files" {
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  library_copy libmpich.so.12 libmpi.so.40 libz.so.1
  for mpi in mpich openmpi; do
    cp "$LIBPROG/$mpi/mpiio_calls" ./prog
    both "$mpi" "POSIX POSIX_EXT MPI-IO" traced mpiio ../prog "$T/w/data/f"
    cd "$T/w"
    cp "$LIBPROG/$mpi/mpiio_reopen" ./prog
    both "$mpi.reopen" "POSIX POSIX_EXT MPI-IO" traced mpiio ../prog "$T/w/data"
    cd "$T/w"
  done
  cp "$LIBPROG/mpich/mpiio_calls" ./prog
  both ranks "POSIX POSIX_EXT MPI-IO" traced mpiio mpiexec.mpich -n 2 ../prog f
}

@test "HDF5 on MPI-IO, PnetCDF, and a Python that loads MPI late" {
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  library_copy libmpich.so.12 libmpi.so.40 libz.so.1
  cp "$LIBPROG/mpich/hdf5_calls" ./prog
  both hdf5 "POSIX POSIX_EXT MPI-IO H5F H5D" traced mpiio,hdf5 ../prog a.h5
  cd "$T/w"
  cp "$LIBPROG/openmpi/pnetcdf_calls" ./prog
  both pnetcdf "POSIX POSIX_EXT MPI-IO PNETCDF_FILE PNETCDF_VAR" traced mpiio,pnetcdf ../prog n.nc
  cd "$T/w"
  cp "$(readlink -f "$(command -v python3)")" ./python
  cat >late.py <<'P'
import ctypes, sys
mpi = ctypes.CDLL("libmpich.so.12")
mpi.MPI_Init(None, None)
open(sys.argv[1], "w").write("late")
mpi.MPI_Finalize()
P
  both python "POSIX POSIX_EXT" traced mpiio ../python -B ../late.py f
}

@test "streams: what is beneath them is not counted beside them, nor what their counting asks" {
  library_copy libc.so.6
  cp "$PROG/stdio_reopen" ./prog
  both streams "POSIX POSIX_EXT STDIO" traced stdio ../prog
}
