# SPDX-License-Identifier: BSD-3-Clause
"""epochs.py FOLDER: three times all of FOLDER/data by each MPI rank, in 50 reads; in the second rank 1 is late.

Prints a line per epoch: rank, and the clock before and after the first read, before and after the last.
"""
import os
import sys
import time

from checkpoint import RANK, meet, tell


def epoch(fd, step):
    size = os.fstat(fd).st_size // 50
    times = [time.monotonic()]
    os.pread(fd, size, 0)
    times.append(time.monotonic())
    for i in range(1, 49):
        os.pread(fd, size, i * size)
    for i in range(12 if step == 1 and RANK == 1 else 0):
        time.sleep(0.04)
        os.pread(fd, 1, i)
    times.append(time.monotonic())
    os.pread(fd, size, 49 * size)
    times.append(time.monotonic())
    return times


def main():
    lines = []
    fd = os.open(f"{sys.argv[1]}/data", os.O_RDONLY)
    for step in range(3):
        meet(sys.argv[1], step)
        lines.append(epoch(fd, step))
        time.sleep(1.2)
    tell(lines)


main()
