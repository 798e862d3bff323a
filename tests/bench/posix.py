#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What tracing adds to a system call, by medians of one interleaved run.

usage: posix.py BUILD [ROUNDS]

For every call: untraced, traced (ioscribe run), in a process of another job
while one is traced, and, when IOSCRIBE_BENCH_DARSHAN names a libdarshan.so for
programs without MPI, with that preloaded. IOSCRIBE_BENCH_BUILD names a second
build, whose tracing is then measured in the same rounds ("second");
IOSCRIBE_BENCH_CLOCK=cpu measures processor time, for a machine that others use;
IOSCRIBE_BENCH_CALLS names some of the calls. Prints ns, the added ns and ratios;
asserts nothing. Needs root. Data lie on a tmpfs (/dev/shm has one).
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

MODES = tuple(os.environ.get("IOSCRIBE_BENCH_CALLS", "pread1 pread2 write4k create getppid").split())


def measure(prefix, program, mode, folder, env=None):
    out = subprocess.run(prefix + [program, mode, folder], env=env, check=True, stdout=subprocess.PIPE, text=True)
    return float(out.stdout)


class Bench:
    def __init__(self, build, folder):
        self.program = os.path.join(build, "tests/bench/posix_ops")
        self.ioscribe = os.path.join(build, "util/ioscribe")
        self.second = os.environ.get("IOSCRIBE_BENCH_BUILD")
        self.folder = folder
        self.ns = {}

    def add(self, way, mode, value):
        self.ns.setdefault((mode, way), []).append(value)

    def round(self, mode, darshan):
        data = os.path.join(self.folder, "data.d")
        log = os.path.join(self.folder, "bench.darshan")
        run = [self.ioscribe, "run", "--quiet", "--no-runtime", "--include", self.folder + "/", "--log", log, "--"]
        self.add("untraced", mode, measure([], self.program, mode, data))
        self.add("traced", mode, measure(run, self.program, mode, data))
        os.unlink(log)
        if self.second:
            theirs = [os.path.join(os.path.abspath(self.second), "util/ioscribe")] + run[1:]
            self.add("second", mode, measure(theirs, self.program, mode, data))
            os.unlink(log)
        if darshan:
            theirs = os.path.join(self.folder, "darshan.log")
            env = dict(os.environ, LD_PRELOAD=darshan, DARSHAN_ENABLE_NONMPI="1", DARSHAN_MODMEM="64",
                       DARSHAN_NAMEMEM="8", DARSHAN_LOGFILE=theirs,
                       DARSHAN_CONFIG_PATH=os.path.join(self.folder, "darshan.conf"))
            self.add("darshan", mode, measure([], self.program, mode, data, env))
            self.must_have_records(mode, theirs)
            os.unlink(theirs)
        other = subprocess.Popen(run + ["sleep", "60"], stderr=subprocess.DEVNULL)
        try:
            subprocess.run(["sleep", "0.7"], check=True)
            self.add("other", mode, measure([], self.program, mode, data))
        finally:
            other.terminate()
            other.wait()
        if os.path.exists(log):
            os.unlink(log)

    def must_have_records(self, mode, log):
        """Darshan leaves out /dev unless told otherwise, and would then be compared doing nothing."""
        text = subprocess.run([self.ioscribe, "parse", "--base", "--show-incomplete", log], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        if mode != "getppid" and "\tPOSIX_OPENS\t" not in text:
            sys.exit(f"Darshan has recorded nothing in {mode}")

    def table(self):
        print(f"{'call':8} {'way':9} {'ns':>8} {'added':>8} {'ratio':>6}   [min..max]")
        for mode in MODES:
            base = statistics.median(self.ns[mode, "untraced"])
            for way in ("untraced", "traced", "second", "other", "darshan"):
                values = self.ns.get((mode, way))
                if not values:
                    continue
                median = statistics.median(values)
                print(f"{mode:8} {way:9} {median:8.1f} {median - base:+8.1f} {median / base:6.2f}   "
                      f"[{min(values):.1f}..{max(values):.1f}]")
            if self.second:
                ours, theirs = (statistics.median(self.ns[mode, way]) for way in ("traced", "second"))
                print(f"{mode:8} this build / second: {ours / theirs:.3f} of the call, "
                      f"{ours - theirs:+.1f} ns")
            if (mode, "darshan") in self.ns:
                ours = statistics.median(self.ns[mode, "traced"]) - base
                theirs = statistics.median(self.ns[mode, "darshan"]) - base
                print(f"{mode:8} added by ioscribe / added by Darshan: {ours / theirs:.2f}")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    folder = tempfile.mkdtemp(prefix="ioscribe-bench-", dir="/dev/shm")
    try:
        os.mkdir(os.path.join(folder, "data.d"))
        with open(os.path.join(folder, "darshan.conf"), "w") as conf:
            conf.write("MAX_RECORDS 20000 POSIX\nNAME_INCLUDE ^/dev/shm/ POSIX\n")
        bench = Bench(os.path.abspath(sys.argv[1]), folder)
        for _ in range(int(sys.argv[2]) if len(sys.argv) == 3 else 7):
            for mode in MODES:
                bench.round(mode, os.environ.get("IOSCRIBE_BENCH_DARSHAN"))
        bench.table()
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
