#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Is the log of a window what the program's own stamps say? Of tests/service/trace.bats.

usage: window.py IOSCRIBE LOG DIR RANKS [FILE-REGEX]   DIR holds stamps.RANK of tests/prog/mpi_paced.c
prints: SEGMENTS BEGIN_NS END_NS (log's clock); exit 1 with the first difference.

File "mpi" is written by MPI-IO. An operation that begins within the window must be there, one that does not must not. The log's clock is the
program's and a distance that the daemon has read once: what it is follows from the operations themselves, each of
which began between its two stamps, to the microsecond or so; that is how exact the ends of the window are known.
"""
import csv
import os
import re
import struct
import subprocess
import sys
import zlib

tool, log, folder, ranks = sys.argv[1:5]
files = re.compile(sys.argv[5] if len(sys.argv) > 5 else "")
data = open(log, "rb").read()
job = zlib.decompressobj().decompress(data[1328:])
_, s, sn, e, en = struct.unpack_from("5q", job)
begin, end = s * 10**9 + sn, e * 10**9 + en

have = {}
text = subprocess.run([tool, "dxt", "--csv", log], check=True, capture_output=True, text=True).stdout
for row in csv.DictReader(text.splitlines()):
    name, start = os.path.basename(row["name"]), float(row["start"])
    if name.startswith("stamps."):
        continue
    key = (int(row["rank"]), row["module"], name, row["operation"], int(row["offset"]), int(row["length"]))
    assert key not in have, f"twice: {row}"
    assert 0 <= start < (end - begin) / 1e9 + 1e-7, f"outside of the window: {row}"
    have[key] = begin + start * 1e9
segments = len(have)

done = []
for rank in [int(r) for r in ranks.split(",")]:
    for line in open(f"{folder}/stamps.{rank}"):
        name, kind, offset, length, before, after = line.split()
        # an operation of MPI-IO makes one of system calls
        for module in ["DXT_POSIX", "DXT_MPIIO"] if name == "mpi" else ["DXT_POSIX"]:
            if files.search(name):
                done.append(((rank, module, name, kind, int(offset), int(length)), int(before), int(after)))

there = [(have[key], before, after) for key, before, after in done if key in have]
assert len(there) == segments, f"never done: {set(have) - {key for key, _, _ in done}}"
if there:
    least = max(start - after for start, _, after in there)
    most = min(start - before for start, before, _ in there)
    assert least <= most, f"no distance of the clocks fits all: {least} {most}"
    distance, slack = (least + most) / 2, (most - least) / 2 + 100
    for key, before, after in done:
        if key in have:
            assert after + distance >= begin - slack and before + distance < end + slack, f"not of the window: {key}"
        else:
            assert before + distance < begin + slack or after + distance >= end - slack, f"missing: {key}"
print(segments, begin, end)
