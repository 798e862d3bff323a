#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What tests/service/top.bats looks at.

usage: top.py value COLUMN [KEY=VALUE...] <SAMPLES   of the one row of the last sample that has these
       top.py sum COLUMN [KEY=VALUE...] <SAMPLES     its rate by the seconds of every sample, added up
       top.py lines <LINES                           line protocol, read by its rules: a JSON object a line
       top.py messages DIR                           messages that a service must refuse: prints its words
       top.py foreign DIR                            items of root's first job, for root and for somebody else
"""
import json
import os
import socket
import struct
import sys

LOOK, LOOKED, ERROR = 74, 75, 1
JOBS, RECORDS, NAMES = 1, 2, 3


def rows(sample, wanted):
    return [row for row in sample["rows"] if all(str(row.get(k)) == v for k, v in wanted.items())]


def value(column, wanted):
    sample = json.loads(sys.stdin.read().splitlines()[-1])
    found = rows(sample, wanted)
    if len(found) != 1:
        sys.exit(f"{len(found)} rows with {wanted}: {sample}")
    print(found[0][column])


def total(column, wanted):
    amount = 0.0
    for line in sys.stdin:
        sample = json.loads(line)
        for row in rows(sample, wanted):
            amount += row[column] * sample["seconds"]
    print(round(amount))


def cut(text, at):
    """At characters without a backslash before them, outside of nothing: there are no quoted strings."""
    pieces, piece, i = [], "", 0
    while i < len(text):
        if text[i] == "\\" and text[i + 1:i + 2] in (",", " ", "="):
            piece += text[i:i + 2]
            i += 2
        elif text[i] == at:
            pieces.append(piece)
            piece, i = "", i + 1
        else:
            piece += text[i]
            i += 1
    return pieces + [piece]


def plain(text):
    for c in ", =":
        text = text.replace("\\" + c, c)
    return text


def lines():
    for line in sys.stdin.read().split("\n")[:-1]:
        head, fields, when = cut(line, " ")
        name, *tags = cut(head, ",")
        row = {plain(k): plain(v) for k, v in (cut(tag, "=") for tag in tags)}
        assert all(row.values()), line
        row["measurement"], row["time"] = name, int(when)
        for field in cut(fields, ","):
            key, number = cut(field, "=")
            row[key] = int(number[:-1]) if number.endswith("i") else float(number)
        print(json.dumps(row))


def packet(what=JOBS, job=0, begun=0, names=0, place=(0, 0, 0, 0), cut_off=0):
    payload = struct.pack("=IIQIIIIII64Q", what, job, begun, *place, names, 0, *[0] * 64)
    payload = payload[:len(payload) - cut_off]
    return struct.pack("=IHHII", 0x62637369, 1, LOOK, 0, len(payload)) + payload


def ask(folder, *packets):
    """The last answer but the hang-up: its type, and what it holds."""
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(os.path.join(folder, "socket"))
    s.settimeout(60)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    for p in packets:
        s.send(p)
    last = (0, b"")
    for _ in packets:
        data = s.recv(70000)
        if len(data) < 16:
            break
        last = struct.unpack_from("=IHHII", data)[2], data[16:]
        if last[0] == ERROR:
            break
    return last


def messages(folder):
    bad = {"what 0": [packet(what=0)], "what 4": [packet(what=4)], "job 256": [packet(what=RECORDS, job=256)],
           "65 names": [packet(what=NAMES, names=65)], "cut": [packet(cut_off=8)],
           "an answer": [packet()[:6] + struct.pack("=H", LOOKED) + packet()[8:]]}
    for name, packets in bad.items():
        kind, text = ask(folder, *packets)
        print(f"{name}: {text.decode() if kind == ERROR else f'not refused: {kind}'}")
    # places that nobody has given out are places all the same
    for place in ((1, 7, 0, 0), (0xffffffff, 1, 1, 1), (5, 0, 0xffffffff, 0xffffffff)):
        kind, data = ask(folder, packet(what=RECORDS, place=place))
        print(f"place {place}: {kind} {len(data)}")


def items(data):
    """(type, bytes) of each item of an answer."""
    at, n = 32, struct.unpack_from("=I", data, 28)[0]
    for _ in range(n):
        kind, size = struct.unpack_from("=II", data, at)
        yield kind, data[at + 8:at + 8 + size]
        at += 8 + (size + 7) // 8 * 8


def look(folder, **question):
    kind, data = ask(folder, packet(**question))
    assert kind == LOOKED, (kind, data)
    return list(items(data))


def foreign(folder):
    """Root finds a job and its items; then the same questions by somebody else."""
    number, _, begun = struct.unpack_from("=IIQ", look(folder)[0][1])
    mine = look(folder, what=RECORDS, job=number, begun=begun)
    os.setgroups([])
    os.setresgid(54321, 54321, 54321)
    os.setresuid(54321, 54321, 54321)
    theirs = [len(look(folder)), len(look(folder, what=RECORDS, job=number, begun=begun)),
              sum(len(look(folder, what=RECORDS, job=n, begun=begun, place=(1, 1, 1, 1))) for n in range(256)),
              len(look(folder, what=NAMES, job=number, begun=begun, names=64))]
    print(len(mine) > 1, theirs)


verb, arguments = sys.argv[1], sys.argv[2:]
if verb in ("value", "sum"):
    pairs = dict(a.split("=", 1) for a in arguments[1:])
    (value if verb == "value" else total)(arguments[0], pairs)
elif verb == "lines":
    lines()
elif verb == "messages":
    messages(arguments[0])
else:
    foreign(*arguments)
