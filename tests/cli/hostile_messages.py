#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hostile_messages.py N SEED <HONEST >MIXED: N messages of user 5 among the honest ones, which stay in order.

The user's messages: lines cut or changed anywhere, numbers at the ends of 64 bits, texts of any length and bytes, and messages
that are valid but carry the honest job's id, its records under other names, its streams' totals."""
import random
import re
import sys

NUMBERS = ["-9223372036854775808", "-1", "0", "1125899906842624", "9223372036854775807", "18446744073709551615", "1e308", "-0.5", "4e9", "null"]
TEXTS = [b"", b"a" * 3000, b"\xff\xfe", b"\xed\xa0\x80", "ä".encode() * 1500, b"\\u0000", b"../../x", b"'; DROP TABLE event; --", b"%s%n"]


def theirs(line, r):
    line = re.sub(rb'"uid":\d+', b'"uid":5', line)
    if r.random() < 0.5:
        line = re.sub(rb'"job_id":\d+', b'"job_id":%d' % r.choice([0, 7, 19333, 2**63 - 1, r.randrange(10**6)]), line)
    return line


def one(honest, r):
    line = theirs(r.choice(honest), r)
    kind = r.randrange(6)
    if kind == 0:  # cut, or a byte of it changed
        at = r.randrange(len(line))
        # what is left may not be another user's message
        return line[:at] if r.random() < 0.5 else line[:20] + bytes([r.randrange(32, 256)]) + line[20:]
    if kind == 1:
        names = re.findall(rb'"(\w+)":[-0-9.]+', line)
        name = r.choice([n for n in names if n not in (b"uid",)])
        return re.sub(rb'("%s":)[-0-9.]+' % name, lambda m: m.group(1) + r.choice(NUMBERS).encode(), line)
    if kind == 2:
        name = r.choice([b"exe", b"file", b"ProducerName", b"op", b"module", b"type", b"schema"])
        return re.sub(rb'("%s":)"[^"]*"' % name, lambda m: m.group(1) + b'"' + r.choice(TEXTS) + b'"', line)
    if kind == 3:
        return re.sub(rb'"file":"[^"]*"', b'"file":"/forged/%d"' % r.randrange(1000), line)
    if kind == 4:
        return re.sub(rb'("timestamp":)[0-9]+', lambda m: m.group(1) + str(r.choice([1, 1795220074, r.randrange(1 << 33)])).encode(), line)
    line = re.sub(rb'"module":"[^"]*"', b'"module":"STREAM"', line)
    return re.sub(rb'"op":"[^"]*"', b'"op":"%s"' % r.choice([b"sent", b"lost", b"end"]), line)


def main():
    n, r, honest = int(sys.argv[1]), random.Random(int(sys.argv[2])), sys.stdin.buffer.read().splitlines()
    places = sorted(r.randrange(n) for _ in honest)
    out, k = sys.stdout.buffer, 0
    for i in range(n):
        while k < len(honest) and places[k] == i:
            out.write(honest[k] + b"\n")
            k += 1
        out.write(one(honest, r).replace(b"\n", b" ") + b"\n")
    for line in honest[k:]:
        out.write(line + b"\n")


main()
