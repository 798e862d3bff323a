#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ranks of every launcher: each process writes files named by its world and rank, and the logs must say the same.

usage: launchers.py BUILD [--runs N] [--only TEXT] [--torch]     (root; N rounds of all cases; --torch: the real torchrun)
       launchers.py BUILD --worlds WORLD:ATTEMPT:SIZE... --logs LOG...     (of a job that ran elsewhere)

Expected of each world: one log with all its ranks and no other's, its files of each rank, what all ranks wrote as one
shared record, and what its launcher wrote in another log. Prints a line a case; exit 1 when one failed.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
FRAMEWORKS = "torchrun accelerate deepspeed horovodrun rrun".split()
ALONE = FRAMEWORKS + "lightning palsd jsrun flux mpirun_rsh mpirun3".split()
WORKER = f"{sys.executable} -S {HERE}/worker.py"


class Wrong(Exception):
    pass


class Case:
    """A command, with {f} for the folder and {bin} for that of the launchers; worlds: (name, attempt, size)."""

    def __init__(self, name, command, *worlds, launcher_inside=False, logs=None):
        self.name, self.command, self.worlds, self.launcher_inside, self.logs = name, command, worlds, launcher_inside, logs


def cases():
    for name in ALONE:
        yield Case(name, f"{{bin}}/{name} --world a --folder {{f}} --local 3", ("a", 0, 3),
                   launcher_inside=name == "lightning")  # fmt: skip
    yield Case("restart", "{bin}/torchrun --world a --folder {f} --restarts 2", ("a", 0, 2), ("a", 1, 2), ("a", 2, 2))
    yield Case("two at once", "sh -c '{bin}/torchrun --world a --folder {f} & {bin}/torchrun --world b --folder {f}"
               " --port 29501; wait'", ("a", 0, 2), ("b", 0, 2))  # fmt: skip
    yield Case("one after the other", "sh -c '{bin}/torchrun --world a --folder {f}; {bin}/torchrun --world b --folder {f}'",
               ("a", 0, 2), ("b", 0, 2))  # fmt: skip
    for name in ("torchrun", "deepspeed"):
        yield Case(f"{name} below mpiexec", f"mpiexec.mpich -n 2 sh -c '{{bin}}/{name} --world a --folder {{f}} --nodes 2 --node"
                   " $PMI_RANK'", ("a", 0, 4))  # fmt: skip
    yield Case("a script copies the rank", "mpiexec.mpich -n 2 sh -c 'export RANK=$PMI_RANK WORLD_SIZE=2 LOCAL_RANK=$PMI_RANK"
               f" MASTER_ADDR=127.0.0.1 MASTER_PORT=1; {WORKER} {{f}} a 0 $RANK end'", ("a", 0, 2))  # fmt: skip
    yield Case("a variable of the user's", f"sh -c 'export RANK=5 WORLD_SIZE=2; {WORKER} {{f}} a 0 0 end'", ("a", 0, 1), logs=1)
    yield Case("one process by hand", "sh -c 'export RANK=0 WORLD_SIZE=1 LOCAL_RANK=0 MASTER_ADDR=127.0.0.1 MASTER_PORT=1;"
               f" {WORKER} {{f}} a 0 0 end; {WORKER} {{f}} b 0 0 end'", ("a", 0, 1), ("b", 0, 1), logs=1)  # fmt: skip


def torch_cases():
    # with the defaults of redirects and tee, torch 1.13 fails under Python 3.11
    run = "/usr/bin/python3 -m torch.distributed.run --master_port 29500 --redirects 1 --tee 1 --log_dir {f}/logs"
    script = f"{HERE}/worker.py {{f}} a torch"
    yield Case("real torchrun", f"{run} --nproc_per_node 3 --max_restarts 1 {script}", ("a", 0, 3), ("a", 1, 3))
    yield Case("real torchrun below mpiexec", f"mpiexec.mpich -n 2 sh -c '{run} --nproc_per_node 2 --nnodes 2 --node_rank $PMI_RANK"
               f" --master_addr 127.0.0.1 {script}'", ("a", 0, 4))  # fmt: skip


def records(ioscribe, log):
    """({file name: (rank, bytes written)}, processes of the world, names of launchers)"""
    out = subprocess.run([ioscribe, "parse", "--base", log], capture_output=True, text=True)
    if out.returncode or out.stderr:
        raise Wrong(f"parse {log}: {out.stderr.strip()}")
    rows = [line.split("\t") for line in out.stdout.splitlines() if line.startswith("POSIX\t")]
    written = {}
    for row in rows:
        if row[3] == "POSIX_BYTES_WRITTEN" and int(row[4]):
            written.setdefault(os.path.basename(row[5]), []).append((int(row[1]), int(row[4])))
    named = re.search(r"^# metadata: launchers = (.*)$", out.stdout, re.M)
    return written, int(re.search(r"^# nprocs: (\d+)$", out.stdout, re.M).group(1)), named and named.group(1).split(", ")


