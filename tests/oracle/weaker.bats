#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The same comparison with the programs for older kernels (probe reads in place
# of direct loads), forced: a strong kernel would never choose them.

oracle() {
  IOSCRIBE_ORACLE_SET="attach=raw_tp" run /usr/bin/python3 "$IOSCRIBE_SOURCE/tests/oracle/oracle.py" run "$@"
  echo "$output"
  echo "$output" | grep ' values compared' | sed 's/^/# /' >&3 || true
  [ "$status" -eq 0 ]
}

@test "weaker: descriptors, paths, processes" {
  oracle cp python-pool pipeline go spawn
}

@test "weaker: copies, vectors, appends, metadata" {
  oracle copies vector2 append two-fds meta-calls rename-open
}

@test "weaker: asynchronous" {
  oracle fio-libaio fio-uring
}
