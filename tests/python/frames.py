#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every value of the Python package's frames against text of others: the stock parser's for the sample logs and
for a log of every module, `ioscribe parse` for modules of ioscribe's own, the stock printer of traces.

    frames.py IOSCRIBE MAKE_MODULES FOLDER_OF_DATA          with the package and its library where Python finds them
"""
import glob
import gzip
import os
import re
import subprocess
import sys
import tempfile

import numpy

import ioscribe

# texts of Lustre's layouts, and of what is no column
LUSTRE = {"STRIPE_SIZE": "stripe_size", "STRIPE_COUNT": "stripe_count", "EXT_START": "extent_start",
          "EXT_END": "extent_end", "MIRROR_ID": "mirror", "POOL_NAME": "pool"}
HEAD_OF_APMPI = {"MPI_TOTAL_COMM_TIME_VARIANCE": "variance_total_mpitime",
                 "MPI_TOTAL_COMM_SYNC_TIME_VARIANCE": "variance_total_mpisynctime"}
# what the stock reader has wrong in old records (scribe_reader_as_stock)
STOCK_WRONG = re.compile(r"POSIX_F_(META_TIME|MAX_(READ|WRITE)_TIME|(FASTEST|SLOWEST)_RANK_TIME|VARIANCE_RANK_\w+)")


def lines_of(text):
    """Rows of the parser's text."""
    for line in text:
        if not line.startswith("#") and line.count("\t") >= 5:
            module, rank, rid, counter, value, name = line.rstrip("\n").split("\t")[:6]
            yield module, int(rank), int(rid), counter, value, name


def shown(value):
    return f"{value:f}" if isinstance(value, float) else str(value)


class Frames:
    """Values of a log's frames, by module, rank, id and counter."""

    def __init__(self, log):
        self.frames = log.frames()
        self.rows = {m: f.set_index(["rank", "id"]) for m, f in self.frames.items()}
        self.cache = {}

    def row(self, module, rank, rid):
        key = module, rank, rid
        if key not in self.cache:
            self.cache[key] = self.rows[module].loc[[(rank, numpy.uint64(rid))]].to_dict("list")
        return self.cache[key]

    def value(self, module, rank, rid, counter):
        """As text; None where the frame has nothing of that kind."""
        if counter in HEAD_OF_APMPI:
            return shown(self.frames[module].attrs[HEAD_OF_APMPI[counter]])
        row = self.row(module, rank, rid)
        if module == "HEATMAP":
            if counter == "HEATMAP_F_BIN_WIDTH_SECONDS":
                return shown(row["end"][0])
            kind, at = re.fullmatch(r"HEATMAP_(READ|WRITE)_BIN_(\d+)", counter).groups()
            return str(row["bytes_read" if kind == "READ" else "bytes_written"][int(at)])
        if module == "LUSTRE":
            if counter == "LUSTRE_NUM_STRIPES":
                return str(sum(len(t) for t in row["targets"]))
            if counter == "LUSTRE_NUM_COMPONENTS":
                return str(len(row["component"]))
            at, what = re.fullmatch(r"LUSTRE_COMP(\d+)_(.*)", counter).groups()
            if what.startswith("OST_ID_"):
                return str(row["targets"][int(at) - 1][int(what[len("OST_ID_"):])])
            return (shown(row[LUSTRE[what]][int(at) - 1]) or "N/A") if what in LUSTRE else None
        if module == "MDHIM" and counter.startswith("MDHIM_SERVER_"):
            return None
        plain = {"PROCESS_HOST": "host", "PROCESS_EXE": "exe", "MPI_PROCESSOR_NAME": "node"}.get(counter, counter)
        if counter.endswith("_FILE_REC_ID"):
            plain = "file_id"
        if "UUID" in counter or "OID" in counter:  # not counters
            return None
        if counter == "POSIX_RENAMED_FROM":  # an id
            return str(row[plain][0] % (1 << 64))
        return shown(row[plain][0])


def compare(path, text):
    """All that the text says; returns how many values, and of which modules."""
    compared, modules = 0, set()
    with ioscribe.Log(path) as log:
        found = Frames(log)
        for module, rank, rid, counter, value, name in lines_of(text):
            if module == "APXC" or (log.version < "3.20" and STOCK_WRONG.fullmatch(counter)):
                continue
            got = found.value(module, rank, rid, counter)
            if got is None:
                continue
            assert got == value, (path, module, rank, rid, counter, got, value)
            # the parser has texts of its own for what has no name, and for objects
            if name.startswith(("/", "<", "process:", "ledger:")):
                assert found.row(module, rank, rid)["name"][0] == name, (path, name)
            modules.add(module)
            compared += 1
    return compared, modules


