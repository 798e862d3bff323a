#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How much work the running kernel's verifier has with our programs, as the daemon loads them.

usage: verified.py BUILD [--attach LEVEL|every]... [--most N] [--set KEY=VALUE]...     (root)

A service of BUILD gets a job whose process has every MPI, HDF5 and PnetCDF library of this
machine in its memory, so that whatever there is gets loaded; then the kernel is asked (verified_insns,
Linux 5.16 and later). A line for each program, and their sum; --attach once for each level that is
to be tried, every: all that `ioscribe doctor --features` says can be had here. IOSCRIBE_BENCH_LOCK: see tests/bench/README.md. Exit 1 where a level does not load, where the
kernel tells nothing, or the sum is over --most.
"""
import argparse
import contextlib
import ctypes
import os
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../bench"))
import bench  # noqa: E402

PROG_GET_NEXT_ID = 11
VERIFIED_AT, INFO_BYTES = 216, 224  # struct bpf_prog_info up to verified_insns
LIBRARIES = re.compile(r"^\s*lib(mpich|mpi|hdf5_mpich|hdf5_openmpi|pnetcdf)\.so\.\d+ .*=> (\S+)$", re.M)


def programs():
    """{id: (name, instructions verified)} of our programs."""
    found, link = {}, bench.Words()
    while bench.bpf(PROG_GET_NEXT_ID, link) == 0:
        link.a = link.b
        fd = bench.bpf(bench.PROG_GET_FD_BY_ID, bench.Words(a=link.b))
        info = bench.info_of(fd, INFO_BYTES) if fd >= 0 else None
        if info:
            name = info[bench.PROG_NAME_AT:bench.PROG_NAME_AT + 16].split(b"\0")[0].decode()
            if name.startswith(bench.OURS):
                found[link.b] = (name, int.from_bytes(info[VERIFIED_AT:VERIFIED_AT + 4], "little"))
    if ctypes.get_errno() not in (0, 2):
        sys.exit(f"verified: bpf programs cannot be listed: {os.strerror(ctypes.get_errno())}: run as root")
    return found


def settled(before):
    """Our programs that were not there before, when their number does not grow any more."""
    last, since, end = None, 0, time.monotonic() + bench.WAIT_SECONDS
    while time.monotonic() < end:
        now = {number: program for number, program in programs().items() if number not in before}
        if now != last:
            last, since = now, time.monotonic()
        if now and time.monotonic() - since > 1.5:
            break
        time.sleep(0.05)
    return last


@contextlib.contextmanager
def with_libraries(env, libraries):
    """A process of the job for each library: the two MPIs do not bear one process."""
    with contextlib.ExitStack() as stack:
        for library in libraries:
            stack.enter_context(bench.sleeper(env, preload=library))
        yield


def levels_here(build):
    """Levels of the configuration key attach that this kernel fits."""
    keys = bench.output([os.path.join(build, "runtime/daemon/ioscribed"), "--list-keys"])
    known = next(line.split("\t")[2].split(", ") for line in keys.splitlines() if line.startswith("bpf_attach_mode\t"))
    told = subprocess.run([os.path.join(build, "util/ioscribe"), "doctor", "--features"], check=False,
                          stdout=subprocess.PIPE, text=True).stdout
    state = {words[0]: words[1] for words in (line.split() for line in told.splitlines()) if len(words) > 1}
    for level in known:
        if level not in state and level != "auto":
            sys.exit(f"verified: doctor --features says nothing of {level}:\n{told}")
        if state.get(level, "ok") != "ok":
            print(f"{level:13} {state[level]} here")
    return [level for level in known if level == "auto" or state[level] == "ok"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", metavar="BUILD")
    parser.add_argument("--attach", action="append")
    parser.add_argument("--most", type=int)
    parser.add_argument("--set", action="append", default=[])
    args = parser.parse_args()
    cache = subprocess.run(["/sbin/ldconfig", "-p"], check=True, stdout=subprocess.PIPE, text=True).stdout
    libraries = sorted({found[2] for found in LIBRARIES.finditer(cache)})
    failed = False
    build = os.path.abspath(args.build)
    levels = [level for word in args.attach or ["auto"] for level in (levels_here(build) if word == "every" else [word])]
    for level in levels:
        config = [f"bpf_attach_mode={level}", "trace_libraries=all", *args.set]
        with bench.machine_lock(), bench.scratch() as folder:
            before = programs()
            with bench.Service(build, folder, config=config) as service, service.begin() as job:
                with with_libraries(job.joins, libraries):
                    found = sorted(settled(before).values())
        total = sum(insns for _, insns in found)
        for name, insns in found:
            print(f"{level:13} {name:18} {insns:8}")
        print(f"{level:13} {'sum':18} {total:8}   {len(found)} programs, {len(libraries)} libraries, "
              f"Linux {os.uname().release}")
        if not found or not all(insns for _, insns in found):
            print(f"refused: {level}: " + ("the kernel does not tell the work" if found else "no program was loaded"))
            failed = True
        if args.most is not None and total > args.most:
            print(f"refused: {level}: {total} instructions verified, the limit is {args.most}")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
