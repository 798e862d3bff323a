#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The log against strace, workload by workload: counts and bytes of every file.

oracle() {
  run /usr/bin/python3 "$IOSCRIBE_SOURCE/tests/oracle/oracle.py" run "$@"
  echo "$output"
  echo "$output" | grep ' values compared' | sed 's/^/# /' >&3 || true
  [ "$status" -eq 0 ]
}

@test "oracle: cp" {
  oracle cp
}

@test "oracle: tar" {
  oracle tar
}

@test "oracle: sqlite3" {
  oracle sqlite3
}

@test "oracle: git" {
  oracle git
}

@test "oracle: python-pool" {
  oracle python-pool
}

@test "oracle: fio-psync" {
  oracle fio-psync
}

@test "oracle: fio-libaio" {
  oracle fio-libaio
}

@test "oracle: fio-uring" {
  oracle fio-uring
}

@test "oracle: fio-uring-fixed" {
  oracle fio-uring-fixed
}

@test "oracle: fio-uring-sqpoll" {
  oracle fio-uring-sqpoll
}

@test "oracle: fio-uring-async" {
  oracle fio-uring-async
}

@test "oracle: pipeline" {
  oracle pipeline
}

@test "oracle: find" {
  oracle find
}

@test "oracle: shell-paths" {
  oracle shell-paths
}

@test "oracle: compile" {
  oracle compile
}

@test "oracle: sort" {
  oracle sort
}

@test "oracle: branches" {
  oracle branches
}

@test "oracle: jobs" {
  oracle jobs
}

@test "oracle: gone-folders" {
  oracle gone-folders
}

@test "oracle: go" {
  oracle go
}

@test "oracle: mpi-mpich" {
  oracle mpi-mpich
}

@test "oracle: mpi-openmpi" {
  oracle mpi-openmpi
}

@test "oracle: threads8" {
  oracle threads8
}

@test "oracle: static-io" {
  oracle static-io
}

@test "oracle: basic" {
  oracle basic
}

@test "oracle: copies" {
  oracle copies
}

@test "oracle: vector2" {
  oracle vector2
}

@test "oracle: append" {
  oracle append
}

@test "oracle: two-fds" {
  oracle two-fds
}

@test "oracle: pass-fd" {
  oracle pass-fd
}

@test "oracle: spawn" {
  oracle spawn
}

@test "oracle: thread-exec" {
  oracle thread-exec
}

@test "oracle: leader-exits" {
  oracle leader-exits
}

@test "oracle: close-range" {
  oracle close-range
}

@test "oracle: rename-open" {
  oracle rename-open
}

@test "oracle: dir-renamed" {
  oracle dir-renamed
}

@test "oracle: temp-rename" {
  oracle temp-rename
}

@test "oracle: patterns" {
  oracle patterns
}

@test "oracle: mapping" {
  oracle mapping
}

@test "oracle: meta-calls" {
  oracle meta-calls
}

@test "oracle: inherit" {
  oracle inherit
}
