# SPDX-License-Identifier: BSD-3-Clause
"""The worst of many, until STOP exists, in milliseconds.

Usage: worst.py forks STOP: of a fork and its child's end, every 2 ms.
       worst.py answers STOP COMMAND...: of a command that must end with 0, every 20 ms.
"""
import os
import subprocess
import sys
import time


def fork():
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def answer():
    subprocess.run(sys.argv[3:], stdout=subprocess.DEVNULL, check=True)


once, rest = {"forks": (fork, 0.002), "answers": (answer, 0.02)}[sys.argv[1]]
worst = n = 0
while not os.path.exists(sys.argv[2]):
    begun = time.monotonic()
    once()
    worst = max(worst, time.monotonic() - begun)
    n += 1
    time.sleep(rest)
print(f"{worst * 1000:.0f} {n}")
