#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks a summary: summary_json.py SCHEMA JSON TEXT. TEXT is what `ioscribe parse --total --perf --file` prints of the
same log. Prints the number of figures compared."""
import json
import re
import sys

import jsonschema

schema, summary = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3])
jsonschema.Draft7Validator.check_schema(schema)
jsonschema.validate(summary, schema)
if jsonschema.Draft7Validator(schema).is_valid({**summary, "version": 2}):
    sys.exit("the schema takes anything")

text, figures, module = open(sys.argv[3], encoding="utf-8", errors="replace").read(), {}, None
for line in text.splitlines():
    if begin := re.match(r"# (\S+) module data", line):
        module = begin[1]
    elif total := re.match(r"total_(\S+): (-?[0-9.]+)$", line):
        figures[(module, total[1])] = float(total[2])
    elif perf := re.match(r"# (total_bytes|agg_perf_by_slowest|agg_time_by_slowest): (-?[0-9.]+)", line):
        figures[(module, perf[1])] = float(perf[2])
    elif files := re.match(r"# total: (\d+) (\d+) ", line):
        figures[(module, "files")] = int(files[1])
prefixes = {"MPI-IO": "MPIIO"}
compared = 0
for m in summary["modules"]:
    prefix = prefixes.get(m["name"], m["name"])
    want = {"bytes_read": prefix + "_BYTES_READ", "bytes_written": prefix + "_BYTES_WRITTEN", "files": "files",
            "seconds": "agg_time_by_slowest", "mib_per_second": "agg_perf_by_slowest"}
    if m["name"] in ("POSIX", "STDIO"):
        want.update({key: prefix + "_" + key.upper() for key in ("opens", "reads", "writes")})
    for key, name in want.items():
        if (m["name"], name) not in figures:
            continue
        if abs(m[key] - figures[(m["name"], name)]) > 1e-6 + 1e-6 * abs(m[key]):
            sys.exit(f"{m['name']} {key}: {m[key]}, {name} is {figures[(m['name'], name)]}")
        compared += 1
print(compared)
