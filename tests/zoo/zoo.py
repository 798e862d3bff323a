#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The zoo: every way to end x launchers x languages.

usage: zoo.py BUILD [--only TEXT] [--workers N] [--service | --srun JOB]

With --service the cells are jobs of one daemon; else each has a private one, and
without --only every ending runs below one launcher in one language, in turn.
With --srun they are jobs of one daemon, too, and steps of the Slurm job JOB, one
rank a node.

A cell is one program that ends in one way below one launcher. It runs untraced
and traced: exit code, standard output and standard error must be equal (numbers
in them apart), exactly one finished log must be there, and it must hold what the
program is known to have written. Prints a line a cell; exit 1 when one failed.
Needs root. Whatever outlives a cell has noted its process id and is killed by it.
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
RANKS = 2
PATIENCE = 120  # seconds for one run; never reached unless something hangs

# ending: what its log must have besides the known writes
#   file: (name, bytes) written late; left: processes still running at the end
ENDINGS = {
    "exit0": {},
    "no_finalize": {},
    "exit7": {},
    "_exit": {},
    "raw": {},
    "abort": {},
    "segv": {},
    "kill": {},
    "term": {},
    "stopped": {},
    "timeout": {},
    "oom": {"cgroup": "memory"},
    "as": {},
    "nofile": {},
    "fsize": {},
    "grandchild": {"file": ("late", 1000)},
    "daemon": {"file": ("late", 1000)},
    "forever": {"left": True},
    "frozen": {"left": True, "cgroup": "freezer"},
    "closed": {},
    "thread_exec": {"file": ("after", 1000)},
    "deep": {"file": ("deep", 13000)},
    "one_killed": {},
}
LAUNCHERS = ("plain", "mpiexec")
# Below srun: without those of processes that outlive their step, which Slurm kills with
# it, and those that move to a control group of ours.
NOT_BELOW_SRUN = ("oom", "grandchild", "daemon", "forever", "frozen")
LANGUAGES = ("c", "static", "python", "go")


class Failure(Exception):
    pass


class Cgroup:
    """A group of the cell's own: v2 to freeze, v1's memory controller where v2 has none."""

    def __init__(self, kind):
        name = f"ioscribe-zoo-{os.getpid()}-{time.monotonic_ns()}"
        v2 = "/sys/fs/cgroup/unified" if os.path.isdir("/sys/fs/cgroup/unified") else "/sys/fs/cgroup"
        self.kind = kind
        if kind == "freezer":
            self.path = os.path.join(v2, name)
            os.mkdir(self.path)
            return
        v1 = os.path.isdir("/sys/fs/cgroup/memory")
        self.path = os.path.join("/sys/fs/cgroup/memory" if v1 else v2, name)
        os.mkdir(self.path)
        limits = {"memory.limit_in_bytes": "64M"} if v1 else {"memory.max": "64M", "memory.swap.max": "0"}
        for file, value in limits.items():
            with open(os.path.join(self.path, file), "w") as f:
                f.write(value)

    def close(self):
        if self.kind == "freezer":
            with open(os.path.join(self.path, "cgroup.freeze"), "w") as f:
                f.write("0")
        for _ in range(600):
            with open(os.path.join(self.path, "cgroup.procs")) as f:
                pids = f.read().split()
            for pid in pids:
                kill(int(pid))
            try:
                os.rmdir(self.path)
                return
            except OSError:
                time.sleep(0.05)
        raise Failure(f"{self.path} cannot be removed")


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Run:
    """One run of a cell's command in a folder of its own."""

    def __init__(self, cell, folder):
        self.folder = folder
        self.pids = os.path.join(folder, "pids")
        self.logs = os.path.join(folder, "logs")
        self.work = os.path.join(folder, "work")
        for path in (folder, self.pids, self.logs, self.work):
            os.mkdir(path)
        kind = ENDINGS[cell.ending].get("cgroup")
        self.cgroup = Cgroup(kind) if kind else None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in os.listdir(self.pids):
            try:
                if os.readlink(f"/proc/{pid}/cwd") == self.work:
                    kill(int(pid))
            except OSError:
                pass  # it has gone
        if self.cgroup:
            self.cgroup.close()

    def command(self, words, extra=None):
        env = dict(os.environ, ZOO_PIDS=self.pids, PYTHONDONTWRITEBYTECODE="1",
                   GOTRACEBACK="none", **(extra or {}))
        if self.cgroup:
            env["ZOO_CGROUP"] = self.cgroup.path
        p = subprocess.Popen(words, cwd=self.work, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, start_new_session=True)
        try:
            out, err = p.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            p.communicate()
            raise Failure(f"no end after {PATIENCE} s: {' '.join(words)}") from None
        return p.returncode % 256 if p.returncode >= 0 else 128 - p.returncode, plain(out), plain(err)


