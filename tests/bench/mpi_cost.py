#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the runtime adds to MPI_Init and MPI_Finalize, as a ratio to Darshan's 165 ms.

usage: mpi_cost.py BUILD [RANKS [FILES [RUNS]]]     (root; 4 ranks, 0 files, 9 runs)

Untraced, traced without and traced with the runtime, in turn, so that all meet
the same machine; medians. Darshan 3.5.0 was measured at 165 ms with 4 ranks on two
cores, on a machine of this kind. Exit 1 only if a run failed.
"""
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

DARSHAN_MS = 165.0
LAUNCH = {
    "mpich": ["mpiexec.mpich", "-n"],
    "openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n"],
}


def one(build, mpi, ranks, files, way):
    scratch = tempfile.mkdtemp(prefix="ioscribe-cost.")
    command = LAUNCH[mpi] + [str(ranks), f"{build}/tests/mpi/{mpi}/mpi_cost", scratch, str(files)]
    if way != "untraced":
        run = [f"{build}/util/ioscribe", "run", "--quiet", "--log", f"{scratch}/log.darshan"]
        command = run + (["--no-runtime"] if way == "daemon alone" else []) + ["--"] + command
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            sys.exit(f"mpi_cost: {' '.join(command)}: exit {done.returncode}: {done.stderr}")
        return [float(x) for x in re.findall(r"[\d.]+", done.stdout)]
    finally:
        shutil.rmtree(scratch)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build = sys.argv[1]
    ranks, files, runs = (int(a) if a else d for a, d in zip((sys.argv[2:] + [""] * 3)[:3], (4, 0, 9)))
    ways = ("untraced", "daemon alone", "with runtime")
    times = {(mpi, way): [] for mpi in LAUNCH for way in ways}
    for _ in range(runs):
        for key in times:
            times[key].append(one(build, key[0], ranks, files, key[1]))
    print(f"{ranks} ranks, {files} files a rank, median of {runs}; milliseconds in MPI_Init + MPI_Finalize")
    for mpi in LAUNCH:
        middle = {w: [statistics.median([t[i] for t in times[mpi, w]]) for i in (0, 1)] for w in ways}
        for way in ways:
            print(f"{mpi:8} {way:13} {middle[way][0]:8.1f} + {middle[way][1]:6.1f}")
        added = sum(middle["with runtime"]) - sum(middle["daemon alone"])
        print(f"{mpi:8} runtime adds {added:.1f} ms: {added / DARSHAN_MS:.2f} of Darshan's")


main()
