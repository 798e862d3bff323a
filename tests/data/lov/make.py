#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the blobs of this folder: values of Lustre's `lustre.lov` attribute.

Each is put together field by field from the structures of Lustre's published
header lustre/include/uapi/linux/lustre/lustre_user.h (release 2.15): no Lustre
was at hand to record from. usage: make.py DIRECTORY
"""
import struct
import sys

V1, V3, COMP, FOREIGN = 0x0BD10BD0, 0x0BD30BD0, 0x0BD60BD0, 0x0BD70BD0
RAID0, MDT, OVERSTRIPING, RELEASED = 0x001, 0x100, 0x200, 0x80000000
STALE, INIT, EXTENSION = 0x01, 0x10, 0x40
EOF, MIB = (1 << 64) - 1, 1 << 20


def plain(size, osts, pattern=RAID0, pool=None, count=None, order='<'):
    """struct lov_user_md_v1, or _v3 with a pool, and its objects."""
    head = struct.pack(order + 'II16sIHH', V1 if pool is None else V3, pattern, b'\x01' * 16, size,
                       len(osts) if count is None else count, 5)
    if pool is not None:
        head += struct.pack('16s', pool)
    return head + b''.join(struct.pack(order + '16sII', b'\x02' * 16, 9, ost) for ost in osts)


def foreign(value):
    """struct lov_foreign_md"""
    return struct.pack('<IIII', FOREIGN, len(value), 1, 0xda05) + value


def composite(entries, mirrors=1):
    """struct lov_comp_md_v1: entries of (id, flags, start, end, blob)."""
    at = 32 + 48 * len(entries)
    table = blobs = b''
    for ident, flags, start, end, blob in entries:
        table += struct.pack('<IIQQIIIQBBBB', ident, flags, start, end, at + len(blobs), len(blob), 3, 0, 0, 0, 0, 0)
        blobs += blob
    return struct.pack('<IIIHHH6xQ', COMP, at + len(blobs), 4, 0, len(entries), mirrors - 1, 0) + table + blobs


blobs = {
    'plain': plain(MIB, [3, 7]),
    'big_endian': plain(MIB, [3, 7], order='>'),
    'pool': plain(4 * MIB, [1, 2, 3, 0], pool=b'flash'),
    'pool_full': plain(MIB, [9], pool=b'abcdefghijklmno\x00'),
    'overstriped': plain(MIB, [0, 0, 1, 1], pattern=RAID0 | OVERSTRIPING),
    'released': plain(MIB, [], pattern=RAID0 | RELEASED, count=2),
    'pfl': composite([
        (1, INIT, 0, MIB, plain(MIB, [5])),
        (2, INIT, MIB, 256 * MIB, plain(MIB, [6, 7, 8, 0], pool=b'disk')),
        (3, 0, 256 * MIB, EOF, plain(4 * MIB, [], count=64)),
    ]),
    'dom': composite([
        (1, INIT, 0, MIB, plain(MIB, [], pattern=MDT, count=0)),
        (2, INIT, MIB, EOF, plain(4 * MIB, [2])),
    ]),
    'flr': composite([
        (1 << 16 | 1, INIT, 0, EOF, plain(MIB, [1, 2], pool=b'flash')),
        (2 << 16 | 2, INIT | STALE, 0, EOF, plain(4 * MIB, [12], pool=b'disk')),
    ], mirrors=2),
    'sel': composite([
        (1, INIT, 0, 64 * MIB, plain(MIB, [4])),
        (2, EXTENSION, 64 * MIB, 1024 * MIB, plain(16 * MIB, [], count=1)),
        (3, 0, 1024 * MIB, EOF, plain(MIB, [], count=4)),
    ]),
    'foreign': foreign(b'daos://pool/container'),
    'flr_foreign': composite([
        (1 << 16 | 1, INIT, 0, EOF, plain(MIB, [1])),
        (2 << 16 | 2, INIT, 0, EOF, foreign(b'daos://pool/container')),
    ], mirrors=2),
    'untouched': composite([(1, 0, 0, EOF, plain(MIB, [], count=1))]),
    'unknown': struct.pack('<I28s', 0x0BD90BD0, b''),
}

for name, blob in blobs.items():
    with open('%s/%s.lov' % (sys.argv[1], name), 'wb') as f:
        f.write(blob)
