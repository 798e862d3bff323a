#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Messages of jobs of several lengths, and what the page of `ioscribe serve` shows of them.

    served.py make            messages: job 1 of 0.1 s, job 2 of an hour, job 3 of 4,096 ranks, job 4 of one operation,
                              and job 1 again, two days later
    served.py compare FILE    compares with the page's tables (browser.py served); prints the number of values
"""
import json
import re
import sys

# job: (user, begin in seconds, seconds, ranks, operations)
JOBS = [(1, 100, 1700000000, 0.1, 4, 2000), (2, 101, 1700001000, 3600, 16, 5000), (3, 102, 1700010000, 40, 4096, 12288),
        (4, 100, 1700020000, 0, 1, 1), (1, 100, 1700172800, 2, 2, 100)]


def messages(job, user, begin, length, ranks, operations):
    for i in range(operations):
        op, size = ("write", 1000 + i % 7) if i % 2 else ("read", 500 + i % 5)
        at = begin + (length * i / (operations - 1) if operations > 1 else 0)
        yield {"uid": user, "exe": f"/apps/<b>{job}", "job_id": job, "rank": i % ranks, "ProducerName": f"node{i % ranks % 8}",
               "file": f"/scratch/{job}", "record_id": job, "module": "POSIX", "type": "MOD", "max_byte": -1, "switches": -1,
               "flushes": -1, "cnt": 1, "op": op, "schema": "N/A",
               "seg": [{"pt_sel": -1, "irreg_hslab": -1, "reg_hslab": -1, "ndims": -1, "npoints": -1, "off": 0, "len": size,
                        "start": 0, "dur": (10 + i % 13) / 1e6, "total": 0, "timestamp": f"{at:.6f}"}]}


def make():
    for job in JOBS:
        for m in messages(*job):
            print(re.sub(r'("timestamp": )"([0-9.]+)"', r"\1\2", json.dumps(m)))


def compare(found):
    values = 0

    def same(what, got, want):
        nonlocal values
        values += 1
        if got != want:
            sys.exit(f"{what}: the page has {got}, right is {want}")

    rows = found["jobs"]["tables"]["Jobs"]
    same("jobs", sorted((int(r[0]), int(r[1]), int(r[2])) for r in rows), [(1, 1, 100), (1, 2, 100), (2, 1, 101), (3, 1, 102), (4, 1, 100)])
    for name, (job, user, begin, length, ranks, operations) in zip(["1&use=1", "2", "3", "4", "1&use=2"], JOBS):
        page = found[name]
        all_messages = list(messages(job, user, begin, length, ranks, operations))
        for op in ("read", "write"):
            want = [m["seg"][0] for m in all_messages if m["op"] == op]
            row = [r for r in page["tables"]["Operations"] if r[0] == "POSIX " + op]
            same(f"{name} {op}", row[0][2].strip() if row else "0", f"{len(want):,}")
            cells = page["tables"]["Ranks over time"]
            same(f"{name} {op} over time", sum(int(r[1 if op == "read" else 2]) for r in cells), sum(s["len"] for s in want))
        same(name + " operations over time", sum(int(r[3]) for r in cells), operations)
        if operations >= 2000:
            same(name + " spans", 200 <= len(cells) <= 400, True)
        same(name + " first span", float(cells[0][0]) < 0.0001, True)  # an operation's end; the job begins with its start
        same(name + " ranks", len(page["tables"]["Ranks"]), min(400, len({(m["rank"], m["op"]) for m in all_messages})))
        longest = max(round(m["seg"][0]["dur"] * 1e6) for m in all_messages)
        same(name + " slowest", int(page["tables"]["Slowest operations"][0][0]), longest)
        same(name + " title", page["title"].startswith(f"Job {job}: /apps/<b>{job}"), True)
    print(values)


if sys.argv[1] == "make":
    make()
else:
    with open(sys.argv[2], encoding="utf-8") as f:
        compare(json.load(f))
