#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every statement of a dashboard against a store, with the variables replaced as Grafana replaces them; sums against
ioscribe query.

usage: dashboard.py BOARD IOSCRIBE DB sql ADDRESS           each rawSql by psql at ADDRESS
       dashboard.py BOARD IOSCRIBE DB serve HOST:PORT TOKEN  each url by HTTP, its answer through the root_selector by jq
"""
import json
import re
import subprocess
import sys
import urllib.request

board, ioscribe, db, how, place = sys.argv[1:6]
board = json.load(open(board))
FROM_MS, TO_MS = 1699999000000, 1700003000000
RANGE = {"__from": str(FROM_MS), "__to": str(TO_MS), "__timeFrom": str(FROM_MS), "__timeTo": str(TO_MS), "__interval_ms": "1000"}
FORMATS = {None: lambda v: v, "sqlstring": lambda v: "'" + v.replace("'", "''") + "'", "doublequote": lambda v: '"' + v.replace('"', '\\"') + '"'}


def output(*command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **more).stdout


def fill(text, chosen):
    def one(m):
        value = {**RANGE, **chosen}.get(m[1] or m[3])
        return m[0] if value is None else FORMATS[m[2]](value)
    text = re.sub(r"\$\{(\w+)(?::(\w+))?\}|\$(\w+)", one, text)
    assert "${" not in text and "$__" not in text, text
    return text


def sql(target, chosen):
    statement = fill(target if isinstance(target, str) else target["rawSql"], chosen)
    return json.loads(output("psql", "-XqtA", place, "-c", f"SELECT COALESCE(json_agg(t), '[]') FROM ({statement}) t"))


def serve(target, chosen):
    target = target.get("infinityQuery", target)
    request = urllib.request.Request(f"http://{place}{fill(target['url'], chosen)}", headers={"Authorization": "Bearer " + sys.argv[6]})
    with urllib.request.urlopen(request) as answer:
        rows = json.loads(output("jq", "-s", ".", input=output("jq", fill(target["root_selector"], chosen), input=answer.read().decode())))
    for column in target["columns"]:
        assert all(column["selector"] in row for row in rows), column
        assert column["type"] != "timestamp_epoch" or all(FROM_MS <= row[column["selector"]] <= TO_MS for row in rows), rows
    return rows


run = {"sql": sql, "serve": serve}[how]


def panels(chosen):
    return {p["title"]: run(t, chosen) for p in board["panels"] for t in p["targets"]}


def query(*question):
    return json.loads(output(ioscribe, "query", "--db", db, "--json", *question))


def total(rows, key):
    return sum(row[key] or 0 for row in rows)


chosen = {"job": "", "module": "all", "rank": "all"}
values = {}
for v in board["templating"]["list"][1:]:
    if v["type"] == "query":
        values[v["name"]] = [list(row.values())[0] if "__value" not in row else row["__value"] for row in run(v["query"], chosen)]
        if v["name"] == "job":
            assert values["job"][0].split(".")[0] == str(query("jobs")[0]["job"]), values
            chosen["job"] = next(j for j in values["job"] if j.split(".")[0] == "5001")
    elif "current" in v:
        chosen[v["name"]] = v["current"]["value"]
assert values["module"] == ["all", *(m["module"] for m in query("modules"))], values
assert values.get("rank", ["all", *map(str, range(8))]) == ["all", *map(str, range(8))], values
if "analysis" in values:
    assert "percentiles" in values["analysis"]
    chosen["analysis"] = "operations"

want = query("operations", "job=5001")
got = panels(chosen)
assert all(got.values()), [title for title, rows in got.items() if not rows]
assert total(got["Bytes over time"], "bytes") == total(got["Bytes by rank and time"], "bytes") == total(want, "bytes") > 0
assert total(got["Operations over time"], "operations") == total(want, "operations")
assert {r["operation"] for r in got["Durations by rank"]} <= {f"{w['module']} {w['op']}" for w in want}
assert total(got["Bytes by node"], "read") == total([w for w in want if w["op"] == "read"], "bytes") > 0
assert [r["duration"] for r in got["Slowest operations"]] == [r["dur_us"] for r in query("slowest", "job=5001")]
load = query("load", f"from_us={FROM_MS * 1000}", f"to_us={TO_MS * 1000}")
assert [[r["job"], r["operations"], r["bytes"]] for r in got["What loaded the file systems in the time shown"]] == \
    [[r["job"], r["operations"], r["bytes"]] for r in load]

one = panels({**chosen, "module": "POSIX", "rank": "3"})
assert 0 < total(one["Bytes by rank and time"], "bytes") < total(want, "bytes")
assert {r["rank"] for r in one["Durations by rank"]} == {3} and all(r["operation"].startswith("POSIX ") for r in one["Durations by rank"])

# text from a store selects nothing else, and no job at all is no error
for module in ("x' OR 'a' = 'a", 'x" or "a" == "a', "none"):
    assert not panels({**chosen, "module": module})["Bytes over time"], module
if how == "sql":
    assert not panels({**chosen, "job": ""})["Bytes over time"]
print("as expected")