def expected(world, attempt, size):
    files = {f"{world}.{attempt}.all": [(-1 if size > 1 else 0, 10 * size)]}
    for rank in range(size):
        for ending, size_of in (("", 1000), (".fork", 2000), (".exec", 3000)):
            files[f"{world}.{attempt}.{rank}{ending}"] = [(rank, size_of + rank)]
    return files


def check(case, ioscribe, paths):
    logs = {path: records(ioscribe, path) for path in paths}
    if case.logs and len(logs) != case.logs:
        raise Wrong(f"{len(logs)} logs, not {case.logs}")
    for world, attempt, size in case.worlds:
        want = expected(world, attempt, size)
        if case.launcher_inside:  # it is rank 0, without children of its own
            del want[f"{world}.{attempt}.0.fork"], want[f"{world}.{attempt}.0.exec"]
            want[f"{world}.{attempt}.all"] = [(rank, 10) for rank in range(1, size)]
            want[f"{world}.launcher.0"] = [(0, 77)]
        holding = [name for name, (files, _, _) in logs.items() if want.keys() & files.keys()]
        if len(holding) != 1:
            raise Wrong(f"world {world}, attempt {attempt}: its files are in {holding or 'no log'}")
        files, nprocs, _ = logs[holding[0]]
        if nprocs != size:
            raise Wrong(f"world {world}, attempt {attempt}: {nprocs} processes, not {size}")
        for name, value in want.items():
            if files.get(name) != value:
                raise Wrong(f"{name}: rank and bytes {files.get(name)}, not {value}")
        of_launcher = [named for files, _, named in logs.values() if f"{world}.launcher.0" in files]
        if case.name in FRAMEWORKS and of_launcher != [[case.name]]:
            raise Wrong(f"the launcher's log names {of_launcher}, not {case.name}")
        others = [name for name in files if name.startswith(f"{world}.") and name not in want]
        if others:
            raise Wrong(f"world {world}, attempt {attempt}: its log has {others}, too")


def run(case, build, folder):
    """None, or what was wrong."""
    ioscribe = f"{build}/util/ioscribe"
    os.makedirs(f"{folder}/bin")
    os.mkdir(f"{folder}/files")
    for name in ALONE:
        os.symlink(f"{HERE}/launch.py", f"{folder}/bin/{name}")
    command = case.command.format(f=f"{folder}/files", bin=f"{folder}/bin")
    done = subprocess.run(f"{ioscribe} run --private --quiet --force --log {folder}/log.darshan -- {command}", shell=True,
                          capture_output=True, text=True)  # fmt: skip
    if done.returncode or (done.stderr and not case.name.startswith("real")):  # torchrun has much to say
        return f"exit status {done.returncode}: {done.stderr.strip()[-300:]}"
    try:
        check(case, ioscribe, [f"{folder}/{name}" for name in os.listdir(folder) if ".darshan" in name])
    except Wrong as why:
        return str(why)
    return None


def main():
    args = argparse.ArgumentParser()
    args.add_argument("build")
    args.add_argument("--runs", type=int, default=1)
    args.add_argument("--only", default="")
    args.add_argument("--torch", action="store_true")
    args.add_argument("--worlds", nargs="+")
    args.add_argument("--logs", nargs="+")
    args = args.parse_args()
    if args.worlds:
        worlds = [(name, int(attempt), int(size)) for name, attempt, size in (w.split(":") for w in args.worlds)]
        check(Case("", "", *worlds), f"{args.build}/util/ioscribe", args.logs)
        return 0
    failed = ran = 0
    for turn in range(args.runs):
        for case in [c for c in (torch_cases() if args.torch else cases()) if args.only in c.name]:
            with tempfile.TemporaryDirectory(prefix="ioscribe-launchers.", dir="/tmp") as folder:
                begin = time.monotonic()
                why = run(case, os.path.abspath(args.build), f"{folder}/{turn}")
            ran += 1
            failed += why is not None
            if why or not turn:
                print(f"{'WRONG' if why else 'ok'}: {case.name} ({time.monotonic() - begin:.1f} s){': ' + why if why else ''}",
                      flush=True)  # fmt: skip
    print(f"{ran} runs, {failed} wrong")
    return failed > 0


sys.exit(main())
