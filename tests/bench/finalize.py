#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a job of MPI ranks costs from its start to its end, and what its log takes, beside Darshan.

usage: finalize.py BUILD [--ranks N,...] [--files N,...] [--shared | --own] [--rounds N] [--raw FILE] [--openmpi]
       (root; ranks 1, 2, 4, 8 and 16; files 0, 10, 1,000 and 100,000; both; 11 rounds, of the most files 3)

A service runs, whose programs stand because another job has begun. In turn, so that all meet the same machine: untraced,
in a job with the runtime preloaded, and, where IOSCRIBE_BENCH_DARSHAN_MPI names its libdarshan.so for MPICH, below
Darshan. Medians of the milliseconds that the whole command takes, and that MPI_Finalize takes, with the 95 per cent interval
of what we add (bootstrap of the pairs); the bytes of the logs, of ours also without the modules that Darshan's does not
have, and in the single-region layout. A log without the files ends the benchmark. --raw writes each
run as a line of comma-separated values.
"""
import argparse
import os
import random
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import bench  # noqa: E402

LAUNCH = {
    "mpich": ["mpiexec.mpich", "-n"],
    "openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n"],
}
WAYS = ("untraced", "ioscribe", "darshan")
HEAD = ("ranks", "files", "kind", "round", "way", "all_ms", "init_ms", "finalize_ms", "rank_kib")


def words():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("--ranks", default="1,2,4,8,16")
    parser.add_argument("--files", default="0,10,1000,100000")
    parser.add_argument("--shared", dest="kinds", action="store_const", const=("shared",), default=("shared", "own"))
    parser.add_argument("--own", dest="kinds", action="store_const", const=("own",))
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--raw")
    parser.add_argument("--openmpi", dest="mpi", action="store_const", const="openmpi", default="mpich")
    out = parser.parse_args()
    out.build = os.path.abspath(out.build)
    return out


def regions(build, path):
    """(bytes of a log, {module: bytes of its region})"""
    command = [os.path.join(build, "util/ioscribe"), "parse", "--base", "--show-incomplete", path]
    lengths = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as parse:
        for line in parse.stdout:  # the head alone: the records of such logs are gigabytes of text
            found = re.match(r"# (\S+) module: (\d+) bytes", line)
            if found:
                lengths[found[1]] = int(found[2])
            elif lengths and not line.startswith("#"):
                break
        parse.kill()
    return os.path.getsize(path), lengths


class Case:
    """One number of ranks and files, shared or not."""

    def __init__(self, given, service, ranks, files, kind):
        self.given, self.service, self.ranks, self.files, self.kind = given, service, ranks, files, kind
        self.values = {way: [] for way in WAYS}
        self.sizes = {}

    def command(self, folder, more=()):
        program = f"{self.given.build}/tests/mpi/{self.given.mpi}/mpi_cost"
        return LAUNCH[self.given.mpi] + [str(self.ranks), *more, program, folder, str(self.files), self.kind]

    def timed(self, command, env=None):
        begin = time.monotonic()
        told = bench.measured(command, env=env, timeout=1800)
        return [(time.monotonic() - begin) * 1e3] + told

    def untraced(self, folder):
        return self.timed(self.command(folder))

    def ioscribe(self, folder):
        begun = self.service.begin()
        client = f"{self.given.build}/runtime/client/libioscribe"
        env = dict(begun.joins, LD_PRELOAD=f"{client}-inside.so:{client}.so", IOSCRIBE_SOCKET=self.service.socket)
        with begun as job:
            values = self.timed(self.command(folder), env)
        logs = [log for log in job.logs if "mpi_cost" in os.path.basename(log)]
        if len(logs) != 1:
            sys.exit(f"bench: not one log of the MPI program: {job.logs}")
        log = logs[0]
        if self.files:
            bench.must_have(self.given.build, log, "POSIX_OPENS")
        unified = os.path.join(folder, "unified")
        bench.output([self.service.ioscribe, "convert", "--layout", "unified", log, unified])
        self.sizes["ioscribe"] = regions(self.given.build, log) + (os.path.getsize(unified),)
        os.unlink(log)
        return values

    def darshan(self, folder):
        log = os.path.join(folder, "log.darshan")
        env = bench.darshan_env(os.environ["IOSCRIBE_BENCH_DARSHAN_MPI"], log, folder, mpi=True)
        names = ("LD_PRELOAD", "DARSHAN_LOGFILE", "DARSHAN_CONFIG_PATH", "DARSHAN_MODMEM", "DARSHAN_NAMEMEM")
        values = self.timed(self.command(folder, [word for name in names for word in ("-env", name, env[name])]))
        if self.files:
            bench.must_have(self.given.build, log, "POSIX_OPENS")
        self.sizes["darshan"] = regions(self.given.build, log)
        return values

    def round(self, number, raw):
        for way in WAYS[:3 if "IOSCRIBE_BENCH_DARSHAN_MPI" in os.environ and self.given.mpi == "mpich" else 2]:
            with bench.scratch() as folder, bench.machine_lock():
                one = getattr(self, way)(folder)
            self.values[way].append(one)
            if raw:
                told = [self.ranks, self.files, self.kind, number, way] + [f"{x:.3f}" for x in one[:3]] + [int(one[3])]
                print(*told, sep=",", file=raw, flush=True)

    def added(self, way, at):
        return [one[at] - base[at] for one, base in zip(self.values[way], self.values["untraced"])]

    def row(self):
        base = bench.quantile([one[0] for one in self.values["untraced"]], 0.5)
        cells = [self.ranks, self.files, self.kind, f"{base:.1f}"]
        for at in (0, 2):
            added = self.added("ioscribe", at)
            low, high = interval(added)
            cells.append(f"{bench.quantile(added, 0.5):.1f} ({low:.1f} to {high:.1f})")
            cells.append(f"{bench.quantile(self.added('darshan', at), 0.5):.1f}" if self.values["darshan"] else "-")
        size, modules, unified = self.sizes["ioscribe"]
        theirs, known = self.sizes.get("darshan", (0, {}))
        same = size - sum(length for module, length in modules.items() if module not in known)
        share = [f"{x / theirs:.2f}" for x in (same, unified)] if theirs else ["-", "-"]
        cells += [size, theirs or "-", *share]
        cells += [f"{bench.quantile([one[3] for one in self.values[way]], 0.5) / 1024:.1f}" if self.values[way] else "-"
                  for way in WAYS]
        print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def interval(values):
    """Of the median, 95 per cent."""
    draw = random.Random(1)
    medians = [bench.quantile(draw.choices(values, k=len(values)), 0.5) for _ in range(1000)]
    return bench.quantile(medians, 0.025), bench.quantile(medians, 0.975)


def main():
    given = words()
    bench.head("whole MPI jobs, ms; sizes of their logs")
    raw = open(given.raw, "w", encoding="utf-8") if given.raw else None
    if raw:
        print(*HEAD, sep=",", file=raw)
    columns = ("ranks", "files a rank", "kind", "untraced ms", "ioscribe adds", "Darshan adds", "MPI_Finalize: ioscribe",
               "Darshan", "log bytes", "Darshan's", "same modules", "single region", "MiB a rank: untraced", "ioscribe",
               "Darshan")
    print("\n| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
    config = ["records = 2000000", "job_records = 2000000"]
    with bench.scratch() as folder, bench.Service(given.build, folder, config=config) as service:
        service.begin(variable="BENCH_OTHER=1")
        for ranks in map(int, given.ranks.split(",")):
            for files in map(int, given.files.split(",")):
                for kind in given.kinds if files else ("shared",):
                    case = Case(given, service, ranks, files, kind)
                    for number in range(given.rounds if files < 100000 else min(given.rounds, 3)):
                        case.round(number, raw)
                    case.row()
        print(f"\nthe daemon's largest memory: {service.memory()} MiB")


if __name__ == "__main__":
    main()
