#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The calls that PyDarshan makes, on every sample log, by cffi as it makes them:
what libdarshan-util.so returns must be what the stock darshan-parser printed.

    client.py LIBRARY FOLDER_OF_LOGS [IOSCRIBE]

With the command ioscribe every log is read in the single-region layout, too, but those with POSIX records
older than version 4: of these the stock text has wrong values, which a converted log has not.
"""
import glob
import gzip
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict

import cffi

ffi = cffi.FFI()
ffi.cdef("""
struct darshan_job {
    int64_t uid, start_time_sec, start_time_nsec, end_time_sec, end_time_nsec, nprocs, jobid;
    char metadata[1024];
};
struct darshan_base_record { uint64_t id; int64_t rank; };
struct darshan_name_record_info { uint64_t id; char *name; };
struct darshan_mod_info { const char *name; int len; int ver; int idx; int partial_flag; };
struct darshan_mnt_info { char mnt_type[3015]; char mnt_path[3015]; };

void *darshan_log_open(const char *);
void darshan_log_close(void *);
char *darshan_log_get_lib_version(void);
int darshan_log_get_job(void *, struct darshan_job *);
int darshan_log_get_job_runtime(void *, struct darshan_job, double *);
int darshan_log_get_exe(void *, char *);
int darshan_log_get_mounts(void *, struct darshan_mnt_info **, int *);
void darshan_log_get_modules(void *, struct darshan_mod_info **, int *);
void darshan_log_get_name_records(void *, struct darshan_name_record_info **, int *);
void darshan_log_get_filtered_name_records(void *, struct darshan_name_record_info **, int *, uint64_t *, int);
int darshan_log_get_record(void *, int, void **);
void darshan_free(void *);
""" + "".join(
    f"extern char *{name}_counter_names[]; extern char *{name}_f_counter_names[];\n"
    for name in ("posix", "mpiio", "stdio", "h5f", "h5d", "pnetcdf_file", "pnetcdf_var", "bgq", "dfs", "daos")))

# module: symbol of its counter names, integers, reals, bytes between base and counters
LAYOUTS = {
    "POSIX": ("posix", 69, 17, 0), "MPI-IO": ("mpiio", 51, 17, 0), "STDIO": ("stdio", 14, 15, 0),
    "H5F": ("h5f", 3, 5, 0), "H5D": ("h5d", 94, 17, 8), "PNETCDF_FILE": ("pnetcdf_file", 9, 8, 0),
    "PNETCDF_VAR": ("pnetcdf_var", 120, 17, 8), "BG/Q": ("bgq", 11, 1, 0), "DFS": ("dfs", 52, 15, 0),
    "DAOS": ("daos", 64, 15, 0),
}


def text(pointer):
    return ffi.string(pointer).decode(errors="surrogateescape")


def expected_rows(path):
    """(module, rank, id) to a list of {counter: text}, and record names, from the parser's text."""
    rows, names, head = defaultdict(dict), {}, {}
    for line in gzip.open(path, "rt", errors="surrogateescape"):
        if line.startswith("# ") and ": " in line:
            key, value = line[2:].rstrip("\n").split(": ", 1)
            head.setdefault(key, value)
        if line.startswith("#") or "\t" not in line:
            continue
        module, rank, rid, counter, value, name = line.rstrip("\n").split("\t")[:6]
        rows[module, int(rank), int(rid)][counter] = value
        names[int(rid)] = name
    return rows, names, head


def records(lib, log, idx, layout):
    symbol, ints, reals, gap = layout
    inames = [text(getattr(lib, symbol + "_counter_names")[i]) for i in range(ints)]
    fnames = [text(getattr(lib, symbol + "_f_counter_names")[i]) for i in range(reals)]
    while True:
        buf = ffi.new("void **")
        rc = lib.darshan_log_get_record(log, idx, buf)
        if rc < 1:
            assert rc == 0, rc
            return
        base = ffi.cast("struct darshan_base_record *", buf[0])
        at = ffi.cast("char *", buf[0]) + 16 + gap
        row = dict(zip(inames, ffi.unpack(ffi.cast("int64_t *", at), ints)))
        if gap:
            row[symbol.upper() + "_FILE_REC_ID"] = ffi.cast("uint64_t *", at - 8)[0]
        row["POSIX_RENAMED_FROM"] = row.get("POSIX_RENAMED_FROM", 0) % (1 << 64)
        row.update((n, f"{v:f}") for n, v in zip(fnames, ffi.unpack(ffi.cast("double *", at + 8 * ints), reals)))
        yield base.rank, base.id, row
        lib.darshan_free(buf[0])


