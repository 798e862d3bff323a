#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a service costs: joining at exec, and the journal of --pin.

usage: service.py BUILD [ROUNDS]     (root; 5 rounds)

First a fork, exec and end of a small program: without a daemon; with a service
that has a job of another user, one of this user whose variable the program has
not, and one that it joins. Then making and closing files in a job, without and
with --pin: ns a file, and the daemon's a file. All are processor time, which load from
elsewhere changes little; 10th percentiles and medians of one interleaved run. In "no daemon" and
"untraced" the kernel says that nothing of ours is attached, in the others how many of our programs are. In
a job a process has joined before anything is measured. Asserts no figure. Data lie on a tmpfs (/dev/shm).
"""
import contextlib
import os
import resource
import sys

sys.dont_write_bytecode = True
import bench  # noqa: E402

SPAWNS = 400
FILES = 20000
USER = 45321  # somebody else
ASKS = ["IOSCRIBE_ENABLE=1", "JOBX=1"]


def run_ns(command, **more):
    """Processor time of a command, ns."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    bench.output(command, **more)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e9


@contextlib.contextmanager
def job_with_process(service, uid, variable):
    """A job; where it is this user's, one process of it lives, or nothing need be attached yet."""
    with service.begin(uid=uid, variable=variable) as job:
        if uid != os.getuid():
            yield job, bench.attached()
            return
        with bench.sleeper(job.joins):
            links = bench.wait_until(bool, "no program of ours is attached")
            yield job, links


def spawns(build, folder, figures):
    program = [os.path.join(build, "tests/bench/spawn_ops"), str(SPAWNS), *ASKS]
    ways = {"job of another user": (USER, "JOBX=1"), "job of the user, not this": (os.getuid(), "JOBX=2"),
            "joins": (os.getuid(), "JOBX=1")}
    case = "fork, exec, end"
    with bench.machine_lock():
        figures.add(case, "untraced", bench.measured(program), bench.nothing_attached())
    for way, (uid, variable) in ways.items():
        with bench.machine_lock(), bench.Service(build, folder) as service:
            with job_with_process(service, uid, variable) as (_, links):
                figures.add(case, way, bench.measured(program), links)


def files(build, folder, figures):
    program = [os.path.join(build, "tests/prog/many_files"), str(FILES)]
    case = "make, write, close, remove"
    with bench.machine_lock():
        links = bench.nothing_attached()
        figures.add(case, "untraced", [run_ns(program, cwd=folder) / FILES], links)
    for way in ("job", "job, --pin"):
        with bench.machine_lock(), bench.Service(build, folder, pin=way.endswith("--pin")) as service:
            with job_with_process(service, os.getuid(), "JOBX=1") as (job, links):
                before = service.seconds()
                figures.add(case, way, [run_ns(program, cwd=folder, env=job.joins) / FILES], links)
                while service.living() > 1:
                    pass
                figures.add("daemon's time, a file", way, [(service.seconds() - before) * 1e9 / FILES])


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    build, rounds = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) == 3 else 5
    os.environ["IOSCRIBE_BENCH_CLOCK"] = "cpu"
    figures = bench.Figures(digits=0)
    bench.head("ns of processor time")
    with bench.scratch() as folder:
        for _ in range(rounds):
            spawns(build, folder, figures)
            files(build, folder, figures)
    figures.table()


if __name__ == "__main__":
    main()
