#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The same comparison at the levels for older kernels, forced: a strong kernel
# would never choose them. tp_btf_probe is what Linux 5.15 to 6.1 take.

oracle() {
  IOSCRIBE_ORACLE_SET="bpf_attach_mode=$level" run /usr/bin/python3 "$IOSCRIBE_SOURCE/tests/oracle/oracle.py" run "$@"
  echo "$output"
  echo "$output" | grep ' values compared' | sed 's/^/# /' >&3 || true
  [ "$status" -eq 0 ]
}

@test "weaker: descriptors, paths, processes" {
  level=raw_tp oracle cp python-pool pipeline go spawn
}

@test "weaker: typed tracepoints, probe reads" {
  level=tp_btf_probe oracle cp pipeline copies vector2 append fio-uring
}

@test "weaker: copies, vectors, appends, metadata" {
  level=raw_tp oracle copies vector2 append two-fds meta-calls rename-open
}

@test "weaker: asynchronous" {
  level=raw_tp oracle fio-libaio fio-uring
}