def check_names(lib, log, names):
    """All names, then those of the first few ids asked for alone."""
    found, n = ffi.new("struct darshan_name_record_info **"), ffi.new("int *")
    lib.darshan_log_get_name_records(log, found, n)
    ids = [found[0][i].id for i in range(n[0])]
    for i in range(n[0]):
        if names.get(found[0][i].id, "").startswith("/"):
            assert text(found[0][i].name) == names[found[0][i].id]
        lib.darshan_free(found[0][i].name)
    lib.darshan_free(found[0])
    some = sorted(set(ids))[:5]
    if not some:
        return
    lib.darshan_log_get_filtered_name_records(log, found, n, ffi.new("uint64_t[]", some), len(some))
    assert sorted({found[0][i].id for i in range(n[0])}) == some
    for i in range(n[0]):
        lib.darshan_free(found[0][i].name)
    lib.darshan_free(found[0])


def check_job(lib, log, head):
    job, exe, seconds = ffi.new("struct darshan_job *"), ffi.new("char[4096]"), ffi.new("double *")
    assert lib.darshan_log_get_job(log, job) == 0
    for key, field in (("uid", "uid"), ("jobid", "jobid"), ("start_time", "start_time_sec"),
                       ("end_time", "end_time_sec"), ("nprocs", "nprocs")):
        assert str(getattr(job, field)) == head[key], (key, head[key])
    assert lib.darshan_log_get_job_runtime(log, job[0], seconds) == 0
    assert f"{seconds[0]:.4f}" == head["run time"], (seconds[0], head["run time"])
    assert lib.darshan_log_get_exe(log, exe) == 0 and text(exe) == head["exe"]
    mounts, n = ffi.new("struct darshan_mnt_info **"), ffi.new("int *")
    assert lib.darshan_log_get_mounts(log, mounts, n) == 0
    for i in range(n[0]):
        assert text(mounts[0][i].mnt_path).startswith("/") and text(mounts[0][i].mnt_type)
    lib.darshan_free(mounts[0])


def check(lib, path, expected):
    """Number of values compared."""
    log = lib.darshan_log_open(path.encode())
    assert log, path
    rows, names, head = expected_rows(expected)
    check_job(lib, log, head)
    check_names(lib, log, names)
    mods, n = ffi.new("struct darshan_mod_info **"), ffi.new("int *")
    lib.darshan_log_get_modules(log, mods, n)
    compared = 0
    for name, idx in [(text(mods[0][i].name), mods[0][i].idx) for i in range(n[0])]:
        if name not in LAYOUTS:
            continue
        for rank, rid, row in records(lib, log, idx, LAYOUTS[name]):
            for counter, value in rows[name, rank, rid].items():
                if "UUID" in counter or "OID" in counter:  # not counters
                    continue
                assert str(row[counter]) == value, (path, name, rank, rid, counter, row[counter], value)
                compared += 1
    lib.darshan_free(mods[0])
    lib.darshan_log_close(log)
    assert compared == sum(sum("UUID" not in n and "OID" not in n for n in r)
                           for k, r in rows.items() if k[0] in LAYOUTS), path
    return compared


def check_unified(lib, ioscribe, log, expected):
    with gzip.open(expected, "rt", errors="surrogateescape") as f:
        if re.search(r"^# POSIX module: .*ver=[123]$", f.read(), re.M):
            return 0
    with tempfile.TemporaryDirectory() as folder:
        unified = os.path.join(folder, "unified.darshan")
        subprocess.run([ioscribe, "convert", "--layout", "unified", log, unified], check=True)
        with open(unified, "rb") as f:
            assert f.read(8) == b"IOSCRIB\0"
        return check(lib, unified, expected)


def main():
    lib = ffi.dlopen(sys.argv[1])
    assert text(lib.darshan_log_get_lib_version()) == "3.5.0"
    logs = sorted(glob.glob(os.path.join(sys.argv[2], "*.darshan")))
    total = unified = 0
    for log in logs:
        expected = os.path.join(sys.argv[2], "expected", os.path.basename(log)[:-len(".darshan")] + ".all.txt.gz")
        total += check(lib, log, expected)
        if len(sys.argv) > 3:
            unified += check_unified(lib, sys.argv[3], log, expected)
    print(f"{len(logs)} logs, {total} values as the stock parser prints them, {unified} in the single-region layout")
    assert len(logs) >= 20 and total > 50000
    assert len(sys.argv) < 4 or unified > 50000
    assert not lib.darshan_log_open(b"/nonexistent")


if __name__ == "__main__":
    main()
