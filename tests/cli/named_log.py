#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A log with a POSIX record for each NAME on standard output: named_log.py [--times V,V...] NAME...

--times: doubles that the records' times take in turn, instead of 0.5.
"""
import os
import struct
import sys
import zlib

times = [0.5]
if sys.argv[1] == "--times":
    times = [float(v) for v in sys.argv[2].split(",")]
    del sys.argv[1:3]
names = [os.fsencode(name) for name in sys.argv[1:]]
job = zlib.compress(struct.pack("<7q1024s", 1000, 1700000000, 0, 1700000100, 0, 1, 1, b"") + b"./app <b>\n\0")
region = zlib.compress(b"".join(struct.pack("<Q", i + 1) + name + b"\0" for i, name in enumerate(names)))
records = zlib.compress(b"".join(struct.pack("<Qq69q17d", i + 1, 0, *([1] * 69), *((times * 99)[i:i + 17])) for i in range(len(names))))
maps, versions, at = [(0, 0)] * 64, [0] * 64, 1328 + len(job) + len(region)
maps[1], versions[1] = (at, len(records)), 4
out = struct.pack("<8sqB7xQ2Q", b"3.41", 6567223, 0, 0, 1328 + len(job), len(region))
out += b"".join(struct.pack("<2Q", *m) for m in maps) + struct.pack("<64I", *versions) + job + region + records
sys.stdout.buffer.write(out)
