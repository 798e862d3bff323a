#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random programs against their own account.

  compare.py [--seeds FIRST:LAST] [--operations N] [--into FILE] [--below FOLDER]
                                              compare; exit 1 where a log is wrong and says "complete"
  compare.py --shrink SEED [--operations N]                        the fewest operations that are wrong, as C

Each seed is one program (random.c); thirty run one after another under one `ioscribe run`. Every counter that they
keep is compared for every file, and a file of its folder that it has not touched must not be in the log. A log that is
wrong and says that it is not complete is listed with the cause. One that is wrong and says that it is complete fails, and
so does one that is exact and says that it is not complete.
Environment: IOSCRIBE (the program), IOSCRIBE_BUILD (holds tests/oracle/random_ops).
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
BUILD = os.environ.get("IOSCRIBE_BUILD", os.path.join(SOURCE, "build", "dev"))
IOSCRIBE = os.environ.get("IOSCRIBE", os.path.join(BUILD, "util", "ioscribe"))
PROGRAM = os.path.join(BUILD, "tests", "oracle", "random_ops")
HIGHEST = re.compile(r"_MAX_BYTE_|_EXT_RANKS_")
MODULES = ("POSIX", "POSIX_EXT", "STDIO")
BATCH = 30  # programs under one tracer


class Trouble(Exception):
    pass


def counters():
    with open(os.path.join(HERE, "account.h"), encoding="utf-8") as file:
        return set(re.findall(r"X\(([A-Z][A-Z_]+)\)", file.read()))


def unescaped(text):
    return re.sub(r"\\x([0-9a-f]{2})", lambda m: chr(int(m[1], 16)), text)


def records_of(parsed, folder, wanted, modules=MODULES):
    """{name: {counter: value}} of the folder's files and of names in another root, in what `ioscribe parse` prints."""
    found = defaultdict(Counter)
    for line in parsed.splitlines():
        words = line.split("\t")
        if line.startswith("#") or len(words) < 8 or words[0] not in modules or words[3] not in wanted:
            continue
        name, value = unescaped(words[5]), int(float(words[4]))
        if not (name.startswith(folder + "/") or re.match(r"/d\d/f\d$", name) or name.startswith("<")):
            continue
        if name.startswith("<STD"):
            continue
        if HIGHEST.search(words[3]):
            found[name][words[3]] = max(found[name][words[3]], value)
        else:
            found[name][words[3]] += max(value, 0)
    return found


def differences_of(found, account, folder, wanted=None):
    """Lines of what is not the same in a log and in the account of what was done."""
    differences = []
    for name in sorted(set(account) | set(found)):
        for counter in sorted(wanted or counters()):
            have, want = found[name][counter], account[name][counter]
            # the folders of the programs themselves
            if have != want and not re.fullmatch(re.escape(folder) + r"(/\d+)?", name):
                differences.append(f"{name.removeprefix(folder + '/')} {counter}: {have} in the log, {want} done")
    return differences


def late_times(parsed, folder):
    """Lines of times that lie after the run's end: two clocks are in one log."""
    run = float(re.search(r"^# run time: (\S+)", parsed, re.M)[1])
    late = []
    for line in parsed.splitlines():
        words = line.split("\t")
        if len(words) >= 8 and words[3].endswith("_TIMESTAMP") and float(words[4]) > run + 0.001:
            late.append(f"{unescaped(words[5]).removeprefix(folder + '/')} {words[3]}: {words[4]} in a run of {run} s")
    return late


def read_log(path, folder, wanted, modules=MODULES):
    """The same of a log, the words of the ledger's line, and the summary."""
    out = subprocess.run([IOSCRIBE, "parse", "--all", "--show-incomplete", path], capture_output=True, text=True, check=True)
    found, late = records_of(out.stdout, folder, wanted, modules), late_times(out.stdout, folder)
    out = subprocess.run([IOSCRIBE, "summary", path], capture_output=True, text=True, check=True)
    ledger = [line for line in out.stdout.splitlines() if line.startswith("ledger ")]
    if not ledger or "complete" not in ledger[0]:
        raise Trouble("the log has no ledger")
    return found, ledger[0], out.stdout, late


def account_of(text):
    """{name: {counter: value}} of what programs say that they have done; a name of two of them is one file of the log."""
    account = defaultdict(Counter)
    for line in text.splitlines():
        name, counter, value = line.split("\t")
        if HIGHEST.search(counter):
            account[name][counter] = max(account[name][counter], int(value))
        else:
            account[name][counter] += int(value)
    return account


