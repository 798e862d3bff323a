# SPDX-License-Identifier: BSD-3-Clause
# Ranks of launchers without MPI, of MPI's others, and of one below another: tests/launchers/launchers.py.

teardown() {
  rm -rf "${T:-}"
}

@test "each launcher's ranks are those of its processes, one log a world, whatever stands above it" {
  [ "$(id -u)" -eq 0 ]
  python3 "$BATS_TEST_DIRNAME/launchers.py" "$IOSCRIBE_BUILD"
}

@test "phases in which all ranks wrote: as long as by the ranks' own clocks, with bytes, fsyncs and the last rank" {
  T=$(mktemp -d /tmp/ioscribe-launchers.XXXXXX)
  mkdir "$T/f"
  "$IOSCRIBE" run --private --quiet --force --log "$T/log.darshan" -- \
    mpiexec.mpich -n 3 /usr/bin/python3 -S "$BATS_TEST_DIRNAME/checkpoint.py" "$T/f" >"$T/times"
  "$IOSCRIBE" summary "$T/log.darshan" | grep -A3 '^phases     all ranks wrote 3 times, 879.8 KiB in '
  "$IOSCRIBE" summary --json "$T/log.darshan" >"$T/summary"
  python3 - "$T" <<'PY'
import json, sys
phases = json.load(open(f"{sys.argv[1]}/summary"))["phases"]
ranks = [[], [], []]
for line in open(f"{sys.argv[1]}/times"):
    rank, *clock = line.split()
    ranks[int(rank)].append(list(map(float, clock)))
assert len(phases) == 3, phases
for step, phase in enumerate(phases):
    times = [rank[step] for rank in ranks]
    least = max(t[2] for t in times) - min(t[1] for t in times)
    most = max(t[3] for t in times) - min(t[0] for t in times)
    assert least - 1e-5 <= phase["end"] - phase["begin"] <= most + 1e-5, (step, phase, times)
    assert (phase["files"], phase["fsyncs"], phase["bytes_written"]) == (6, 3, 300300), phase
assert phases[1]["last_rank"] == 1 and phases[1]["end"] - phases[1]["first_end"] > 0.3, phases
PY
}

@test "phases in which all ranks read: bytes and the last rank, by single operations as by the ranks' own clocks" {
  T=$(mktemp -d /tmp/ioscribe-launchers.XXXXXX)
  mkdir "$T/f"
  truncate -s 5000000 "$T/f/data"
  # all operations; those of rank 1's file alone, which has small ones; none
  for dxt in --dxt "--dxt --set DXT_SMALL_IO_TRIGGER=0.05" ""; do
    rm -f "$T"/f/meet.* "$T/log.darshan"
    # shellcheck disable=SC2086 # words
    "$IOSCRIBE" run --private --quiet --force $dxt --exclude "$BATS_TEST_DIRNAME" --log "$T/log.darshan" -- \
      mpiexec.mpich -n 3 /usr/bin/python3 "$BATS_TEST_DIRNAME/epochs.py" "$T/f" >"$T/times"
    "$IOSCRIBE" summary "$T/log.darshan" | grep -A3 '^reading    all ranks read 3 times, 42.9 MiB in '
    "$IOSCRIBE" summary --json "$T/log.darshan" >"$T/summary"
    "$IOSCRIBE" dxt "$T/log.darshan" | grep -c 'DXT, file_id: .*/data$' >"$T/traced" || true
    [ "$(cat "$T/traced")" -eq "$(case $dxt in "") echo 0 ;; *set*) echo 1 ;; *) echo 3 ;; esac)" ]
    python3 - "$T" "$(case $dxt in --dxt) echo 1e-5 ;; *) echo 0.301 ;; esac)" <<'PY'
import json, sys
phases = json.load(open(f"{sys.argv[1]}/summary"))["read_phases"]
by = float(sys.argv[2])  # 0.301: bins of 0.1 s
ranks = [[], [], []]
for line in open(f"{sys.argv[1]}/times"):
    rank, *clock = line.split()
    ranks[int(rank)].append(list(map(float, clock)))
assert len(phases) == 3, phases
for step, phase in enumerate(phases):
    times = [rank[step] for rank in ranks]
    least = max(t[2] for t in times) - min(t[1] for t in times)
    most = max(t[3] for t in times) - min(t[0] for t in times)
    assert least - by <= phase["end"] - phase["begin"] <= most + by, (step, phase, times)
    assert phase["bytes_read"] == 15000000 + 12 * (step == 1), phase
assert phases[1]["last_rank"] == 1 and phases[1]["end"] - phases[1]["first_end"] > 0.2, phases
PY
  done
}
