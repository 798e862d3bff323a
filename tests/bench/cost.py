#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The log's own figure of what tracing cost, against the processor time of the same program with and without it.

usage: cost.py BUILD [ROUNDS]     (root; 15 rounds; the modes of posix_ops: IOSCRIBE_BENCH_CALLS)

Per mode, of rounds in turn: seconds of processor time without and with tracing (lower quartiles: what others on the
machine do only adds), the share of the latter that tracing added, the share that the log has (PROCESS_F_TRACING_TIME of
the same run, median), and the quotient of these two. The two threads have a descriptor each: on one descriptor they wait
for each other at the file's count, the less the longer their calls are.
"""
import os
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True
import bench  # noqa: E402

MODES = (os.environ.get("IOSCRIBE_BENCH_CALLS") or "pread1 pread2fd write4k create").split()
CPU = """import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime)"""


def untraced(program):
    bench.nothing_attached()
    return float(subprocess.run([sys.executable, "-c", CPU, *program], capture_output=True, text=True, check=True).stdout)


def traced(build, program, log):
    """(seconds of the program, of these in tracing as the log has it)"""
    tool = f"{build}/util/ioscribe"
    out = subprocess.run([tool, "run", "--private", "--quiet", "--force", "--log", log, "--", sys.executable, "-c", CPU, *program],
                         capture_output=True, text=True, check=True).stdout  # fmt: skip
    rows = [line.split("\t") for line in subprocess.run([tool, "parse", log], capture_output=True, text=True, check=True).stdout.splitlines()]
    ours = {row[2] for row in rows if len(row) > 4 and row[3] == "PROCESS_EXE" and row[4].endswith("/posix_ops")}
    figure = sum(float(row[4]) for row in rows if len(row) > 4 and row[3] == "PROCESS_F_TRACING_TIME" and row[2] in ours)
    return float(out), figure


def main():
    build, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 15
    bench.head("the log's figure of its cost: cost.py")
    print("mode        without     with   added %    log %  log/added")
    for mode in MODES:
        found = []
        with bench.scratch() as folder:
            program = [f"{build}/tests/bench/posix_ops", mode, folder]
            for _ in range(rounds):
                found.append((untraced(program), *traced(build, program, f"{folder}/log.darshan")))
        bare, with_us = (statistics.quantiles(column)[0] for column in list(zip(*found))[:2])
        added = 100 * (1 - bare / with_us)
        log = 100 * statistics.median(figure / seconds for _, seconds, figure in found)
        print(f"{mode:9} {bare:9.3f} {with_us:8.3f} {added:9.1f} {log:8.1f} {log / added:10.2f}", flush=True)


main()
