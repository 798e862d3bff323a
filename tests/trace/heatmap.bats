#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Bytes over time (HEATMAP). By given clocks: tests/unit/logfmt_heat.c.
load helper

sums() {
  /usr/bin/python3 "$IOSCRIBE_SOURCE/tests/harness/heat_sums.py" "$IOSCRIBE" "$LOG"
}

# Bytes of kind $2 (read, written) by bin of module $1: "bin:bytes ..."
bins() {
  "$IOSCRIBE" export --json-lines --table heatmap "$LOG" | /usr/bin/python3 -c '
import json, sys
print(" ".join("%d:%d" % (r["bin"], r["bytes_" + sys.argv[2]]) for r in map(json.loads, sys.stdin)
               if r["name"] == "heatmap:" + sys.argv[1] and r["bytes_" + sys.argv[2]]))' "$1" "$2"
}

@test "sums are the byte counters, times are those of the segments" {
  trace_options=(--dxt)
  trace /usr/bin/python3 -c '
import os, time
fd = os.open("f", os.O_RDWR | os.O_CREAT)
for i in range(40):
    os.pwrite(fd, b"x" * 1000, i * 1000)
    time.sleep(0.03)
for i in range(40):
    os.pread(fd, 700, i)'
  one_log
  sums
  # each segment of nearly no time in the bin of its start
  "$IOSCRIBE" export --json-lines --table heatmap --table dxt_posix "$LOG" | /usr/bin/python3 -c '
import collections, json, sys
heat, seen = collections.Counter(), collections.Counter()
for r in map(json.loads, sys.stdin):
    if r["table"] == "heatmap":
        heat["read", r["bin"]] += r["bytes_read"]
        heat["write", r["bin"]] += r["bytes_written"]
    else:
        part = (int(r["end"] / 0.1) + 1) * 0.1 - r["end"]
        if int(r["start"] / 0.1) != int(r["end"] / 0.1) or part < 1e-6:
            sys.exit(0)  # on an edge: once in some thousand runs
        seen[("read", "write")[r["is_write"]], int(r["start"] / 0.1)] += r["length"]
assert +heat == +seen, (heat, seen)
assert len({b for op, b in +seen if op == "write"}) >= 10'
}

@test "a run of 0.1 s, and one of 21 s whose bins double" {
  trace dd if=/dev/zero of=f bs=1M count=3
  one_log
  [ "$(sums | cut -d ' ' -f 1)" = 0.1 ]
  trace /usr/bin/python3 -c '
import os, time
fd = os.open("f", os.O_RDWR | os.O_CREAT)
for i in range(21):
    os.pwrite(fd, b"x" * 1000, 0)
    time.sleep(1)
os.pwrite(fd, b"x" * 50, 0)'
  one_log
  read -r width n _ <<<"$(sums)"
  [ "$width" = 0.2 ]
  [ "$n" -ge 105 ]
  [ "$n" -le 115 ]
  [ "$(bins POSIX written | wc -w)" -eq 22 ]
}

@test "threads on one file, and what is excluded, folded or forked" {
  for mode in positioned append; do
    trace "$PROG/threads8" $mode 1
    one_log
    sums
  done
  mkdir no
  trace_options=(--exclude "$T/w/no/")
  trace sh -c 'for i in 1 2 3 4 5 6; do (echo a$i >>no/f; echo b >>g; sleep 0.06) & sleep 0.02; done; wait'
  one_log
  sums
  trace_options=(--set records=1024)
  trace /usr/bin/python3 -c '
import os
for i in range(3000):
    fd = os.open("f%d" % i, os.O_WRONLY | os.O_CREAT)
    os.write(fd, b"x" * 10)
    os.close(fd)'
  [ "$(counter LEDGER_OVERFLOWED)" -gt 0 ]
  sums
}

@test "a long operation is spread over its time" {
  trace_options=(--set all_types=yes)
  trace sh -c 'mkfifo q; (sleep 1; printf 0123456789) >q & dd if=q of=f bs=10 count=1 2>/dev/null; wait'
  one_log
  sums
  [ "$(bins POSIX read | tr ' ' '\n' | grep -c ':1$')" -ge 8 ]
}

@test "a killed process has what it did until then; MOD_DISABLE leaves the module out" {
  trace /usr/bin/python3 -c '
import os, signal, time
fd = os.open("f", os.O_WRONLY | os.O_CREAT)
for i in range(25):
    os.pwrite(fd, b"x" * (i + 1), i * 1000)
    time.sleep(0.02)
os.kill(os.getpid(), signal.SIGKILL)'
  [ "$status" -eq 137 ]
  one_log
  sums
  trace_options=(--set MOD_DISABLE=HEATMAP)
  trace dd if=/dev/zero of=f bs=100 count=3
  one_log
  ! grep -q '^HEATMAP' "$T/parsed"
}
