#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What tracing adds to a system call: 10th percentiles and medians of one interleaved run.

usage: posix.py BUILD [ROUNDS] [--run | --times]     (root; 7 rounds)

Each of pread of 8 bytes (one thread; two on one descriptor), write of 4 KiB, create + close
and getppid, which nobody looks at, is measured
  untraced  nothing of ours attached, which is checked before and after
  begun     a job has begun that no process has joined: nothing at system calls, which is checked
  traced    by a process of a job
  other     by an untraced process while a process of a job lives
  dxt, flat with --times: traced operation by operation (DXT), and without bytes over time (HEATMAP), and what
            the first adds to traced, and traced to the second
  darshan   below Darshan, when IOSCRIBE_BENCH_DARSHAN names a libdarshan.so for programs without MPI
The jobs are those of a service that stays, so that no start-up is in what is measured; with
--run they are of `ioscribe run`, and there is no "begun". A way begins once a round, for all calls, when the kernel
says that our programs are attached, or that none is; their number stands in the last column. Where others came or
went meanwhile, by somebody else's daemon, it is done again.
IOSCRIBE_BENCH_BUILD names a second build, traced in the same rounds ("second");
IOSCRIBE_BENCH_CLOCK=cpu takes processor time, for a machine that others use; IOSCRIBE_BENCH_CALLS names some
of the calls; IOSCRIBE_BENCH_LOCK a file to lock in each round. Data lie on a tmpfs
(/dev/shm). Asserts no figure; exit 1 if a run failed or recorded nothing.
"""
import argparse
import contextlib
import os
import sys
import time

sys.dont_write_bytecode = True
import bench  # noqa: E402

MODES = tuple(os.environ.get("IOSCRIBE_BENCH_CALLS", "pread1 pread2 write4k create getppid").split())
COUNTERS = {"pread1": "POSIX_READS", "pread2": "POSIX_READS", "write4k": "POSIX_WRITES", "create": "POSIX_OPENS"}
TRIES = 10  # of a way in which somebody else's daemon attached or detached


class Disturbed(Exception):
    """Programs of somebody else's daemon came or went during a measurement."""


class Posix:
    def __init__(self, build, folder, services, times=False):
        self.build, self.folder, self.services, self.times = build, folder, services, times
        self.program = os.path.join(build, "tests/bench/posix_ops")
        self.data = os.path.join(folder, "data.d")
        self.darshan = os.environ.get("IOSCRIBE_BENCH_DARSHAN")
        self.figures = bench.Figures()

    def measure(self, way, links, env=None, prefix=(), modes=MODES):
        """All calls, one after the other, while what is attached stays what it is."""
        values = {mode: bench.measured([*prefix, self.program, mode, self.data], env=env) for mode in modes}
        if links is not None and bench.without_libraries(bench.attached()) != bench.without_libraries(links):
            raise Disturbed
        return [(mode, way, numbers, links and bench.without_libraries(links)) for mode, numbers in values.items()]

    def untraced(self):
        return self.measure("untraced", [])

    def begun(self):
        with self.services[0].begin():
            return self.measure("begun", bench.wait_until(
                lambda names: bench.without_libraries(names) and not bench.at_calls(names), "programs stand at system calls"))

    def traced(self, way="traced", service=0, keys=()):
        with self.services[service].begin(*keys) as job:
            with bench.sleeper(job.joins):
                links = bench.wait_until(bench.at_calls, "no program of ours is attached")
                found = self.measure(way, links, job.joins)
        self.must_have(job.logs)
        return found

    def second(self):
        return self.traced("second", 1)

    def dxt(self):
        return self.traced("dxt", keys=["dxt=yes"])

    def flat(self):
        return self.traced("flat", keys=["MOD_DISABLE=HEATMAP"])

    def other(self):
        with self.services[0].begin() as job, bench.sleeper(job.joins):
            return self.measure("other", bench.wait_until(bench.at_calls, "no program of ours is attached"))

    def below_darshan(self):
        found = []
        for mode in MODES:
            log = os.path.join(self.folder, f"darshan-{mode}.log")
            found += self.measure("darshan", [], bench.darshan_env(self.darshan, log, self.folder), modes=[mode])
            self.must_have([log], [mode])
        return found

    def must_have(self, logs, modes=MODES):
        """What each call must have left in the records."""
        counters = {COUNTERS[mode] for mode in modes if mode in COUNTERS}
        if counters and not logs:
            sys.exit("posix.py: no log was written")
        for log in logs:
            for counter in counters:
                bench.must_have(self.build, log, counter)
        for log in logs:
            with contextlib.suppress(FileNotFoundError):  # Darshan may write none
                os.unlink(log)

    def ways(self):
        ways = [self.untraced, self.traced, self.other]
        ways += [self.begun] if self.services else []
        ways += [self.dxt, self.flat] if self.times else []
        ways += [self.second] if len(self.services) > 1 else []
        ways += [self.below_darshan] if self.darshan else []
        return ways

    def undisturbed(self, way):
        for _ in range(TRIES):
            with bench.machine_lock():
                bench.nothing_attached(bench.without_libraries)
                try:
                    found = way()
                except Disturbed:
                    continue
                finally:
                    bench.nothing_attached(bench.without_libraries)
            for mode, name, values, links in found:
                self.figures.add(mode, name, values, links)
            return
        sys.exit(f"posix.py: {way.__name__}: {TRIES} times programs of somebody else's daemon came or went")

    def round(self, number):
        ways = self.ways()
        first = number % len(ways)
        for way in ways[first:] + ways[:first]:
            self.undisturbed(way)


