#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares a page with its log: report_values.py IOSCRIBE LOG PAGE. Prints the number of values compared.

Counters are those of `parse --total`, files and their bytes those of the records, cells of the grids add up to the
bytes of their layer.
"""
import base64
import json
import re
import struct
import subprocess
import sys
import zlib
from collections import defaultdict


def text(*command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=True).stdout


def fail(what, have, want):
    sys.exit(f"{sys.argv[2]}: {what}: the page has {have}, parse {want}")


def main():
    ioscribe, log, path = sys.argv[1:]
    page = open(path, encoding="utf-8").read()
    if re.search(r"""(?:src|href|url)\s*[=(]|https?://|@import|fetch\(|XMLHttpRequest""", page.split('id="data"')[0]):
        sys.exit("the page asks for something else")
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])
    tables = {t["id"]: t for t in data["tables"]}
    compared = 0

    totals = dict(re.findall(r"^total_(\S+): (\S+)$", text(ioscribe, "parse", "--show-incomplete", "--total", "--all", log), re.M))
    for name, table in tables.items():
        for counter, value, _ in table["rows"] if name.startswith("counters_") else []:
            if counter not in totals:
                continue
            want = float(totals[counter])
            if "ppc64" in log and re.search("_F_(META|MAX_READ|MAX_WRITE)_TIME$", counter):
                continue  # the text has Darshan's error: the other byte order
            if abs(float(value) - want) > 1e-6 + 1e-9 * abs(want):
                fail(counter, value, want)
            compared += 1

    files, layers = defaultdict(lambda: defaultdict(float)), defaultdict(lambda: [0.0, 0.0])
    for line in text(ioscribe, "parse", "--escape", "--show-incomplete", log).splitlines():
        if line[:1] == "#" or line.count("\t") < 5:
            continue
        module, _, record, counter, value, name = line.split("\t")[:6]
        if module not in ("POSIX", "STDIO", "MPI-IO"):
            continue
        end = counter.split("_", 1)[1]
        if end in ("BYTES_READ", "BYTES_WRITTEN"):
            layers[module][end == "BYTES_WRITTEN"] += max(0, float(value))
        if module == "POSIX":
            files[name][end] += max(0, float(value))
    table = tables["files"]
    at = {column[0]: i for i, column in enumerate(table["columns"])}
    for row in table["rows"]:
        name = row[0].replace("\\", "\\\\") if row[0] not in files else row[0]
        if name not in files:
            continue
        for column, counter in (("bytes read", "BYTES_READ"), ("bytes written", "BYTES_WRITTEN"), ("reads", "READS"),
                                ("writes", "WRITES"), ("opens", "OPENS")):
            if float(row[at[column]]) != files[name][counter]:
                fail(name + " " + counter, row[at[column]], files[name][counter])
            compared += 1

    for grid in data["grids"]:
        level = grid["levels"][0]
        cells = zlib.decompress(base64.b64decode(level["cells"]))
        n = grid["rows"] * level["columns"]
        planes = struct.unpack(f"<{2 * n}f", cells)
        for write in (0, 1):
            have, want = sum(planes[write * n:(write + 1) * n]), layers[grid["layer"]][write]
            # heatmaps and traces may hold less than the records, never more
            if grid["source"] == "records" and abs(have - want) > 1e-4 * want or have > want * 1.0001 + 1:
                fail(f"{grid['layer']} over time", have, want)
            compared += 1
    for line in data["timelines"]:
        for level in line["levels"]:
            planes = zlib.decompress(base64.b64decode(level["cells"]))
            if len(planes) != 3 * line["rows"] * level["columns"]:
                fail("cells", len(planes), 3 * line["rows"] * level["columns"])
            compared += 1
    print(compared)


main()