def plain(text):
    """Lines in any order, without numbers: what two runs have in common."""
    text = re.sub(r"(?<=.)(?=srun: )", "\n", text)  # Go writes a line in pieces, srun writes between them
    text = re.sub(r"0x[0-9a-f]+|\b[0-9a-f]{8,}\b|\d+", "N", text)
    return sorted(line.rstrip() for line in text.splitlines() if line.strip())


class Cell:
    def __init__(self, build, ending, launcher, language, allocation=None):
        self.build, self.ending, self.launcher, self.language = build, ending, launcher, language
        self.allocation = allocation
        self.ranks = RANKS if launcher != "plain" else 1

    def __str__(self):
        return f"{self.ending} {self.launcher} {self.language}"

    def words(self, **to_ranks):
        """The command; below srun with variables for the ranks alone, not for srun itself."""
        program = os.path.join(self.build, "tests/zoo", self.language)
        if self.language == "python":
            words = [sys.executable, "-S", os.path.join(HERE, "prog.py"), self.ending]
        elif self.language == "c" and self.launcher != "plain":
            words = [os.path.join(self.build, "tests/zoo/mpi"), self.ending]
        else:
            words = [program, self.ending]
        if self.launcher == "mpiexec":
            words = ["mpiexec.mpich", "-n", str(RANKS)] + words
        if self.launcher == "srun":
            # what MPICH's transport complains of, and how often, is a matter of time
            to_ranks["UCX_LOG_LEVEL"] = "fatal"
            export = ",".join(["ALL"] + [f"{name}={value}" for name, value in to_ranks.items()])
            # one rank's status ends the other, unless both have something to write before
            bad_exit = 0 if "file" in ENDINGS[self.ending] else 1
            words = ["srun", f"--jobid={self.allocation}", "--overlap", "--mpi=pmi2",
                     f"--kill-on-bad-exit={bad_exit}", f"-N{RANKS}", f"-n{RANKS}", f"--export={export}"] + words
        return words


class Private:
    """A daemon for every cell, by `ioscribe run`."""

    def __init__(self, build):
        self.ioscribe = os.path.join(build, "util/ioscribe")

    def traced(self, cell, run):
        grace = 300 if ENDINGS[cell.ending].get("left") else 60000
        return run.command([self.ioscribe, "run", "--quiet", "--force", "--log", os.path.join(run.logs, "cell.darshan"),
                            "--set", f"exit_grace_ms={grace}", "--"] + cell.words())


class Service:
    """Jobs of one daemon, in a directory of its own."""

    def __init__(self, build, folder):
        self.ioscribe = os.path.join(build, "util/ioscribe")
        self.env = dict(os.environ, IOSCRIBE_DIR=os.path.join(folder, "run"))
        config = os.path.join(folder, "ioscribed.conf")
        with open(config, "w") as f:
            f.write(f"records = 20000\nprocesses = 4096\nlog_dir = {folder}/logs\nattach_linger_ms = 60000\n"
                    "mpiio_wrap = no\n")  # programs are without the runtime
        subprocess.run([os.path.join(build, "runtime/daemon/ioscribed"), "--service", "--stay", "--config", config],
                       env=self.env, check=True)
        with open(os.path.join(folder, "run/pid")) as f:
            self.pid = int(f.read())

    def close(self):
        os.kill(self.pid, signal.SIGINT)
        for _ in range(1200):
            if not os.path.exists(f"/proc/{self.pid}"):
                return
            time.sleep(0.05)
        kill(self.pid)

    def job(self, *words):
        p = subprocess.run([self.ioscribe, "job", *words, "--timeout", "90"], env=self.env, capture_output=True,
                           text=True)
        if p.returncode:
            raise Failure(f"job {' '.join(words)}: {p.stderr.strip()}")

    def traced(self, cell, run):
        name = f"zoo.{time.monotonic_ns()}"
        left = ENDINGS[cell.ending].get("left")
        self.job("begin", "--job-id", name, "--uid", str(os.getuid()), "--match-env", f"ZOO_JOB={name}",
                 f"log_dir={run.logs}", "log_layout=flat")
        self.job("ready", "--job-id", name)
        try:
            if cell.launcher == "srun":
                return run.command(cell.words(IOSCRIBE_ENABLE="1", ZOO_JOB=name))
            return run.command(cell.words(), {"IOSCRIBE_ENABLE": "1", "ZOO_JOB": name})
        finally:
            self.job("end", "--job-id", name, "--deadline", "1" if left else "60")


