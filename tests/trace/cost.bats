# SPDX-License-Identifier: BSD-3-Clause
# What tracing cost, as the programs have measured it. How near that is: tests/bench/cost.py.

load helper

@test "processor time of each process, and of this what tracing took; the ledger has their sum; a summary its share" {
  trace sh -c 'dd if=/dev/zero of=data bs=1 count=100000; dd if=data of=/dev/null bs=64k'
  [ "$status" -eq 0 ]
  one_log
  "$IOSCRIBE" parse "$LOG" >"$T/parsed"
  python3 - "$T/parsed" <<'PY'
import collections, sys
rows = [line.rstrip("\n").split("\t") for line in open(sys.argv[1]) if "\t" in line and not line.startswith("#")]
of = collections.defaultdict(dict)
for row in rows:
    if row[0] == "PROCESS":
        of[row[2]][row[3]] = row[4]
heavy = max(of.values(), key=lambda p: int(p["PROCESS_OPERATIONS"]))
cpu, cost = float(heavy["PROCESS_F_CPU_TIME"]), float(heavy["PROCESS_F_TRACING_TIME"])
assert int(heavy["PROCESS_OPERATIONS"]) >= 100000 and 0.02 * cpu < cost < 0.9 * cpu, heavy
# 100,000 reads, left out, and as many writes
assert cost > 200000 * 50e-9, heavy
kernel = sum(float(row[4]) for row in rows if row[3] == "LEDGER_F_KERNEL_CPU")
assert abs(kernel - sum(float(p["PROCESS_F_TRACING_TIME"]) for p in of.values())) < 1e-3, (kernel, of)
PY
  "$IOSCRIBE" summary "$LOG" | grep -E "tracing took [0-9.]+ s, [0-9.e+]+ % of the processes' [0-9.]+ s of processor time"
}
