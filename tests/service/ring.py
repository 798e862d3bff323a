# SPDX-License-Identifier: BSD-3-Clause
"""Subscribes to job 81 at the socket argv[1] and writes over all of the ring, again and again; ring.ready is made."""
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
ring = mmap.mmap(fd, size)
rng = random.Random(1)
end = time.monotonic() + 60
while time.monotonic() < end:
    ring[8:192] = rng.randbytes(184)
    ring[192:65536] = rng.randbytes(65536 - 192)
    ring[size - 4096:] = rng.randbytes(4096)
    if not os.path.exists("ring.ready"):
        open("ring.ready", "w").close()
    time.sleep(0.01)
