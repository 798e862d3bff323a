#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What tracing adds to a system call: 10th percentiles and medians of one interleaved run.

usage: posix.py BUILD [ROUNDS] [--run]     (root; 7 rounds)

Each of pread of 8 bytes (one thread; two on one descriptor), write of 4 KiB, create + close
and getppid, which nobody looks at, is measured
  untraced  nothing of ours attached, which is checked before and after
  begun     a job has begun that no process has joined
  traced    by a process of a job
  other     by a process of nobody's job while a process of a job lives
  darshan   below Darshan, when IOSCRIBE_BENCH_DARSHAN names a libdarshan.so for programs without MPI
The jobs are those of a service that stays, so that no start-up is in what is measured; with
--run they are of `ioscribe run`, and there is no "begun". Every way waits until the kernel says that our
programs are attached, or that none is; their number stands in the last column.
IOSCRIBE_BENCH_BUILD names a second build, traced in the same rounds ("second");
IOSCRIBE_BENCH_CLOCK=cpu takes processor time, for a machine that others use; IOSCRIBE_BENCH_CALLS names some
of the calls; IOSCRIBE_BENCH_LOCK a file to lock in each round. Data lie on a tmpfs
(/dev/shm). Asserts no figure; exit 1 if a run failed or recorded nothing.
"""
import argparse
import contextlib
import os
import sys

sys.dont_write_bytecode = True
import bench  # noqa: E402

MODES = tuple(os.environ.get("IOSCRIBE_BENCH_CALLS", "pread1 pread2 write4k create getppid").split())


class Posix:
    def __init__(self, build, folder, services):
        self.build, self.folder, self.services = build, folder, services
        self.program = os.path.join(build, "tests/bench/posix_ops")
        self.data = os.path.join(folder, "data.d")
        self.darshan = os.environ.get("IOSCRIBE_BENCH_DARSHAN")
        self.figures = bench.Figures()

    def measure(self, way, mode, env=None, prefix=(), links=()):
        values = bench.measured([*prefix, self.program, mode, self.data], env=env)
        self.figures.add(mode, way, values, links)

    def untraced(self, mode):
        bench.nothing_attached()
        self.measure("untraced", mode)
        if bench.attached():
            sys.exit(f"posix.py: attached during the base run: {' '.join(bench.attached())}")

    def begun(self, mode):
        with self.services[0].begin():
            self.measure("begun", mode, links=bench.attached())

    def traced(self, mode, way="traced", service=0):
        with self.services[service].begin() as job:
            with bench.sleeper(job.joins):
                links = bench.wait_until(bool, "no program of ours is attached")
                self.measure(way, mode, job.joins, links=links)
        self.must_have(mode, job.logs)

    def second(self, mode):
        self.traced(mode, "second", 1)

    def other(self, mode):
        with self.services[0].begin() as job, bench.sleeper(job.joins):
            links = bench.wait_until(bool, "no program of ours is attached")
            self.measure("other", mode, links=links)

    def below_darshan(self, mode):
        bench.nothing_attached()
        log = os.path.join(self.folder, "darshan.log")
        self.measure("darshan", mode, bench.darshan_env(self.darshan, log, self.folder))
        self.must_have(mode, [log])

    def must_have(self, mode, logs):
        if mode == "getppid":
            logs = [log for log in logs if os.path.exists(log)]
        elif not logs:
            sys.exit(f"posix.py: {mode}: no log was written")
        for log in logs:
            if mode != "getppid":
                bench.must_have(self.build, log, "POSIX_OPENS")
            os.unlink(log)

    def round(self, number, mode):
        ways = [self.untraced, self.traced, self.other]
        ways += [self.begun] if self.services else []
        ways += [self.second] if len(self.services) > 1 else []
        ways += [self.below_darshan] if self.darshan else []
        first = number % len(ways)
        for way in ways[first:] + ways[:first]:
            with bench.machine_lock():
                bench.nothing_attached()
                way(mode)
                bench.nothing_attached()


class PosixByRun(Posix):
    """The same with the jobs of `ioscribe run`."""

    def command(self):
        log = os.path.join(self.folder, "bench.darshan")
        return log, [os.path.join(self.build, "util/ioscribe"), "run", "--quiet", "--no-runtime", "--include",
                     self.folder + "/", "--log", log, "--"]

    def traced(self, mode, way="traced", service=0):
        log, run = self.command()
        self.measure(way, mode, prefix=run, links=None)
        self.must_have(mode, [log])

    def other(self, mode):
        log, run = self.command()
        with bench.sleeper(os.environ, run):
            links = bench.wait_until(bool, "no program of ours is attached")
            self.measure("other", mode, links=links)
        with contextlib.suppress(FileNotFoundError):  # a job without files of its own may have no log
            os.unlink(log)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", metavar="BUILD")
    parser.add_argument("rounds", metavar="ROUNDS", type=int, nargs="?", default=7)
    parser.add_argument("--run", action="store_true")
    args = parser.parse_args()
    build, second = os.path.abspath(args.build), os.environ.get("IOSCRIBE_BENCH_BUILD")
    with bench.scratch() as folder, contextlib.ExitStack() as stack:
        os.mkdir(os.path.join(folder, "data.d"))
        builds = [] if args.run else [build] + ([os.path.abspath(second)] if second else [])
        services = [stack.enter_context(bench.Service(b, folder)) for b in builds]
        what = (PosixByRun if args.run else Posix)(build, folder, services)
        bench.head("ns a system call; " + ("jobs of ioscribe run" if args.run else "jobs of a service"))
        for number in range(args.rounds):
            for mode in MODES:
                what.round(number, mode)
        what.figures.table(compare=[("traced", "darshan"), ("traced", "second")])


if __name__ == "__main__":
    main()
