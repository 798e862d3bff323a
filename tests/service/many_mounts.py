# SPDX-License-Identifier: BSD-3-Clause
"""A process in a mount namespace with MOUNTS mounts that maps FILES of its own, executable, and ends when STOP exists.

Usage: many_mounts.py DIR MOUNTS FILES STOP, below `unshare --mount`; UID, GID become 60001. Prints a line when all is there.
"""
import ctypes
import mmap
import os
import sys
import time

BIND = 4096

folder, mounts, files, stop = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
libc = ctypes.CDLL(None, use_errno=True)
for i in range(mounts):
    if libc.mount(folder.encode(), folder.encode(), None, BIND, None):
        sys.exit(f"mount {i}: {os.strerror(ctypes.get_errno())}")
os.setgid(60001)
os.setuid(60001)
print("mounted", flush=True)
while not os.path.exists(stop):
    for i in range(files):
        with open(f"{folder}/{i}", "w+b") as f:
            f.write(bytes(4096))
            f.flush()
            mmap.mmap(f.fileno(), 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC).close()
    time.sleep(0.1)
