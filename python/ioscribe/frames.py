# SPDX-License-Identifier: BSD-3-Clause
"""Frames of records. Knows the layouts of logfmt/counters/records.h, nothing of files."""
import array
import struct

import numpy as np
import pandas as pd

from ioscribe import library

# What some fixed records hold beside counters: name, type, byte
BESIDE = {
    "H5D": [("file_id", "=u8", 16)],
    "PNETCDF_VAR": [("file_id", "=u8", 16)],
    "DFS": [("pool_uuid", "V16", 552), ("container_uuid", "V16", 568)],
    "DAOS": [("pool_uuid", "V16", 648), ("container_uuid", "V16", 664), ("object_high", "=u8", 680),
             ("object_low", "=u8", 688)],
    "PROCESS": [("host", "S64", 144), ("exe", "S256", 208)],
}
SEGMENT = np.dtype([("offset", "=i8"), ("length", "=i8"), ("start", "=f8"), ("end", "=f8"), ("thread", "=u8")])
LUSTRE = ("stripe_size", "stripe_count", "stripe_pattern", "flags", "extent_start", "extent_end", "mirror")


def plain(column):
    """Texts and UUIDs of fixed length as str."""
    if column.dtype.kind == "S":
        return [v.split(b"\0")[0].decode("utf-8", "backslashreplace") for v in column.tolist()]
    if column.dtype.kind == "V":
        return [bytes(v).hex() for v in column]
    return column


def head(log, ids, ranks):
    ids = np.asarray(ids, dtype=np.uint64)
    return {"name": [log.names.get(i, "") for i in ids.tolist()], "rank": np.asarray(ranks, dtype=np.int64), "id": ids}


def counter_fields(module):
    integer = "=u8" if library.text(module.name) == "APMPI" else "=i8"
    fields = [(library.text(module.counters[i].name), integer, module.counters_at + 8 * i)
              for i in range(module.ncounters)]
    return fields + [(library.text(module.fcounters[i].name), "=f8", module.fcounters_at + 8 * i)
                     for i in range(module.nfcounters)]


def counters(log, module, records, size):
    """`size` bytes of each record are of one layout."""
    fields = [("id", "=u8", 0), ("rank", "=i8", 8)] + BESIDE.get(library.text(module.name), [])
    fields += counter_fields(module)
    names, formats, offsets = zip(*fields)
    layout = np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": size})
    data = b"".join(r[:size] for r in records)
    rows = np.frombuffer(data, layout) if data else np.empty(0, layout)
    columns = head(log, rows["id"], rows["rank"])
    columns.update((name, plain(rows[name])) for name in names[2:])
    return pd.DataFrame(columns)


def fixed(log, module):
    return counters(log, module, log.records(library.text(module.name)), module.record_bytes)


def apmpi(log, module):
    """The head of the records, which is shorter, goes to attrs."""
    size = module.fcounters_at + 8 * module.nfcounters
    records = list(log.records("APMPI"))
    found = [r for r in records if len(r) >= size]
    made = counters(log, module, found, size)
    made.insert(3, "node", [r[size:size + 128].split(b"\0")[0].decode("utf-8", "backslashreplace") for r in found])
    for r in records:
        if len(r) < size:
            made.attrs.update(zip(("variance_total_mpitime", "variance_total_mpisynctime"),
                                  struct.unpack_from("=dd", r, 32)))
    return made


def mdhim(log, module):
    records = list(log.records("MDHIM"))
    size = module.fcounters_at + 8 * module.nfcounters
    made = counters(log, module, records, size)
    made["server_histogram"] = [tuple(array.array("q", r[size:])) for r in records]
    return made


def dxt(log, module):
    """A row a traced operation."""
    parts, ids, ranks, hosts, writes, at = [], [], [], [], [], []
    for r in log.records(library.text(module.name)):
        rid, rank, _, host, written, read = struct.unpack_from("=Qqq64sqq", r)
        parts.append(np.frombuffer(r, SEGMENT, written + read, 104))
        ids += [rid] * (written + read)
        ranks += [rank] * (written + read)
        hosts += [host.split(b"\0")[0].decode("utf-8", "backslashreplace")] * (written + read)
        writes += ["write"] * written + ["read"] * read
        at += [*range(written), *range(read)]
    rows = np.concatenate(parts) if parts else np.empty(0, SEGMENT)
    columns = {**head(log, ids, ranks), "host": hosts, "op": writes, "segment": at}
    columns.update((name, rows[name]) for name in SEGMENT.names)
    return pd.DataFrame(columns)


def heatmap(log, _module):
    """A row a bin: which seconds, and the bytes of them."""
    ids, ranks, bins, start, end, moved = [], [], [], [], [], [[], []]
    for r in log.records("HEATMAP"):
        rid, rank, width, n = struct.unpack_from("=Qqdq", r)
        values = np.frombuffer(r, "=i8", 2 * n, 48)
        ids += [rid] * n
        ranks += [rank] * n
        bins += range(n)
        start += [width * i for i in range(n)]
        end += [width * (i + 1) for i in range(n)]
        moved[0].append(values[:n])
        moved[1].append(values[n:])
    wrote, read = (np.concatenate(m) if m else np.empty(0, "=i8") for m in moved)
    return pd.DataFrame({**head(log, ids, ranks), "bin": bins, "start": start, "end": end, "bytes_written": wrote,
                         "bytes_read": read})


def lustre(log, _module):
    """A row a component of a file's layout, with the targets that its stripes are on."""
    ids, ranks, rows = [], [], []
    for r in log.records("LUSTRE"):
        rid, rank, components, _stripes = struct.unpack_from("=Qqqq", r)
        targets = array.array("q", r[32 + 72 * components:]).tolist()
        for i in range(components):
            *values, pool = struct.unpack_from("=7q16s", r, 32 + 72 * i)
            taken, targets = targets[:max(values[1], 0)], targets[max(values[1], 0):]
            ids.append(rid)
            ranks.append(rank)
            rows.append((i + 1, *values, pool.split(b"\0")[0].decode("utf-8", "backslashreplace"), tuple(taken)))
    made = pd.DataFrame(rows, columns=["component", *LUSTRE, "pool", "targets"])
    return pd.concat([pd.DataFrame(head(log, ids, ranks)), made], axis=1)


SPECIAL = {"APMPI": apmpi, "MDHIM": mdhim, "DXT_POSIX": dxt, "DXT_MPIIO": dxt, "HEATMAP": heatmap, "LUSTRE": lustre}


def frame(log, module):
    return SPECIAL.get(library.text(module.name), fixed)(log, module)
