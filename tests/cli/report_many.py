#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares a page of many logs, or of two, with summaries: report_many.py IOSCRIBE PAGE DIRECTORY|TEXT

TEXT is what `ioscribe summary` prints of the two. Prints the number of values compared.
"""
import json
import os
import re
import subprocess
import sys


def fail(what, have, want):
    sys.exit(f"{what}: the page has {have}, the summary {want}")


def of_directory(data, ioscribe, directory):
    compared, seen = 0, set()
    for row in data["logs"]:
        path = os.path.join(directory, row[0])
        seen.add(path)
        summary = json.loads(subprocess.run([ioscribe, "summary", "--json", path], capture_output=True, check=True).stdout)
        files = [m for m in summary["modules"] if m["name"] in ("POSIX", "STDIO")]
        severities = [f["severity"] for f in summary["findings"]]
        want = {1: str(summary["job"]["id"]), 2: str(summary["job"]["uid"]), 6: max(summary["job"]["nprocs"], 1),
                7: summary["job"]["run_time"], 8: summary["time"]["slowest_rank"],
                10: sum(m["bytes_read"] for m in files), 11: sum(m["bytes_written"] for m in files),
                12: severities.count("severe"), 13: severities.count("warning"),
                14: summary["findings"][0]["rule"] if severities else ""}
        for column, value in want.items():
            if row[column] != value and abs(float(row[column] or 0) - float(value or 0)) > 1e-9 * float(value or 0):
                fail(f"{row[0]} {column}", row[column], value)
            compared += 1
    have = {os.path.join(f, n) for f, _, names in os.walk(directory) for n in names if n.endswith(".darshan")}
    if have - seen != {os.path.join(directory, "none.darshan")}:
        fail("logs", sorted(seen), sorted(have))
    return compared


def of_two(data, text):
    compared = 0
    quantity = {"seconds": lambda v: f"{v:.4g} s", "count": lambda v: f"{v:,.0f}",
                "bytes": lambda v: f"{v:.0f} B" if v < 1023.95 else f"{v / 1048576:.1f} MiB"}
    for name, unit, a, b in data["changes"]:
        line = re.search(rf"^{re.escape(name)} {{2,}}(.*?) {{2,}}(.*?)( {{2,}}.*)?$", text, re.M)
        if not line or (line[1].strip(), line[2].strip()) != (quantity[unit](a), quantity[unit](b)):
            fail(name, (quantity[unit](a), quantity[unit](b)), line and line[0])
        compared += 1
    for file in data["files"]:
        if not re.search(rf"^ +{file['seconds'][0]:.4g} s +{file['seconds'][1]:.4g} s  {re.escape(file['name'])}$", text, re.M):
            fail(file["name"], file["seconds"], "no such line")
        compared += 1
    return compared


def main():
    ioscribe, page, source = sys.argv[1:]
    with open(page, encoding="utf-8") as f:
        data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', f.read(), re.S)[1])
    print(of_directory(data, ioscribe, source) if os.path.isdir(source) else of_two(data, open(source, encoding="utf-8").read()))


main()
