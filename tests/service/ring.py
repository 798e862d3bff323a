# SPDX-License-Identifier: BSD-3-Clause
"""Subscribes to job 81 at the socket argv[1], cannot write the ring, and says again and again that it has read
what was never written; ring.ready is made."""
import array
import mmap
import os
import random
import socket
import struct
import sys
import time

s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(sys.argv[1])
text = b"job_id=81\n"
s.send(struct.pack("=IHHII", 0x62637369, 1, 80, 0, len(text)) + text)
data, ancillary, _, _ = s.recvmsg(65536, 64)
fd = array.array("i", ancillary[0][2])[0]
size = os.fstat(fd).st_size
for resize in (0, size // 2, size * 2):
    try:
        os.ftruncate(fd, resize)
        sys.exit("the ring could be resized")
    except PermissionError:
        pass
ring = mmap.mmap(fd, size, prot=mmap.PROT_READ)
for change in (lambda: mmap.mmap(fd, size), lambda: os.pwrite(fd, b"x", 4096), lambda: ring.madvise(mmap.MADV_REMOVE)):
    try:
        change()
        sys.exit("the ring could be written")
    except PermissionError:
        pass
rng = random.Random(1)
open("ring.ready", "w").close()
end = time.monotonic() + 60
while time.monotonic() < end:
    s.send(struct.pack("=IHHII", 0x62637369, 1, 83, 0, 8) + struct.pack("=Q", rng.getrandbits(rng.randrange(65))))
    time.sleep(0.001)
