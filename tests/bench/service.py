#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a service costs: joining at exec, and the journal of --pin.

usage: service.py BUILD [ROUNDS]

First a fork, exec and end of a small program: without a daemon; with a service
that has a job of another user, one of this user whose variable the program has
not, and one that it joins. Then making and closing files in a job, without and
with --pin: ns a file, and the daemon's a file. All are processor time, which load from
elsewhere changes little. Medians of one interleaved run; asserts nothing. Needs root. Data lie on a tmpfs (/dev/shm).
"""
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

SPAWNS = 400
FILES = 20000
USER = 45321  # somebody else
TICKS = os.sysconf("SC_CLK_TCK")


def run_ns(command, **more):
    """Processor time of a command, ns."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output(command, **more)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e9


def output(command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **more).stdout


class Service:
    """A daemon in a folder of its own, for a with statement."""

    def __init__(self, build, folder, pin):
        self.ioscribe = os.path.join(build, "util/ioscribe")
        self.daemon = os.path.join(build, "runtime/daemon/ioscribed")
        self.folder = tempfile.mkdtemp(dir=folder)
        self.pin = ["--pin"] if pin else []
        self.env = dict(os.environ, IOSCRIBE_DIR=os.path.join(self.folder, "run"))

    def __enter__(self):
        subprocess.run([self.daemon, "--service", "--stay"] + self.pin, env=self.env, check=True)
        with open(os.path.join(self.folder, "run/pid")) as f:
            self.pid = int(f.read())
        return self

    def __exit__(self, *_):
        os.kill(self.pid, signal.SIGINT)
        while os.path.exists(f"/proc/{self.pid}"):
            time.sleep(0.02)
        shutil.rmtree(self.folder)

    def job(self, *words):
        return output([self.ioscribe, "job", *words, "--timeout", "120"], env=self.env).strip()

    def begin(self, uid, variable):
        self.job("begin", "--job-id", "1", "--uid", str(uid), "--match-env", variable,
                 "log_dir=" + os.path.join(self.folder, "logs"), "include=/dev/shm/")

    def seconds(self):
        with open(f"/proc/{self.pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS


def spawns(build, folder, ns):
    program = os.path.join(build, "tests/bench/spawn_ops")
    asks = ["IOSCRIBE_ENABLE=1", "JOBX=1"]
    ways = {
        "no daemon": None,
        "job of another user": (USER, "JOBX=1", asks),
        "job of the user, not this": (os.getuid(), "JOBX=2", asks),
        "joins": (os.getuid(), "JOBX=1", asks),
    }
    for way, (uid, variable, env) in ((w, v or (None, None, asks)) for w, v in ways.items()):
        if uid is None:
            ns.setdefault(way, []).append(float(output([program, str(SPAWNS), *env])))
            continue
        with Service(build, folder, False) as s:
            s.begin(uid, variable)
            ns.setdefault(way, []).append(float(output([program, str(SPAWNS), *env])))
            s.job("end", "1")


def files(build, folder, ns, cpu):
    program = os.path.join(build, "tests/prog/many_files")
    for way in ("untraced", "job", "job, --pin"):
        where = tempfile.mkdtemp(dir=folder)
        env = dict(os.environ, IOSCRIBE_ENABLE="1", JOBX="1")
        if way == "untraced":
            ns.setdefault(way, []).append(run_ns([program, str(FILES)], cwd=where) / FILES)
            continue
        with Service(build, folder, way.endswith("--pin")) as s:
            s.begin(os.getuid(), "JOBX=1")
            before = s.seconds()
            ns.setdefault(way, []).append(run_ns([program, str(FILES)], cwd=where, env=env) / FILES)
            while s.job("list").split("\n")[-1].split()[4] != "0":  # living processes
                time.sleep(0.02)
            cpu.setdefault(way, []).append((s.seconds() - before) * 1e9 / FILES)
            s.job("end", "1")


def table(title, ns, base):
    print(f"{title:28} {'ns':>9} {'added':>9} {'ratio':>6}   [min..max]")
    median = statistics.median(ns[base])
    for way, values in ns.items():
        m = statistics.median(values)
        print(f"{way:28} {m:9.0f} {m - median:+9.0f} {m / median if median else 0:6.2f}   "
              f"[{min(values):.0f}..{max(values):.0f}]")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    build, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 5
    folder = tempfile.mkdtemp(dir="/dev/shm")
    spawn, make, cpu = {}, {}, {}
    try:
        for _ in range(rounds):
            spawns(build, folder, spawn)
            files(build, folder, make, cpu)
    finally:
        shutil.rmtree(folder)
    table("fork, exec, end", spawn, "no daemon")
    table("make, write, close, remove", make, "untraced")
    table("daemon's time, a file", cpu, "job")


if __name__ == "__main__":
    main()
