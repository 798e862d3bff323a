#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Requests as Grafana's JSON data source makes them, and those of our dashboard, to ioscribe serve; the answers against
those of ioscribe query.

usage: grafana.py HOST:PORT TOKEN IOSCRIBE DB DASHBOARD
"""
import collections
import json
import subprocess
import sys
import urllib.request

place, token, ioscribe, db, dashboard = sys.argv[1:]
RANGE = {"from": "2023-11-14T22:13:20.010Z", "to": "2023-11-14T22:13:20.050Z", "raw": {"from": "now-1h", "to": "now"}}


def post(path, body):
    r = urllib.request.Request(f"http://{place}{path}", json.dumps(body).encode(),
                               {"Authorization": "Bearer " + token, "Content-Type": "application/json"})
    with urllib.request.urlopen(r) as answer:
        assert answer.headers["Content-Type"] == "application/json"
        return json.load(answer)


def query(*targets, **more):
    """The body of a panel's request."""
    body = {"app": "dashboard", "requestId": "Q100", "timezone": "browser", "panelId": 2, "dashboardUID": "x", "range": RANGE,
            "interval": "1s", "intervalMs": 1000, "maxDataPoints": 1200, "startTime": 1700000000000, "adhocFilters": [],
            "scopedVars": {"__interval": {"text": "1s", "value": "1s"}}, "rangeRaw": RANGE["raw"],
            "targets": [{"refId": "A", "datasource": {"type": "simpod-json-datasource", "uid": "P1"}, "editorMode": "code", **t}
                        for t in targets]}
    body.update(more)
    return post("/query", body)


def ours(*question):
    return json.loads(subprocess.run([ioscribe, "query", "--db", db, "--json", *question], check=True, capture_output=True).stdout)


def series(rows, key, value):
    want = collections.defaultdict(list)
    for r in rows:
        want[key(r)].append([r[value], r["time_us"] // 1000])
    return dict(want)


# the connection test of both data sources
with urllib.request.urlopen(urllib.request.Request(f"http://{place}/", headers={"Authorization": "Bearer " + token})) as ok:
    assert ok.status == 200

names = sorted({q.split(":")[0] for q in subprocess.run([ioscribe, "query", "--list"], check=True, capture_output=True, text=True)
                .stdout.splitlines() if q[0] != " "})
assert post("/search", {"target": ""}) == names
assert [m["value"] for m in post("/metrics", {})] == names
assert [p["name"] for m in post("/metrics", {"metric": "rank"}) if m["value"] == "rank" for p in m["payloads"]][:4] == \
    ["job", "rank", "from_us", "limit"]

# series over time: one for each module and operation, times in milliseconds
rows = ours("over_time", "job=5001")
got = query({"target": "over_time", "payload": {"job": "5001"}})
assert {s["target"]: s["datapoints"] for s in got} == series(rows, lambda r: f"{r['module']} {r['op']} operations", "operations") != {}
got = query({"target": "over_time", "payload": {"job": 5001, "metric": "bytes", "module": "POSIX", "rank": ""}})
assert {s["target"]: s["datapoints"] for s in got} == series(rows, lambda r: f"{r['module']} {r['op']} bytes", "bytes")
assert query({"target": "over_time", "payload": {"job": 5001, "module": "MPIIO"}}) == []
got = query({"target": "heat", "payload": {"job": "5001", "rank": "3", "module": "$__all"}})
assert [s["target"] for s in got] == ["rank 3 operations"]
# the older form: type and data
got = query({"target": "over_time", "type": "timeserie", "data": {"job": "5001"}}, {"target": "nodes", "type": "table", "data": {"job": "5001"}})
assert got[-1]["type"] == "table" and len(got) == 1 + len(series(rows, lambda r: r["op"], "bytes"))

# tables, with what the range says where a question asks for it; hidden and empty targets
got, = query({"target": "load", "payload": {}}, {"target": "jobs", "hide": True}, {"target": ""})
want = ours("load", "from_us=1700000000010000", "to_us=1700000000050000")
assert [c["text"] for c in got["columns"]] == list(want[0]) and got["rows"] == [list(r.values()) for r in want]
got, = query({"target": "slowest", "payload": {"job": "5000", "limit": "5"}})
assert [c["type"] for c in got["columns"]][:4] == ["number", "time", "number", "string"]
assert [r[1] for r in got["rows"]] == [r["time_us"] // 1000 for r in ours("slowest", "job=5000", "limit=5")]
got, = query({"target": "durations", "payload": {"job": "5001"}}, adhocFilters=[{"key": "rank", "operator": "=", "value": "2"}])
assert got["rows"] == [list(r.values()) for r in ours("durations", "job=5001") if r["rank"] == 2] != []

# variables
jobs = ours("jobs")
assert post("/variable", {"payload": {"target": "job"}, "range": RANGE}) == \
    [{"__text": f"{j['job']} {j['exe']}", "__value": str(j["job"])} for j in jobs]
assert [v["__value"] for v in post("/variable", {"payload": {"target": "rank", "job": "5001"}})] == [str(r) for r in range(8)]
assert [v["__value"] for v in post("/variable", {"payload": {"target": "module"}})] == ["MPIIO", "POSIX"]
assert [v["__value"] for v in post("/variable", {"payload": {"target": "metric"}})] == ["operations", "bytes"]
assert [v["__value"] for v in post("/variable", {"payload": {"target": "analysis"}})] == names
assert [v["value"] for v in post("/metric-payload-options", {"metric": "rank", "payload": {"job": "5001"}, "name": "rank"})] == \
    [str(r) for r in range(8)]
assert [t["text"] for t in post("/tag-keys", {})] == ["job", "rank", "module"]
assert [t["text"] for t in post("/tag-values", {"key": "job"})] == [str(j["job"]) for j in jobs]
notes = post("/annotations", {"range": RANGE, "annotation": {"name": "jobs", "query": "jobs", "enable": True}})
assert [(n["title"], n["time"], n["timeEnd"]) for n in notes] == \
    [(f"job {j['job']}", j["first_us"] // 1000, j["last_us"] // 1000) for j in jobs]

# the dashboard: every variable and panel is answered
chosen = {"$job": "5001", "$rank": "", "$module": "POSIX", "$metric": "bytes", "$analysis": "operations"}
board = json.load(open(dashboard))
variables = [v for v in board["templating"]["list"] if v["type"] == "query"]
assert [v["name"] for v in variables] == ["job", "rank", "module", "metric", "analysis"]
for v in variables:
    payload = {k: chosen.get(x, x) for k, x in json.loads(v["query"]["payload"]).items()}
    assert post("/variable", {"payload": payload}), v["name"]
for p in board["panels"]:
    for t in p["targets"]:
        answer = query({"target": chosen.get(t["target"], t["target"]), "payload": {k: chosen.get(x, x) for k, x in t["payload"].items()}})
        assert answer and (answer[0].get("rows") or answer[0].get("datapoints")), p["title"]
print("as expected")
