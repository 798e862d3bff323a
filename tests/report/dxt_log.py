#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A log of traced operations on standard output: dxt_log.py RANKS OPERATIONS-A-RANK. At random times of 99 s."""
import random
import struct
import sys
import zlib

ranks, operations = int(sys.argv[1]), int(sys.argv[2])
random.seed(1)
job = zlib.compress(struct.pack("<7q1024s", 1000, 1700000000, 0, 1700000100, 0, ranks, 1, b"") + b"./app\n\0")
names = zlib.compress(struct.pack("<Q", 7) + b"/scratch/f\0")
pack = zlib.compressobj(1)
records = b""
for rank in range(ranks):
    records += pack.compress(struct.pack("<QqQ64sqq", 7, rank, 0, b"node0", operations // 2, operations - operations // 2))
    for i in range(operations):
        start = random.random() * 99
        records += pack.compress(struct.pack("<qqdd", i * 4096, random.choice((4096, 65536, 1 << 20)), start,
                                             start + random.expovariate(300)))
records += pack.flush()
maps, versions, at = [(0, 0)] * 64, [0] * 64, 1328 + len(job) + len(names)
maps[10], versions[10] = (at, len(records)), 1
sys.stdout.buffer.write(struct.pack("<8sqB7xQ2Q", b"3.41", 6567223, 0, 0, 1328 + len(job), len(names)) +
                        b"".join(struct.pack("<2Q", *m) for m in maps) + struct.pack("<64I", *versions) + job + names + records)
