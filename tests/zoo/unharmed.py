#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs that a tracer may harm: each runs untraced and traced, and does the same.

usage: unharmed.py BUILD [--only TEXT] [--workers N]

A row of ROWS is a program: its command, what is special about its environment, and what
its log must hold (sum of a counter over the files whose name ends so). Exit code, both
outputs (numbers and addresses apart) and the files that it leaves must be equal. All are
runs that join one service, by which programs count their streams themselves. Prints a line a row; exit 1 when one failed. Needs root.
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from zoo import Failure, Service, parsed  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARIES = "/usr/lib/x86_64-linux-gnu"
PATIENCE = 60  # seconds for one run; never reached unless something hangs

# what the programs do, whatever module counts it
CHECKED = {("*_BYTES_WRITTEN", "checked.out"): 102}
ODD = {("*_BYTES_WRITTEN", "odd.out"): 10000}
NOTHING = {("*_BYTES_WRITTEN", "odd.out"): 0}


def sanitized(compiler, name, *flags):
    return [compiler, "-g", "-O1", *flags, f"{HERE}/checked.c", "-o", name]


# programs of which the log says that it lacks something
INCOMPLETE = ("seccomp filter, formatted", "few descriptors")  # of six none is left for memory to count in

OWN = ["gcc", "-shared", "-fPIC", "-D_GNU_SOURCE", f"{HERE}/own_preload.c", "-o", "own.so"]

# name: (how it is made, None: by the build), command, environment, what its log holds
ROWS = {
    "gcc address": (sanitized("gcc", "p", "-fsanitize=address"), ["./p"], {}, CHECKED),
    "gcc address, below a shell below Python": (
        sanitized("gcc", "p", "-fsanitize=address"),
        ["python3", "-c", "import subprocess, sys; sys.exit(subprocess.call(['sh', '-c', './p; exit $?']))"], {}, CHECKED),
    "gcc address, own options": (sanitized("gcc", "p", "-fsanitize=address", "-DOWN_OPTIONS"), ["./p"], {}, CHECKED),
    "gcc address, an error, the user's options": (
        sanitized("gcc", "p", "-fsanitize=address"), ["./p", "x"], {"ASAN_OPTIONS": "exitcode=42"}, CHECKED),
    "gcc thread": (sanitized("gcc", "p", "-fsanitize=thread"), ["setarch", "-R", "./p"], {}, CHECKED),
    "gcc undefined": (sanitized("gcc", "p", "-fsanitize=undefined"), ["./p"], {}, CHECKED),
    "gcc leak": (sanitized("gcc", "p", "-fsanitize=leak"), ["./p"], {}, CHECKED),
    "clang address": (sanitized("clang", "p", "-fsanitize=address"), ["./p"], {}, CHECKED),
    "clang thread": (sanitized("clang", "p", "-fsanitize=thread"), ["setarch", "-R", "./p"], {}, CHECKED),
    "clang memory": (sanitized("clang", "p", "-fsanitize=memory"), ["setarch", "-R", "./p"], {}, CHECKED),
    "clang undefined": (sanitized("clang", "p", "-fsanitize=undefined"), ["./p"], {}, CHECKED),
    "clang leak": (sanitized("clang", "p", "-fsanitize=leak"), ["./p"], {}, CHECKED),
    "valgrind": (None, ["valgrind", "-q", "--error-exitcode=9", "ODD", "plain"], {}, ODD),
    "gdb": (None, ["gdb", "-q", "-batch", "-ex", "break some", "-ex", "run", "-ex", "delete", "-ex", "continue",
                   "--args", "ODD", "plain"], {"DEBUGINFOD_URLS": ""}, ODD),
    "strace": (None, ["strace", "-f", "-o", "/dev/null", "ODD", "plain"], {}, ODD),
    "java": (None, ["java", "-Xmx64m", "-Xlog:gc+heap*:file=heap.log:none", "-version"], {}, {}),
    "go": (None, ["GO", "exit7"], {"ZOO_PIDS": "."}, {("POSIX_BYTES_WRITTEN", "half.0"): 100000}),
    "static": (["gcc", "-O1", "-static", "-D_GNU_SOURCE", f"{HERE}/odd.c", "-o", "p"], ["./p", "plain"], {},
               ODD),
    "musl": (["musl-gcc", "-O1", f"{HERE}/checked.c", "-o", "p"], ["./p"], {}, CHECKED),
    "musl, static": (["musl-gcc", "-O1", "-static", f"{HERE}/checked.c", "-o", "p"], ["./p"], {},
                     CHECKED),
    "setuid": (["install", "-m", "4755", "ODD", "p"],
               ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "./p", "plain"], {}, NOTHING),
    "counter traps": (None, ["ODD", "tsc"], {}, ODD),
    "counter traps, in a child": (None, ["ODD", "tsc-fork"], {}, ODD),
    "seccomp strict": (None, ["ODD", "strict"], {}, ODD),
    "seccomp strict, streams unused": (None, ["ODD", "strict-unused"], {}, ODD),
    "seccomp filter": (None, ["ODD", "filter"], {}, ODD),
    "seccomp filter, formatted": (None, ["ODD", "filter-format"], {}, {("*_BYTES_WRITTEN", "odd.out"): 10012}),
    "seccomp filter before all": (None, ["ODD", "filter-first"], {}, ODD),
    "seccomp filter, inherited": (None, ["ODD", "filter-exec"], {}, ODD),
    "all descriptors closed": (None, ["ODD", "closed"], {}, {("*_BYTES_WRITTEN", "odd.closed"): 10000}),
    "few descriptors": (None, ["sh", "-c", "ulimit -n 6; exec ODD plain"], {}, ODD),
    "chroot": (["sh", "-c", "mkdir -p root/lib64 root/lib/x86_64-linux-gnu root/proc/self && cp ODD root/proc/self/exe && "
                "cp /lib64/ld-linux-x86-64.so.2 root/lib64 && cp /lib/x86_64-linux-gnu/libc.so.6 root/lib/x86_64-linux-gnu"],
               ["chroot", "root", "/proc/self/exe", "plain"], {}, ODD),
    "user namespace": (None, ["unshare", "-Ur", "ODD", "plain"], {}, ODD),
    "bwrap": (None, ["bwrap", "--dev-bind", "/", "/", "--proc", "/proc", "--unshare-pid", "ODD", "plain"], {}, ODD),
    "jemalloc": (None, ["ODD", "plain"], {"LD_PRELOAD": f"{LIBRARIES}/libjemalloc.so.2"}, ODD),
    "tcmalloc": (None, ["ODD", "plain"], {"LD_PRELOAD": f"{LIBRARIES}/libtcmalloc_minimal.so.4"}, ODD),
    "own preload, in front": (OWN, ["sh", "-c", "LD_PRELOAD=./own.so${LD_PRELOAD:+:$LD_PRELOAD} exec ODD plain"], {},
                              ODD),
    "own preload, in our place": (OWN, ["env", "LD_PRELOAD=./own.so", "ODD", "plain"], {}, ODD),
    "stdbuf": (None, ["stdbuf", "-oL", "ODD", "plain"], {}, ODD),
    "timeout, nice, env": (None, ["timeout", "50", "nice", "env", "A=b", "ODD", "plain"], {}, ODD),
}