class PosixByRun(Posix):
    """The same with the jobs of `ioscribe run`."""

    def command(self):
        log = os.path.join(self.folder, "bench.darshan")
        return log, [os.path.join(self.build, "util/ioscribe"), "run", "--quiet", "--no-runtime", "--include",
                     self.folder + "/", "--force", "--log", log, "--"]

    def traced(self, way="traced", service=0):
        found = []
        for mode in MODES:
            log, run = self.command()
            found += self.measure(way, None, prefix=run, modes=[mode])
            self.must_have([log], [mode])
        return found

    def other(self):
        log, run = self.command()
        with bench.sleeper(os.environ, run):
            found = self.measure("other", bench.wait_until(bench.at_calls, "no program of ours is attached"))
        with contextlib.suppress(FileNotFoundError):  # a job without files of its own may have no log
            os.unlink(log)
        return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", metavar="BUILD")
    parser.add_argument("rounds", metavar="ROUNDS", type=int, nargs="?", default=7)
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--times", action="store_true")
    args = parser.parse_args()
    build, second = os.path.abspath(args.build), os.environ.get("IOSCRIBE_BENCH_BUILD")
    with bench.scratch() as folder, contextlib.ExitStack() as stack:
        os.mkdir(os.path.join(folder, "data.d"))
        builds = [] if args.run else [build] + ([os.path.abspath(second)] if second else [])
        services = [stack.enter_context(bench.Service(b, folder)) for b in builds]
        if args.run and args.times:
            sys.exit("posix.py: --times is of a service's jobs: leave --run out")
        what = (PosixByRun if args.run else Posix)(build, folder, services, args.times)
        bench.head("ns a system call; " + ("jobs of ioscribe run" if args.run else "jobs of a service"))
        for number in range(args.rounds):
            since = time.monotonic()
            what.round(number)
            print(f"round {number + 1} of {args.rounds}: {time.monotonic() - since:.0f} s", file=sys.stderr)
        what.figures.table(compare=[("traced", "darshan"), ("traced", "second")])
        for mode in MODES if args.times else ():
            for what_it_is, way, base in (("a segment", "dxt", "traced"), ("the heatmap", "traced", "flat")):
                print(f"{mode}: {what_it_is} adds " + ", ".join(
                    f"{name} {what.figures.added(mode, way, part, base):+.1f}" for name, part in (("p10", 0.1), ("median", 0.5))))


if __name__ == "__main__":
    main()