def parsed(ioscribe, log, *options):
    p = subprocess.run([ioscribe, "parse", "--base", *options, log], capture_output=True, text=True)
    if p.returncode != 0 or p.stderr:
        raise Failure(f"ioscribe parse {log}: {p.returncode} {p.stderr.strip()}")
    return [line.split("\t") for line in p.stdout.splitlines() if line and line[0] != "#"]


def check_log(cell, run, ioscribe):
    found = sorted(os.listdir(run.logs))
    finished = [name for name in found if name.endswith(".darshan")]
    if len(finished) != 1 or len(found) != 1:
        raise Failure(f"not exactly one finished log: {found}")
    rows = parsed(ioscribe, os.path.join(run.logs, finished[0]))

    def total(counter, file):
        return sum(int(r[4]) for r in rows if r[3] == counter and re.search(file, r[5]))

    want = {("POSIX_BYTES_WRITTEN", r"/half\.\d$"): 100000 * cell.ranks,
            ("POSIX_BYTES_READ", r"/half\.\d$"): 500 * cell.ranks}
    if "file" in ENDINGS[cell.ending]:
        name, size = ENDINGS[cell.ending]["file"]
        want[("POSIX_BYTES_WRITTEN", f"/{name}$")] = size * cell.ranks
    for (counter, file), value in want.items():
        have = total(counter, file)
        if have != value:
            raise Failure(f"{counter} of {file}: {have} instead of {value}")
    running = sum(1 for r in rows if r[3] == "PROCESS_END_KIND" and r[4] == "0")
    if bool(running) != bool(ENDINGS[cell.ending].get("left")):
        raise Failure(f"{running} processes still running in the log")


def run_cell(cell, way, folder):
    """None, or why it failed. Which rank a launcher hears of first differs: one of some untraced runs is met."""
    ioscribe = os.path.join(cell.build, "util/ioscribe")
    traced, seen = [], []
    try:
        for turn in range(6 if cell.launcher != "plain" else 1):
            if turn % 2 == 0:
                with Run(cell, f"{folder}/traced{turn}") as run:
                    traced.append(way.traced(cell, run))
                    check_log(cell, run, ioscribe)
            with Run(cell, f"{folder}/untraced{turn}") as run:
                seen.append(run.command(cell.words()))
            if any(t in seen for t in traced):
                return None
        raise Failure(f"untraced {seen[-1]}, traced {traced[-1]}"[:2000])
    except Failure as why:
        return str(why)


def main():
    args = argparse.ArgumentParser()
    args.add_argument("build")
    args.add_argument("--only", default="")
    args.add_argument("--workers", type=int, default=3)
    args.add_argument("--service", action="store_true")
    args.add_argument("--srun", metavar="JOB")
    args = args.parse_args()
    build = os.path.abspath(args.build)
    if args.srun:
        args.service = True
        cells = [Cell(build, e, "srun", g, args.srun) for e in ENDINGS if e not in NOT_BELOW_SRUN for g in LANGUAGES]
    else:
        cells = [Cell(build, e, l, g) for e in ENDINGS for l in LAUNCHERS for g in LANGUAGES]
    if not args.only and not args.service:
        cells = [c for n, c in enumerate(cells) if n % 8 == n // 8 * 3 % 8]
    elif not args.only and not os.environ.get("SCRIBE_TEST_LONG"):
        # each ending below each launcher, in one language after the other
        cells = [c for n, c in enumerate(cells) if n % 4 == (n // 8 + n // 4 % 2 * 2) % 4]
    cells = [c for c in cells if args.only in str(c)]
    folder = tempfile.mkdtemp(prefix="ioscribe-zoo.", dir="/tmp")
    way = Service(build, folder) if args.service else Private(build)
    failed = 0
    begin = time.monotonic()

    def work(numbered):
        number, cell = numbered
        start = time.monotonic()
        os.mkdir(f"{folder}/{number}")
        why = run_cell(cell, way, f"{folder}/{number}")
        return cell, why, time.monotonic() - start

    try:
        with concurrent.futures.ThreadPoolExecutor(args.workers) as pool:
            for cell, why, seconds in pool.map(work, enumerate(cells)):
                print(f"{'FAILED' if why else 'ok'} {cell} ({seconds:.1f} s)" + (f": {why}" if why else ""), flush=True)
                failed += why is not None
    finally:
        if args.service:
            way.close()
    print(f"{len(cells) - failed} of {len(cells)} cells, {time.monotonic() - begin:.0f} s")
    if not failed:
        shutil.rmtree(folder)
    else:
        print(f"left for a look: {folder}")
    sys.exit(1 if failed or not cells else 0)


if __name__ == "__main__":
    main()
