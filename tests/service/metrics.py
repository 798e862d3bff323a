#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What tests/service/metrics.bats asks of metrics.

usage: metrics.py value NAME [LABEL=VALUE...] <TEXT   of the one sample with these labels
       metrics.py port                                 a port of this machine that is free
       metrics.py get PORT                             what an exporter says
       metrics.py whole FILE N                         N different files under this name, each whole
       metrics.py rules DASHBOARD TEXT                 the dashboard's expressions, as rules; each metric is in TEXT
"""
import json
import os
import re
import socket
import sys
import urllib.request


def samples(text):
    """(name, labels, value)"""
    for line in text.splitlines():
        if line.startswith("#") or not line:
            continue
        name, labels, number = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line).groups()
        pairs = re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels or "")
        yield name, {k: re.sub(r"\\(.)", r"\1", v) for k, v in pairs}, float(number)


def value(name, *wanted):
    pairs = dict(w.split("=", 1) for w in wanted)
    found = [v for n, labels, v in samples(sys.stdin.read())
             if n == name and all(labels.get(k) == w for k, w in pairs.items())]
    if len(found) != 1:
        sys.exit(f"{len(found)} samples {name} {pairs}")
    print(f"{found[0]:.15g}")


def port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        print(s.getsockname()[1])


def whole(path, n):
    seen = {}
    while len(seen) < int(n):
        with open(path, encoding="utf-8") as f:
            inode, text = os.fstat(f.fileno()).st_mtime_ns, f.read()
        assert text.endswith("\n") and "ioscribe_metrics_failures_total 0" in text, text
        assert seen.setdefault(inode, text) == text
    print(len(seen))


def rules(dashboard, text):
    with open(text, encoding="utf-8") as f:
        known = {name for name, _, _ in samples(f.read())}
    with open(dashboard, encoding="utf-8") as f:
        board = json.load(f)
    print("groups: [{name: d, rules: [")
    for panel in board["panels"]:
        for target in panel["targets"]:
            expression = target["expr"].replace("$__rate_interval", "5m")
            missing = set(re.findall(r"ioscribe_\w+", expression)) - known
            assert not missing, missing
            print(f"{{record: 'd:p{panel['id']}{target['refId']}', expr: '{expression}'}},")
    print("]}]")


def get(at):
    with urllib.request.urlopen(f"http://127.0.0.1:{at}/metrics", timeout=10) as answer:
        sys.stdout.write(answer.read().decode())


{"value": value, "port": port, "get": get, "whole": whole, "rules": rules}[sys.argv[1]](*sys.argv[2:])
