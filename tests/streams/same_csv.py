# SPDX-License-Identifier: BSD-3-Clause
"""Do a stream of JSON and one of CSV hold the same operations?

usage: same_csv.py EVENTS.json EVENTS.csv

The columns are those of LDMS's store: the keys of a message, those of its operation with "seg:" before. Each
stream has a time and a number of its own in its totals.
"""
import csv
import json
import sys


def row_of(message):
    row = {key: str(value) for key, value in message.items() if key != "seg"}
    (seg,) = message["seg"]
    for key, value in seg.items():
        row["seg:" + key] = str(value)
    return row


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        messages = [row_of(json.loads(line, parse_float=str)) for line in f]
    with open(sys.argv[2], encoding="utf-8", newline="") as f:
        header = f.readline()
        assert header.startswith("#schema,uid,exe,job_id,"), header
        rows = list(csv.DictReader(f, fieldnames=header[1:].rstrip("\n").split(",")))
    assert list(messages[0]) == list(rows[0]), (list(messages[0]), list(rows[0]))
    # each publisher subscribes for itself: the later one may lack what a thread did meanwhile, of one there is none
    assert len(messages) == len(rows) > 3, (len(messages), len(rows))
    for message, row in zip(messages, rows):
        if message["module"] == "STREAM":
            for one in message, row:
                del one["record_id"], one["seg:timestamp"]
        assert message == row, (message, row)


main()