def neutral(text):
    """What differs from run to run: numbers, process ids, addresses."""
    return re.sub(r"0x[0-9a-f]+|[0-9]+", "#", text)


def files_of(folder, but=()):
    found = {}
    for top, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(top, name)
            with open(path, "rb") as f:
                found[os.path.relpath(path, folder)] = f.read()
    return {name: text for name, text in found.items() if name not in but and not name.endswith(".log")}


def run(words, env, folder):
    p = subprocess.run(words, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                       errors="replace", timeout=PATIENCE)
    return p.returncode, neutral(p.stdout), neutral(p.stderr)


def value(rows, name, file):
    return sum(int(r[4]) for r in rows
               if r[5].endswith(file) and (r[3] == name or (name[0] == "*" and re.fullmatch("(STDIO|POSIX)" + name[1:],
                                                                                             r[3]))))


def make(words, folder):
    os.chmod(folder, 0o777)
    if words:
        subprocess.run(words, cwd=folder, check=True, capture_output=True)


def check(name, build, base, env):
    made, command, extra, wanted = ROWS[name]
    places = {"ODD": f"{build}/tests/zoo/odd", "GO": f"{build}/tests/zoo/go"}
    place = re.compile(r"\b(ODD|GO)\b")
    made = made and [place.sub(lambda m: places[m[1]], w) for w in made]
    command = [place.sub(lambda m: places[m[1]], w) for w in command]
    cell = tempfile.mkdtemp(dir=base)
    os.chmod(cell, 0o755)
    ioscribe, log = f"{build}/util/ioscribe", f"{cell}/log.darshan"
    seen = []
    for way in ("untraced", "traced"):
        folder = f"{cell}/w"
        os.mkdir(folder)
        make(made, folder)
        there = files_of(folder)
        words = [ioscribe, "run", "--quiet", "--force", "--log", log, "--"] if way == "traced" else []
        result = run(words + command, dict(env, **extra), folder)
        seen.append((*result, files_of(folder, there)))
        shutil.rmtree(folder)
    for what, before, after in zip(("exit code", "output", "error output", "files"), *seen):
        if before != after and what == "files":
            raise Failure(f"files: {sorted(k for k in {**before, **after} if before.get(k) != after.get(k))}")
        if before != after:
            raise Failure(f"{what} was {before!r}, is {after!r}")
    rows = parsed(ioscribe, log, *(["--show-incomplete"] if name in INCOMPLETE else []))
    for (counter, file), number in wanted.items():
        have = value(rows, counter, file)
        if have != number:
            raise Failure(f"{counter} of {file}: {have}, not {number}")
    shutil.rmtree(cell)
    return seen[0][0]


def main():
    args = argparse.ArgumentParser()
    args.add_argument("build")
    args.add_argument("--only", default="")
    args.add_argument("--workers", type=int, default=3)
    args = args.parse_args()
    build = os.path.abspath(args.build)
    base = tempfile.mkdtemp(prefix="unharmed.", dir="/tmp")
    os.chmod(base, 0o755)
    names = [n for n in ROWS if args.only in n]
    service, bad = Service(build, base), 0
    try:
        with concurrent.futures.ThreadPoolExecutor(args.workers) as pool:
            tasks = {n: pool.submit(check, n, build, base, service.env) for n in names}
            for name, task in tasks.items():
                try:
                    print(f"ok       {name} (exit code {task.result()})")
                except (Failure, subprocess.SubprocessError, OSError, ValueError) as e:
                    bad += 1
                    print(f"NOT OK   {name}: {e}")
    finally:
        service.close()
        shutil.rmtree(base, ignore_errors=True)
    return 1 if bad or not names else 0


if __name__ == "__main__":
    sys.exit(main())
