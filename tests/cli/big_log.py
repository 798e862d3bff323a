#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a log whose records are 2 GiB, in a small file and no time: a region is
any number of zlib streams, so one stream is made and written again and again.

    big_log.py FILE MODULE BYTES       MODULE: posix, dxt, heatmap; one: a DXT record as long as BYTES; huge:
                                   a file's POSIX records of 4 ranks, each counter 2^62 (BYTES 1)
"""
import struct
import sys
import zlib

PIECE = 1 << 20  # plain bytes a stream, about


def posix():
    n = PIECE // 704
    return 1, 4, b"".join(
        struct.pack("<Qq69q17d", i + 1, i, *([1] * 69), *([0.5] * 17)) for i in range(n))


def huge():
    return 1, 4, b"".join(struct.pack("<Qq69q17d", 7, i, *([1 << 62] * 69), *([0.5] * 17)) for i in range(4))


def dxt():
    n = (PIECE - 104) // 32
    return 10, 1, struct.pack("<QqQ64sqq", 7, 0, 0, b"node0", n, 0) + b"".join(
        struct.pack("<qqdd", 4096, 4096, 0.5, 0.75) for i in range(n))


def one(want):
    n = want // 32
    return struct.pack("<QqQ64sqq", 7, 0, 0, b"node0", n // 2, n - n // 2), b"".join(
        struct.pack("<qqdd", 4096, 4096, 0.5, 0.75) for i in range(PIECE // 32))


def heatmap():
    bins = (PIECE - 48) // 16
    return 15, 1, struct.pack("<Qqdq16x", 16592106915301738621, 0, 0.1, bins) + struct.pack(
        f"<{2 * bins}q", *([4096] * (2 * bins)))


def main():
    path, kind, want = sys.argv[1], sys.argv[2], int(sys.argv[3])
    head = b""
    if kind == "one":
        want -= want % PIECE
        module, version, (head, plain) = 10, 1, one(want)
        head = zlib.compress(head)
    else:
        module, version, plain = {"posix": posix, "dxt": dxt, "heatmap": heatmap, "huge": huge}[kind]()
    job = zlib.compress(struct.pack("<7q1024s", 1000, 1700000000, 0, 1700000100, 0, 4 if kind == "huge" else 2000, 1, b"") + b"./app\n\0")
    names = zlib.compress(struct.pack("<Q", 7) + b"/scratch/big\0" + struct.pack("<Q", 16592106915301738621) +
                          b"heatmap:POSIX\0")
    piece = zlib.compress(plain, 1)
    times = -(-want // len(plain))
    at = 1328 + len(job) + len(names)
    maps, versions = [(0, 0)] * 64, [0] * 64
    maps[module], versions[module] = (at, len(head) + times * len(piece)), version
    with open(path, "wb") as f:
        f.write(struct.pack("<8sqB7xQ2Q", b"3.41", 6567223, 0, 0, 1328 + len(job), len(names)))
        for m in maps:
            f.write(struct.pack("<2Q", *m))
        f.write(struct.pack("<64I", *versions))
        f.write(job + names + head)
        for _ in range(times):
            f.write(piece)
    print(times * len(plain))


main()
