# SPDX-License-Identifier: BSD-3-Clause
"""checkpoint.py FOLDER: three checkpoints, a file and its small neighbour by each MPI rank; in the second rank 1 is late.

Prints a line per checkpoint: rank, and the clock before and after the first open, before and after the last close.
"""
import os
import sys
import time

RANK, SIZE = int(os.environ["PMI_RANK"]), int(os.environ["PMI_SIZE"])


def meet(folder, step):
    open(f"{folder}/meet.{step}.{RANK}", "w", encoding="ascii").close()
    while not all(os.path.exists(f"{folder}/meet.{step}.{rank}") for rank in range(SIZE)):
        time.sleep(0.001)


def tell(lines):
    """In one write: mpiexec mixes those of ranks."""
    os.write(1, "".join(" ".join(map(repr, [RANK, *line])) + "\n" for line in lines).encode())


def checkpoint(folder, step):
    times = [time.monotonic()]
    fd = os.open(f"{folder}/step{step}.rank{RANK}", os.O_CREAT | os.O_WRONLY, 0o644)
    times.append(time.monotonic())
    os.write(fd, b"x" * 100000)
    if step == 1 and RANK == 1:
        time.sleep(0.4)
    os.fsync(fd)
    os.close(fd)
    small = os.open(f"{folder}/step{step}.rank{RANK}.meta", os.O_CREAT | os.O_WRONLY, 0o644)
    os.write(small, b"y" * 100)
    times.append(time.monotonic())
    os.close(small)
    times.append(time.monotonic())
    return times


def main():
    folder = sys.argv[1]
    lines = []
    log = os.open(f"{folder}/log", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o644)
    for step in range(3):
        meet(folder, step)
        os.write(log, b"step\n")
        lines.append(checkpoint(folder, step))
        time.sleep(0.3)
    os.write(log, b"end\n")
    tell(lines)


if __name__ == "__main__":
    main()
