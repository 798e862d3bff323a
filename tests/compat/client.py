#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The calls that PyDarshan makes, on every sample log, by ctypes: what
libdarshan-util.so returns must be what the stock darshan-parser printed.

    client.py LIBRARY FOLDER_OF_LOGS
"""
import ctypes as c
import glob
import gzip
import os
import sys
from collections import defaultdict


class Mod(c.Structure):
    _fields_ = [("name", c.c_char_p), ("len", c.c_int), ("ver", c.c_int), ("idx", c.c_int), ("partial", c.c_int)]


class Name(c.Structure):
    _fields_ = [("id", c.c_uint64), ("name", c.c_void_p)]


class Job(c.Structure):
    _fields_ = [(n, c.c_int64) for n in ("uid", "start", "start_ns", "end", "end_ns", "nprocs", "jobid")] + [
        ("metadata", c.c_char * 1024)]


# module: symbol of its counter names, integers, reals, bytes between base and counters
LAYOUTS = {
    "POSIX": ("posix", 69, 17, 0), "MPI-IO": ("mpiio", 51, 17, 0), "STDIO": ("stdio", 14, 15, 0),
    "H5F": ("h5f", 3, 5, 0), "H5D": ("h5d", 94, 17, 8), "PNETCDF_FILE": ("pnetcdf_file", 9, 8, 0),
    "PNETCDF_VAR": ("pnetcdf_var", 120, 17, 8), "BG/Q": ("bgq", 11, 1, 0), "DFS": ("dfs", 52, 15, 0),
    "DAOS": ("daos", 64, 15, 0),
}


class Base(c.Structure):
    _fields_ = [("id", c.c_uint64), ("rank", c.c_int64)]


def load(path):
    lib = c.CDLL(path)
    lib.darshan_log_open.restype = c.c_void_p
    lib.darshan_log_open.argtypes = [c.c_char_p]
    lib.darshan_log_close.argtypes = [c.c_void_p]
    lib.darshan_log_get_lib_version.restype = c.c_char_p
    lib.darshan_log_get_job.argtypes = [c.c_void_p, c.POINTER(Job)]
    lib.darshan_log_get_exe.argtypes = [c.c_void_p, c.c_char_p]
    lib.darshan_log_get_modules.argtypes = [c.c_void_p, c.POINTER(c.POINTER(Mod)), c.POINTER(c.c_int)]
    lib.darshan_log_get_name_records.argtypes = [c.c_void_p, c.POINTER(c.POINTER(Name)), c.POINTER(c.c_int)]
    lib.darshan_log_get_record.argtypes = [c.c_void_p, c.c_int, c.POINTER(c.c_void_p)]
    lib.darshan_free.argtypes = [c.c_void_p]
    return lib


def expected_rows(path):
    """(module, rank, id) to a list of {counter: text}, and record names, from the parser's text."""
    rows, names = defaultdict(dict), {}
    for line in gzip.open(path, "rt", errors="surrogateescape"):
        if line.startswith("#") or "\t" not in line:
            continue
        module, rank, rid, counter, value, name = line.rstrip("\n").split("\t")[:6]
        rows[module, int(rank), int(rid)][counter] = value
        names[int(rid)] = name
    return rows, names


def records(lib, fd, idx, layout):
    symbol, ints, reals, gap = layout
    inames = (c.c_char_p * ints).in_dll(lib, symbol + "_counter_names")
    fnames = (c.c_char_p * reals).in_dll(lib, symbol + "_f_counter_names")
    while True:
        buf = c.c_void_p()
        rc = lib.darshan_log_get_record(fd, idx, c.byref(buf))
        if rc < 1:
            assert rc == 0, rc
            return
        base = Base.from_address(buf.value)
        at = buf.value + 16 + gap
        row = {n.decode(): v for n, v in zip(inames, (c.c_int64 * ints).from_address(at))}
        if gap:
            row[symbol.upper() + "_FILE_REC_ID"] = c.c_uint64.from_address(buf.value + 16).value
        row["POSIX_RENAMED_FROM"] = row.get("POSIX_RENAMED_FROM", 0) % (1 << 64)
        row.update({n.decode(): f"{v:f}" for n, v in zip(fnames, (c.c_double * reals).from_address(at + 8 * ints))})
        yield base.rank, base.id, row
        lib.darshan_free(buf)


def check(lib, log, text):
    """Number of values compared."""
    fd = lib.darshan_log_open(log.encode())
    assert fd, log
    rows, names = expected_rows(text)
    job, mods, found, n = Job(), c.POINTER(Mod)(), c.POINTER(Name)(), c.c_int()
    exe = c.create_string_buffer(4096)
    assert lib.darshan_log_get_job(fd, c.byref(job)) == 0 and job.nprocs > 0
    assert lib.darshan_log_get_exe(fd, exe) == 0 and exe.value
    lib.darshan_log_get_name_records(fd, c.byref(found), c.byref(n))
    for i in range(n.value):
        if names.get(found[i].id, "").startswith("/"):
            assert c.string_at(found[i].name).decode(errors="surrogateescape") == names[found[i].id]
        lib.darshan_free(found[i].name)
    lib.darshan_free(found)
    lib.darshan_log_get_modules(fd, c.byref(mods), c.byref(n))
    compared = 0
    for m in [(mods[i].name.decode(), mods[i].idx) for i in range(n.value)]:
        if m[0] not in LAYOUTS:
            continue
        for rank, rid, row in records(lib, fd, m[1], LAYOUTS[m[0]]):
            want = rows[m[0], rank, rid]
            for counter, value in want.items():
                if "UUID" in counter or "OID" in counter:  # not counters
                    continue
                assert str(row[counter]) == value, (log, m[0], rank, rid, counter, row[counter], value)
                compared += 1
    lib.darshan_free(mods)
    lib.darshan_log_close(fd)
    assert compared == sum(sum("UUID" not in n and "OID" not in n for n in r)
                           for k, r in rows.items() if k[0] in LAYOUTS), log
    return compared


def main():
    lib = load(sys.argv[1])
    assert lib.darshan_log_get_lib_version() == b"3.5.0"
    logs = sorted(glob.glob(os.path.join(sys.argv[2], "*.darshan")))
    total = 0
    for log in logs:
        text = os.path.join(sys.argv[2], "expected", os.path.basename(log)[:-len(".darshan")] + ".all.txt.gz")
        total += check(lib, log, text)
    print(f"{len(logs)} logs, {total} values as the stock parser prints them")
    assert len(logs) >= 20 and total > 50000
    assert not lib.darshan_log_open(b"/nonexistent")


if __name__ == "__main__":
    main()
