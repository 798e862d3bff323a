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

# Writes single bytes for so many seconds of processor time; prints how many. Then runs THEN.
write_for() { # SECONDS [THEN...]
  trace python3 -c '
import os, sys, time
fd, n = os.open("data", os.O_CREAT | os.O_WRONLY), 0
while n % 1000 or time.process_time() < float(sys.argv[1]):
    n += os.write(fd, b"x")
print(n, flush=True)
if sys.argv[2:]:
    os.execvp(sys.argv[2], sys.argv[2:])' "$@"
  [ "$status" -eq 0 ]
}

@test "overhead_budget: single operations end first, then all; the log has the times and is not complete" {
  local made writes traced times
  trace_options=(--dxt --set overhead_budget=1)
  write_for 6
  made=$output
  "$IOSCRIBE" parse --show-incomplete "$LOG" >"$T/parsed"
  writes=$(awk -F '\t' '$4 == "POSIX_WRITES" && $6 ~ /data$/ { sum += $5 } END { print sum + 0 }' "$T/parsed")
  traced=$("$IOSCRIBE" dxt --show-incomplete "$LOG" | grep -c ' write ')
  echo "$made written, $writes counted, $traced traced"
  [ "$traced" -gt 0 ]
  [ "$traced" -lt "$writes" ]
  [ "$writes" -lt "$made" ]
  times=$(sed -n 's/^# metadata: incomplete = overhead_budget of 1 %: single operations (dxt) until \([0-9.]*\) s; overhead_budget of 1 %: all operations until \([0-9.]*\) s$/\1 \2/p' "$T/parsed")
  awk '{exit !(0 < $1 && $1 < $2)}' <<<"$times"
  "$IOSCRIBE" summary "$LOG" | grep '^ledger     NOT complete: .* operations seen, until recording ended$'
  run "$IOSCRIBE" dxt "$LOG"
  [ "$status" -eq 1 ]
  [[ "$output" == *"module's data are incomplete, overhead_budget of 1 %: single operations"* ]]
}

@test "overhead_budget: an MPI program that begins when nothing is recorded any more has a log that is not complete" {
  trace_options=(--dxt --set overhead_budget=1)
  write_for 6 mpiexec.mpich -n 2 dd if=/dev/zero of=late bs=1 count=100
  ls "$T"
  for log in "$T"/*.darshan; do
    "$IOSCRIBE" parse --show-incomplete "$log" >"$T/parsed"
    grep '^# metadata: incomplete = overhead_budget of 1 %: single operations (dxt) until [0-9.]* s; overhead_budget of 1 %: all operations until [0-9.]* s$' "$T/parsed"
  done
  grep -x '# nprocs: 2' "$T/parsed"
}

@test "overhead_budget: within it, all is recorded" {
  trace_options=(--dxt --set overhead_budget=100)
  write_for 2.5
  one_log
  expect POSIX_WRITES "$output" data
  [ "$("$IOSCRIBE" dxt "$LOG" | grep -c ' write ')" -eq "$output" ]
}
