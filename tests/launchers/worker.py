# SPDX-License-Identifier: BSD-3-Clause
"""worker.py FOLDER WORLD ATTEMPT RANK end|fail: files whose names and sizes have the rank.
worker.py FOLDER WORLD torch: of a real torchrun, the last rank fails before a restart.

WORLD.ATTEMPT.RANK: 1000 + RANK bytes; .fork by a child; .exec by a program; WORLD.ATTEMPT.all: 10 bytes of each rank.
"""
import os
import subprocess
import sys
import time


def torch(folder):
    """Attempt, rank, end; all ranks are met when the last one fails, because torchrun then ends the others."""
    attempt, rank, size = (int(os.environ[name]) for name in ("TORCHELASTIC_RESTART_COUNT", "RANK", "WORLD_SIZE"))
    fails = attempt < int(os.environ["TORCHELASTIC_MAX_RESTARTS"]) and rank == size - 1
    return str(attempt), str(rank), "fail" if fails else "end", [f"{folder}/meet.{attempt}.{r}" for r in range(size)]


def main():
    folder, world, *more = sys.argv[1:]
    attempt, rank, end, meet = torch(folder) if more == ["torch"] else (*more, [])
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
    if meet:
        os.close(os.open(meet[int(rank)], os.O_CREAT, 0o644))
    while end == "fail" and not all(map(os.path.exists, meet)):
        time.sleep(0.01)
    sys.exit(end == "fail")


main()
