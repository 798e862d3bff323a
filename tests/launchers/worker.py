# SPDX-License-Identifier: BSD-3-Clause
"""worker.py FOLDER WORLD ATTEMPT RANK end|fail: files whose names and sizes have the rank.

WORLD.ATTEMPT.RANK: 1000 + RANK bytes; .fork by a child; .exec by a program; WORLD.ATTEMPT.all: 10 bytes of each rank.
"""
import os
import subprocess
import sys


def main():
    folder, world, attempt, rank, end = sys.argv[1:]
    name = f"{folder}/{world}.{attempt}.{rank}"
    with open(name, "wb") as f:
        f.write(b"x" * (1000 + int(rank)))
    child = os.fork()
    if child == 0:
        with open(name + ".fork", "wb") as f:
            f.write(b"x" * (2000 + int(rank)))
        os._exit(0)
    os.waitpid(child, 0)
    subprocess.run(["dd", "if=/dev/zero", f"of={name}.exec", f"bs={3000 + int(rank)}", "count=1", "status=none"], check=True)
    fd = os.open(f"{folder}/{world}.{attempt}.all", os.O_CREAT | os.O_WRONLY, 0o644)
    os.pwrite(fd, b"x" * 10, 10 * int(rank))
    os.close(fd)
    sys.exit(end == "fail")


main()
