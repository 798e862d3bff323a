#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random MPI-IO of two ranks against its own account (ranks.c).

  compare.py FIRST:LAST [--operations N] [--probes]     exit 1 where a counter differs, or the log is not complete

One launch, by MPICH, for all seeds: Open MPI's own MPI-IO hangs in such programs, for instance in a nonblocking read
that meets the end of the file. --probes: calls are counted by probes in the MPI library, not inside the programs.
Environment: IOSCRIBE (the program), IOSCRIBE_BUILD (holds tests/oracle/random_ranks).
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "random"))
import compare as single  # noqa: E402

PROGRAM = os.path.join(single.BUILD, "tests", "oracle", "random_ranks")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("seeds")
    parser.add_argument("--operations", type=int, default=100)
    parser.add_argument("--probes", action="store_true")
    options = parser.parse_args()
    first, last = (int(n) for n in options.seeds.split(":"))
    with open(os.path.join(HERE, "ranks.c"), encoding="utf-8") as file:
        counters = set(re.findall(r"X\((MPIIO_[A-Z0-9_]+K?)\)", file.read()))
    scratch = tempfile.mkdtemp(prefix="ioscribe-random.", dir="/tmp")
    try:
        os.mkdir(f"{scratch}/data")
        how = ["--set", "mpiio_wrap=no"] if options.probes else []
        words = [PROGRAM, str(first), str(last), str(options.operations), f"{scratch}/data"]
        out = subprocess.run([single.IOSCRIBE, "run", "--quiet", "--force", "--log", f"{scratch}/log", *how, "--",
                              "mpiexec.mpich", "-n", "2", *words], capture_output=True, text=True, check=False)
        if out.returncode:
            sys.exit(f"exit status {out.returncode}: {out.stderr.strip()[-300:]}")
        found, ledger, _, late = single.read_log(f"{scratch}/log", f"{scratch}/data", counters, ("MPI-IO",))
        account = single.account_of(out.stdout)
    finally:
        shutil.rmtree(scratch)
    differences = single.differences_of(found, account, f"{scratch}/data", counters) + late
    print(*differences[:40], sep="\n")
    wrong = {line.split("/")[0] for line in differences}
    print(f"{last - first + 1} programs of {options.operations} operations, two ranks: "
          f"{last - first + 1 - len(wrong)} exact in every counter of every file")
    print(ledger)
    if differences or "NOT complete" in ledger:
        sys.exit(1)


if __name__ == "__main__":
    try:
        main()
    except single.Trouble as e:
        sys.exit(str(e))
