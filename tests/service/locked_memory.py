# SPDX-License-Identifier: BSD-3-Clause
"""A process whose memory cannot be looked at: somebody reads a page of it that a file system does not give.

Usage: locked_memory.py FILE MINE. The process that is locked counts a line on its standard output before; when it has
mapped FILE its number goes to MINE, which is to be removed when FILE's file system has been stopped.
"""
import ctypes
import os
import sys
import time

PAGE = 4096
READ, PRIVATE, ANONYMOUS = 1, 2, 32

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]


def locked(says):
    libc.printf(b"counted\n")
    libc.fflush(None)
    at = libc.mmap(None, PAGE, READ, PRIVATE, os.open(sys.argv[1], os.O_RDONLY), 0)
    os.write(says, at.to_bytes(8, "little"))
    while True:  # once the page is being read: waits, and whoever looks behind it
        libc.munmap(ctypes.c_void_p(libc.mmap(None, PAGE, READ, PRIVATE | ANONYMOUS, -1, 0)), PAGE)
        time.sleep(0.01)


hears, says = os.pipe()
pid = os.fork()
if pid == 0:
    locked(says)
at = int.from_bytes(os.read(hears, 8), "little")
with open(sys.argv[2] + ".new", "w") as f:
    f.write(f"{pid}\n")
os.rename(sys.argv[2] + ".new", sys.argv[2])
while os.path.exists(sys.argv[2]):
    time.sleep(0.01)
with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
    try:
        os.pread(memory.fileno(), 1, at)
    except OSError:
        pass
os.kill(pid, 9)
os.waitpid(pid, 0)
