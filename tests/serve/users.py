#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Users of ioscribe serve: who sees whose jobs. The store is that of make_events: job 5000 of user 1000, 5001 of 1001,
5002 of 1002. The token file has, in this order: one for all, one of 1001, a proxy's with X-Remote-User.

usage: users.py HOST:PORT TOKENS rows     what each sees, and requests that are refused
       users.py HOST:PORT TOKENS busy     questions without an end of one user keep no other waiting
       users.py HOST:PORT TOKENS report   a job's report belongs to the owner of the log, who runs this
"""
import http.client
import json
import os
import sys
import threading
import time
import urllib.parse

PLACE, WHAT = sys.argv[1], sys.argv[3]
ALL, ALICE, PROXY = (line.split()[0] for line in open(sys.argv[2]) if line.strip())


def ask(path, token, headers=(), timeout=100):
    """Status and answer."""
    c = http.client.HTTPConnection(PLACE, timeout=timeout)
    c.putrequest("GET", path)
    c.putheader("Authorization", "Bearer " + token)
    for name, value in headers:
        c.putheader(name, value)
    c.endheaders()
    r = c.getresponse()
    return r.status, json.loads(r.read())


def question(name, who, **parameters):
    token, headers = who
    status, got = ask("/api/ask?" + urllib.parse.urlencode({"question": name, **parameters}), token, headers)
    assert status == 200, (name, parameters, status, got)
    return got["rows"]


def by_proxy(user):
    return PROXY, [("X-Remote-User", user)]


if WHAT == "rows":
    everybody, alice = (ALL, ()), (ALICE, ())
    users = {job: rows for job, rows in ((r[0], r[2]) for r in question("jobs", everybody))}
    assert users == {5000: 1000, 5001: 1001, 5002: 1002}, users
    for who, own in ((alice, 5001), (by_proxy("1001"), 5001), (by_proxy("1002"), 5002), (alice, 5001), (by_proxy("root"), 0)):
        assert [r[0] for r in question("jobs", who)] == ([own] if own else []), who
        total = question("operations", who)
        assert total == [r for r in question("operations", everybody) if r[0] == own], who
        assert question("load", who, from_us=0, to_us=9000000000000000000) == \
            [r for r in question("load", everybody, from_us=0, to_us=9000000000000000000) if r[0] == own]
        for job in users:
            for name in ("durations", "heat", "nodes", "over_time", "percentiles", "phases", "ranks", "slowest", "streams"):
                rows = question(name, who, job=job)
                assert rows == (question(name, everybody, job=job) if job == own else []), (name, job, who)
            for name in ("by_io", "by_events", "by_files", "by_programs"):  # the test's own: of each table and view
                assert (question(name, who, job=job)[0][0] > 0) == (job == own), (name, job, who)
        assert question("inputs", who) == [[0]], who
        assert question("sums", who) == [[1 if own else 0]], who
    assert question("inputs", everybody) == [[1]]
    assert question("sums", everybody) == [[3]]
    # Nobody, and nobody's name: each is refused before a question is asked.
    path, refused = "/api/ask?question=jobs", []
    for token in ("", " ", ALL[:-1], ALL + "x", ALL.upper(), f"{ALICE} 1001", "None", "%s" * 8):
        refused.append(ask(path, token)[0] == 401)
    for user in ("", " ", "-1", "none-such", "1001 OR 1=1", "1001'--", "4294967295", "4294968297", "01001x", "../1001", "1001,1002"):
        refused.append(ask(path, *by_proxy(user))[0] == 403)
    refused.append(ask(path, PROXY)[0] == 403)
    refused.append(ask(path, PROXY, [("X-Remote-User", "1001"), ("x-remote-user", "1002")])[0] == 403)
    assert all(refused), refused
    # Another line's token is not made another's by the header.
    assert [r[0] for r in question("jobs", (ALICE, [("X-Remote-User", "1002")]))] == [5001]
    print(len(refused), "refused")
elif WHAT == "busy":
    results = []

    def endless():
        results.append(ask("/api/ask?question=endless", ALICE))
    threads = [threading.Thread(target=endless, daemon=True) for _ in range(6)]
    for t in threads:
        t.start()
    time.sleep(2)
    begin = time.monotonic()
    for _ in range(20):
        assert question("jobs", by_proxy("1002")) and question("jobs", (ALL, ()))
    assert not results, results
    assert not results, results
    print("40 answered in", time.monotonic() - begin, "s", file=sys.stderr)
    print("answered")
else:
    me = by_proxy(str(os.geteuid()))
    status, mine = ask("/api/report?job=5000", *me)
    assert status == 200 and mine["log"] and f"uid={os.geteuid()}&" in mine["address"], mine
    assert ask("/api/report?job=5000", ALICE) == (200, {})
    _, everybodys = ask("/api/report?job=5000", ALL)
    assert everybodys["log"] == mine["log"] and everybodys["address"] != mine["address"]
    key = mine["address"].rpartition("=")[2]
    assert ask(f"/report?job=5000&uid=-1&key={key}", "none")[0] == 401
    assert ask(f"/report?job=5000&uid=1001&key={key}", "none")[0] == 401
    assert ask("/report?job=5000", ALICE)[0] == 404
    for job in ("../5000", "5000/../5000", "", "5000%00", "1e3"):
        assert ask(f"/api/report?job={job}", ALL)[0] in (200 if "%00" in job else 400, 400), job
    print("owned")
