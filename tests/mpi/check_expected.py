#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares what a program says its log must hold with what `ioscribe parse` prints.

usage: check_expected.py EXPECTED PARSED DIR

EXPECTED: lines "FILE RANK COUNTER VALUE", from tests/prog/mpi_expect.h. Every one
must be in the log, no file of DIR may have a record that is not expected, and for
shared files the fastest and slowest rank's bytes must be that rank's.
"""
import sys


def read_log(path, base):
    rows = {}
    for line in open(path):
        if line.startswith("#") or not line.strip():
            continue
        module, rank, _, counter, value, name = line.rstrip("\n").split("\t")[:6]
        if module in ("POSIX", "POSIX_EXT") and name.startswith(base + "/"):
            rows[name[len(base) + 1:], int(rank), counter] = value
    return rows


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    rows = read_log(sys.argv[2], sys.argv[3].rstrip("/"))
    wanted, rank_bytes, bad, checked = set(), {}, [], 0
    for line in open(sys.argv[1]):
        words = line.split()
        if len(words) != 4:
            continue
        name, rank, counter, value = words
        rank = int(rank)
        if counter.startswith("RANK_BYTES_"):
            rank_bytes[name, int(counter[11:])] = value
            continue
        wanted.add((name, rank))
        checked += 1
        got = rows.get((name, rank, counter), "no record")
        if got != value:
            bad.append(f"{name} rank {rank} {counter}: {got}, expected {value}")
    for name, rank, counter in sorted(rows):
        if (name, rank) not in wanted and counter == "POSIX_OPENS":
            bad.append(f"{name} rank {rank}: a record that should not be")
        if rank == -1 and counter in ("POSIX_FASTEST_RANK", "POSIX_SLOWEST_RANK"):
            who = int(rows[name, rank, counter])
            got = rows[name, rank, counter + "_BYTES"]
            want = rank_bytes.get((name, who))
            checked += 1
            if want is not None and got != want:
                bad.append(f"{name} {counter}_BYTES: {got}, rank {who} moved {want}")
    for line in bad[:40]:
        print(line)
    print(f"{checked} values compared, {len(bad)} wrong")
    if checked == 0 or bad:
        sys.exit(1)


main()