def compare_traces(path, text):
    """Segments of the stock printer's text, in their order."""
    wanted = [line.split()[:8] for line in text if re.match(r"\s*X_(POSIX|MPIIO)\s", line)]
    with ioscribe.Log(path) as log:
        got = []
        for module in ("DXT_POSIX", "DXT_MPIIO"):
            for r in log.frame(module).itertuples():
                got.append(["X_" + module[4:], str(r.rank), r.op, str(r.segment), str(r.offset), str(r.length),
                            f"{r.start:.4f}", f"{r.end:.4f}"])
    assert got == wanted and len(got) > 40, (path, len(got), len(wanted))


def check_job(path, text):
    want = {}
    for line in text:
        if line.startswith("# ") and ": " in line:
            key, value = line[2:].rstrip("\n").split(": ", 1)
            want.setdefault(key, value)
    with ioscribe.Log(path) as log:
        job = log.job
        for key in ("uid", "jobid", "nprocs"):
            assert str(job[key]) == want[key], (path, key)
        assert str(int(job["start"])) == want["start_time"] and str(int(job["end"])) == want["end_time"], path
        assert f"{job['run_time']:.4f}" == want["run time"], path
        assert job["exe"] == want["exe"] and log.version == want["darshan log version"], path
        assert all(p.startswith("/") for p, _ in log.mounts)


def check_failures(folder, log):
    for make, code in ((lambda p: None, -2), (lambda p: open(p, "wb").write(open(log, "rb").read()[:900]), -4001)):
        path = os.path.join(folder, "bad.darshan")
        make(path)
        try:
            ioscribe.Log(path)
        except ioscribe.LogError as e:
            assert e.code == code and path in str(e), (e.code, e)
        else:
            raise AssertionError(f"{path} was opened")
    opened = ioscribe.Log(log)
    try:
        opened.frame("MPI")
    except KeyError as e:
        assert "no records of MPI" in str(e)
    opened.close()
    opened.close()
    try:
        opened.modules
    except ValueError as e:
        assert "closed" in str(e)
    else:
        raise AssertionError("a closed log was read")


def main():
    tool, maker, data = sys.argv[1:]
    logs = sorted(glob.glob(os.path.join(data, "logs", "*.darshan")))
    total, modules = 0, set()
    for log in logs:
        expected = os.path.join(data, "logs", "expected", os.path.basename(log)[:-len(".darshan")] + ".all.txt.gz")
        text = gzip.open(expected, "rt", errors="backslashreplace").readlines()
        check_job(log, text)
        n, some = compare(log, text)
        total, modules = total + n, modules | some
    assert len(logs) >= 20 and total > 50000, (len(logs), total)
    with tempfile.TemporaryDirectory() as folder:
        every = os.path.join(folder, "every.darshan")
        subprocess.run([maker, every], check=True)
        n, some = compare(every, gzip.open(os.path.join(data, "modules", "all.txt.gz"), "rt").readlines())
        assert n > 1500 and len(some) == 13, (n, some)
        compare_traces(every, gzip.open(os.path.join(data, "modules", "dxt.txt.gz"), "rt").readlines())
        check_failures(folder, logs[-1])
        total, modules = total + n, modules | some
    for log in sorted(glob.glob(os.path.join(data, "own", "*.darshan"))):
        text = subprocess.run([tool, "parse", "--all", log], check=True, capture_output=True, text=True).stdout
        n, some = compare(log, text.splitlines())
        assert {"POSIX_EXT", "PROCESS", "LEDGER"} <= some and n > 200, (log, n, some)
        total, modules = total + n, modules | some
    for expected in sorted(glob.glob(os.path.join(data, "apmpi", "*.base.txt.gz"))):
        log = os.path.join(data, "logs", os.path.basename(expected)[:-len(".base.txt.gz")] + ".darshan")
        n, some = compare(log, (x for x in gzip.open(expected, "rt") if x.startswith("APMPI")))
        assert some == {"APMPI"} and n > 500, (log, n)
        with ioscribe.Log(log) as opened:
            frame = opened.frame("APMPI")
            assert frame["node"].str.len().min() > 0 and frame.attrs["variance_total_mpitime"] >= 0, log
        total, modules = total + n, modules | some
    print(f"{total} values of {len(modules)} modules")


main()
