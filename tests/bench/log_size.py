#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the bytes of a log's POSIX records are made of: bytes a record, compressed, by the grid that times
stand on, by the order of the bytes (records one after another, or transposed: first bytes of all records,
second bytes, ...), and by zlib's level.

    tests/bench/log_size.py LOG...        logs in Darshan's layout, zlib, of this machine's byte order

Durations of no time stay 0. "no timestamps", "no durations": what is left where these are zero.
"""
import array
import struct
import sys
import zlib

RECORD, INTS = 704, 69
STAMPS = range(2 + INTS, 2 + INTS + 8)
DURATIONS = range(2 + INTS + 8, 2 + INTS + 13)


def region(path, module):
    """(plain bytes, bytes in the file) of a module's region."""
    with open(path, "rb") as f:
        log = f.read()
    if log[:4] != b"3.41" or log[16] != 0:
        sys.exit(f"{path}: not a log in Darshan's layout 3.41 compressed with zlib")
    off, length = struct.unpack_from("<QQ", log, 48 + 16 * module)
    plain, left = b"", log[off:off + length]
    while left:
        one = zlib.decompressobj()
        plain += one.decompress(left)
        left = one.unused_data
    return plain, length


def grid(plain, stamps, durations, unit=lambda bits: 2.0 ** bits):
    """Times as multiples of 2^-stamps and 2^-durations seconds; None: zero."""
    words = array.array("d", plain)
    for at in range(0, len(words), RECORD // 8):
        for columns, bits in ((STAMPS, stamps), (DURATIONS, durations)):
            for c in columns:
                words[at + c] = 0 if bits is None else round(words[at + c] * unit(bits)) / unit(bits)
    return words.tobytes()


def transposed(plain):
    return b"".join(plain[i::RECORD] for i in range(RECORD))


def row(what, plain, n):
    sizes = [len(zlib.compress(x, level)) / n for x in (plain, transposed(plain)) for level in (1, 6, 9)]
    print(f"| {what} | " + " | ".join(f"{s:.1f}" for s in sizes) + " |")


def main():
    for path in sys.argv[1:]:
        plain, length = region(path, 1)
        n = len(plain) // RECORD
        if n == 0:
            sys.exit(f"{path}: no POSIX records")
        print(f"{path}: {n} POSIX records, {length / n:.1f} bytes each in the log\n")
        print("| times | records: level 1 | 6 | 9 | transposed: 1 | 6 | 9 |\n|---|---|---|---|---|---|---|")
        row("as in the log", plain, n)
        for stamps, durations in ((22, 22), (22, 26), (22, 30), (20, 20)):
            row(f"timestamps 2^-{stamps} s, durations 2^-{durations} s", grid(plain, stamps, durations), n)
        row("decimal microseconds", grid(plain, 6, 6, lambda digits: 10.0 ** digits), n)
        row("no timestamps, durations 2^-22 s", grid(plain, None, 22), n)
        row("timestamps 2^-22 s, no durations", grid(plain, 22, None), n)
        row("neither", grid(plain, None, None), n)
        print()


if __name__ == "__main__":
    main()
