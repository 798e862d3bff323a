#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The same comparison at the level that Linux 6.1 takes, forced: a newer kernel would never choose it.

oracle() {
  IOSCRIBE_ORACLE_SET="bpf_attach_mode=$level" run /usr/bin/python3 "$IOSCRIBE_SOURCE/tests/oracle/oracle.py" run "$@"
  echo "$output"
  echo "$output" | grep ' values compared' | sed 's/^/# /' >&3 || true
  [ "$status" -eq 0 ]
}

@test "weaker: descriptors, paths, processes" {
  level=tp_btf_probe oracle cp python-pool pipeline go spawn
}

@test "weaker: copies, vectors, appends, metadata" {
  level=tp_btf_probe oracle copies vector2 append two-fds meta-calls rename-open
}

@test "weaker: asynchronous" {
  level=tp_btf_probe oracle fio-libaio fio-uring
}
