#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""breakpoints.py PID FILE: how many bytes of the file's code are a breakpoint (0xcc) in the process's memory alone."""
import os
import sys


def main():
    pid, path = sys.argv[1:]
    with open(path, "rb") as f:
        there = f.read()
    found = 0
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line in maps:
            fields = line.split()
            if len(fields) < 6 or "x" not in fields[1] or os.path.basename(fields[5]) != os.path.basename(path):
                continue
            start, end = (int(x, 16) for x in fields[0].split("-"))
            offset = int(fields[2], 16)
            here = os.pread(memory.fileno(), end - start, start)
            found += sum(a == 0xcc != b for a, b in zip(here, there[offset:offset + len(here)]))
    print(found)


if __name__ == "__main__":
    main()
