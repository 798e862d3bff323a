#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every heatmap's sums are the byte counters of its module, and all have the same bins.

usage: heat_sums.py IOSCRIBE LOG      prints the width and number of bins, then the modules
"""
import collections
import json
import subprocess
import sys

tables = [word for name in ("heatmap", "posix", "stdio", "mpiio") for word in ("--table", name)]
rows = subprocess.run([sys.argv[1], "export", "--json-lines", *tables, sys.argv[2]], check=True, text=True,
                      stdout=subprocess.PIPE).stdout.splitlines()
heat, counted, bins, width = collections.Counter(), collections.Counter(), collections.Counter(), set()
for row in map(json.loads, rows):
    if row["table"] == "heatmap":
        module, where = row["name"].split(":")[1].lower(), heat
        width.add(row["width"])
        bins[module, row["rank"]] += 1
    else:
        module, where = row["table"], counted
    for op in "READ", "WRITTEN":
        key = "bytes_" + op.lower() if where is heat else f"{module.upper()}_BYTES_{op}"
        where[module, op] += row[key]
if +heat != +counted:
    sys.exit(f"heatmaps have {+heat}, counters {+counted}")
if len(width) != 1 or len(set(bins.values())) != 1:
    sys.exit(f"widths {width}, bins {bins}")
print(f"{width.pop():g} {set(bins.values()).pop()} {' '.join(sorted({module for module, _ in bins}))}")