def run(seeds, operations, left_out=()):
    """Programs one after another under one tracer: (differences, is the log called complete, the ledger's text)"""
    scratch = tempfile.mkdtemp(prefix="ioscribe-random.")
    words = [PROGRAM, str(operations), f"{scratch}/data", ",".join(map(str, left_out)), *map(str, seeds)]
    script = 'P=$1 N=$2 D=$3 O=$4; shift 4; for s; do mkdir -p "$D/$s"; "$P" "$s" "$N" "$D/$s" "$O" || exit; done'
    try:
        out = subprocess.run([IOSCRIBE, "run", "--quiet", "--log", f"{scratch}/log", "--", "sh", "-c", script, "sh", *words],
                             capture_output=True, text=True, timeout=20 + 5 * len(seeds), check=False)
        if out.returncode:
            raise Trouble(f"seeds {seeds}: exit status {out.returncode}: {out.stderr.strip()[-200:]}")
        found, ledger, text, late = read_log(f"{scratch}/log", f"{scratch}/data", counters())
    finally:
        shutil.rmtree(scratch)
    differences = differences_of(found, account_of(out.stdout), f"{scratch}/data") + late
    return differences, "NOT complete" not in ledger, text


def causes(text):
    """The names of what the summary's ledger counts as lost."""
    lost = re.search(r"^lost\n((?:  .*\n)*)", text, re.M)
    return sorted(line.split()[0] for line in lost[1].splitlines()) if lost else ["(none named)"]


def compare(first, last, operations):
    """Lines of the result, and the seeds that are wrong in a log that is called complete."""
    wrong, told, exact, alarms = [], Counter(), 0, Counter()
    for begin in range(first, last + 1, BATCH):
        seeds = range(begin, min(begin + BATCH, last + 1))
        differences, complete, text = run(seeds, operations)
        of = {line.split("/")[0] for line in differences}
        exact += len(seeds) - len(of)
        if differences and complete:
            wrong += sorted(of)
        elif differences:
            told[" ".join(causes(text))] += len(of)
        elif not complete:
            alarms[" ".join(causes(text))] += 1
            wrong += seeds
        for seed in sorted(of):
            lines = [line for line in differences if line.startswith(seed + "/")]
            says = "complete" if complete else "told: " + " ".join(causes(text))
            print(f"seed {seed}: {len(lines)} differ ({says})", *lines[:6], sep="\n  ", flush=True)
    lines = [f"{last - first + 1} programs of {operations} operations: {exact} exact in every counter of every file, "
             f"{sum(told.values())} wrong and told, {len(wrong)} wrong and called complete"]
    lines += [f"told: {cause}: {n}" for cause, n in told.most_common()]
    lines += [f"false alarm, in logs of {BATCH} exact programs: {cause}: {n}" for cause, n in alarms.most_common()]
    return lines, wrong


def is_wrong(seed, operations, left_out):
    try:
        differences, complete, _ = run([seed], operations, left_out)
    except Trouble:
        return False
    return bool(differences) and complete


def shrink(seed, operations):
    """Leave out halves, quarters, ... as long as what remains is wrong."""
    out, size = set(), operations
    while size >= 1:
        size //= 2
        for at in range(0, operations, max(size, 1)):
            more = out | set(range(at, min(at + max(size, 1), operations)))
            if more != out and is_wrong(seed, operations, sorted(more)):
                out = more
        if size == 0:
            break
    return sorted(out)


def print_program(seed, operations, left_out):
    scratch = tempfile.mkdtemp(prefix="ioscribe-random.", dir="/tmp")
    try:
        out = subprocess.run([PROGRAM, str(seed), str(operations), scratch, ",".join(map(str, left_out))],
                             env=dict(os.environ, RANDOM_PRINT="1"), capture_output=True, text=True, check=False)
    finally:
        shutil.rmtree(scratch)
    body = re.sub(r"(?m)^\t/\* \d+ \*/\n(?=\t/\* \d+ \*/\n|\Z)", "", out.stderr)
    while True:
        again = re.sub(r"(?m)^\t/\* \d+ \*/\n(?=\t/\* \d+ \*/\n|\Z)", "", body)
        if again == body:
            break
        body = again
    print('#include "tests/oracle/random/printed.h"\n\nint main(int argc, char **argv)\n{\n\tbegin(argc, argv);')
    print(body.rstrip("\n"))
    print("\treturn finish();\n}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", default="1:30")
    parser.add_argument("--operations", type=int, default=300)
    parser.add_argument("--shrink", type=int)
    parser.add_argument("--into")
    parser.add_argument("--below", default="/tmp", metavar="FOLDER")
    options = parser.parse_args()
    if options.shrink is not None:
        if not is_wrong(options.shrink, options.operations, ()):
            sys.exit(f"seed {options.shrink} is not wrong and called complete")
        print_program(options.shrink, options.operations, shrink(options.shrink, options.operations))
        return
    tempfile.tempdir = options.below
    first, last = (int(n) for n in options.seeds.split(":"))
    lines, wrong = compare(first, last, options.operations)
    print("\n".join(lines))
    if options.into:
        with open(options.into, "w", encoding="utf-8") as file:
            file.write("\n".join([f"compare.py {' '.join(sys.argv[1:])}; Linux {os.uname().release}", *lines]) + "\n")
    if wrong:
        sys.exit(1)


if __name__ == "__main__":
    try:
        main()
    except Trouble as e:
        sys.exit(str(e))
