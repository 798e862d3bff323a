#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Samples of nodes as ioscribe publish --node sends them, one line each: totals that grow.

usage: make_samples.py FROM COUNT STEP NODES     seconds since 1970, samples a node, seconds between them
Node 1 begins anew in the middle; node 0 has a metric that the others have not.
"""
import json
import random
import sys

first, count, step, nodes = map(int, sys.argv[1:])
draw = random.Random(7)
totals = [{"io_some_us": 0, "disk_read_bytes": 0, "nfs_written_bytes": 0} for _ in range(nodes)]
totals[0]["lustre_opens"] = 0
for i in range(count):
    for node, have in enumerate(totals):
        for metric in have:
            have[metric] += draw.randrange(1 << 20)
        if node == 1 and i == count // 2:
            have.update(dict.fromkeys(have, 3))
        time = f"{first + i * step}.{draw.randrange(1000000):06d}"
        print(json.dumps({"schema": "ioscribe_node", "ProducerName": f"node{node}", "timestamp": 0, "values": have},
                         separators=(",", ":")).replace('"timestamp":0', f'"timestamp":{time}'))
