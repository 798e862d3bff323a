#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# README's samples are what its commands print.
load helper
traces=yes

like_readme() {
  python3 "$IOSCRIBE_SOURCE/tests/mpi/readme.py" "$1" "$T" "$2"
}

@test "README's first example: the end of the run, its summary, its counters" {
  cp "$PROGS/mpich/mpi_demo" app
  "$IOSCRIBE" run --log app.darshan -- mpiexec.mpich -n 4 ./app >/dev/null 2>err
  like_readme 'ioscribe run --log app.darshan -- mpiexec -n 4 ./app' err
  "$IOSCRIBE" summary app.darshan >out
  like_readme 'ioscribe summary app.darshan' out
  "$IOSCRIBE" parse app.darshan >out
  like_readme 'ioscribe parse app.darshan' out
}

@test "a sample that is not the real output is found" {
  printf 'ioscribe: log %s/app.darshan\n  job 1\n' "$T" >err
  run like_readme 'ioscribe run --log app.darshan -- mpiexec -n 4 ./app' err
  [ "$status" -eq 1 ]
  [[ "$output" == "README: job N: N ranks"* ]]
  : >out
  run like_readme 'ioscribe parse app.darshan' out
  [ "$status" -eq 1 ]
}
