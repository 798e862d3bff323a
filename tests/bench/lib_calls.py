#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What tracing adds to one call of a library, in nanoseconds, and as a ratio to Darshan's.

usage: lib_calls.py BUILD [ROUNDS]     (root; 5 rounds)

fwrite of 8 bytes, fgetc, MPI_File_write_at of 8 bytes (MPICH): untraced, traced without
preload, traced with preload, and untraced while another job is traced without preload by
probes in the same library ("other"), in turn, so that all meet the same machine; medians.
With IOSCRIBE_BENCH_DARSHAN naming a libdarshan.so for programs without MPI, the
stream calls are run below it too, and MPI_File_write_at with IOSCRIBE_BENCH_DARSHAN_MPI
naming one for MPICH; else the ratio is to what Darshan 3.5.0 added on a machine of this
kind. MPI_File_write_at is in processor time. Exit 1 only if a run failed.
"""
import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

CALLS = {
    # name: (program below BUILD, arguments, modules, nanoseconds that Darshan added)
    "fwrite": ("tests/prog/stdio_speed", ["fwrite", "3000000"], "stdio", 102),
    "fgetc": ("tests/prog/stdio_speed", ["fgetc", "3000000"], "stdio", 98),
    "MPI_File_write_at": ("tests/uprobes/mpich/mpiio_speed", ["100000"], "mpiio", 369),
}
PLAIN = ["--no-runtime", "--set", "stdio_calls=yes", "--set", "stdio_share=100"]


class Job:
    """A traced job that does nothing while the with statement lasts."""

    def __init__(self, build, modules, log):
        self.command = [f"{build}/util/ioscribe", "run", "--quiet", "--log", log, "--set", f"libraries={modules}"]

    def __enter__(self):
        self.run = subprocess.Popen(self.command + PLAIN + ["--", "sh", "-c", "echo up; read end"],
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if self.run.stdout.readline() != b"up\n":
            sys.exit("lib_calls: no other job")

    def __exit__(self, *_):
        self.run.communicate(b"end\n", timeout=60)


def one(build, call, way, darshan):
    program, arguments, modules, _ = CALLS[call]
    scratch = tempfile.mkdtemp(prefix="ioscribe-lib-calls.")
    command = [f"{build}/{program}"] + arguments + [f"{scratch}/file"]
    if way in ("plain", "other") and modules == "stdio":
        command[2] = "200000"
    env = dict(os.environ)
    other = Job(build, modules, f"{scratch}/other.darshan") if way == "other" else contextlib.nullcontext()
    if way in ("plain", "preloaded"):
        run = [f"{build}/util/ioscribe", "run", "--quiet", "--log", f"{scratch}/log.darshan", "--set",
               f"libraries={modules}"]
        command = run + (PLAIN if way == "plain" else []) + ["--"] + command
    elif way == "darshan" and modules == "mpiio":
        env.update(LD_PRELOAD=darshan, DARSHAN_LOGFILE=f"{scratch}/d.darshan")
    elif way == "darshan":
        env.update(LD_PRELOAD=darshan, DARSHAN_ENABLE_NONMPI="1", DARSHAN_LOGFILE=f"{scratch}/d.darshan")
    try:
        with other:
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=env)
        if done.returncode != 0:
            sys.exit(f"lib_calls: {' '.join(command)}: exit {done.returncode}: {done.stderr}")
        return float(done.stdout.split()[0])
    finally:
        shutil.rmtree(scratch)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    build, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 5
    darshans = {"stdio": os.environ.get("IOSCRIBE_BENCH_DARSHAN", ""),
                "mpiio": os.environ.get("IOSCRIBE_BENCH_DARSHAN_MPI", "")}
    print(f"{'call':20} {'untraced':>9} {'plain':>9} {'preloaded':>9} {'other':>9} {'Darshan':>9} {'ratio':>6}   (ns added)")
    for call, (_, _, modules, known) in CALLS.items():
        below = darshan = darshans[modules]
        ways = ["untraced", "plain", "preloaded", "other"] + (["darshan"] if below else [])
        times = {way: [] for way in ways}
        for _ in range(rounds):
            for way in ways:
                times[way].append(one(build, call, way, darshan))
        base = statistics.median(times["untraced"])
        added = {way: statistics.median(times[way]) - base for way in ways[1:]}
        theirs = added.get("darshan", known)
        print(f"{call:20} {base:9.1f} {added['plain']:9.1f} {added['preloaded']:9.1f} {added['other']:9.1f} "
              f"{theirs:8.1f}{' ' if below else '*'} {added['preloaded'] / theirs:6.2f}")
    print("* Darshan 3.5.0 on a machine of this kind, not of this run")


if __name__ == "__main__":
    main()
