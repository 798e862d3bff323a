# SPDX-License-Identifier: BSD-3-Clause
"""Counters of one run by file name, and the rules of sequence, stride, sizes."""
from collections import Counter

BUCKETS = [(100, "0_100"), (1024, "100_1K"), (10240, "1K_10K"), (102400, "10K_100K"), (1 << 20, "100K_1M"),
           (4 << 20, "1M_4M"), (10 << 20, "4M_10M"), (100 << 20, "10M_100M"), (1 << 30, "100M_1G")]


def bucket(count):
    for edge, name in BUCKETS:
        if count <= edge:
            return name
    return "1G_PLUS"


class Record:
    """One file of one process."""

    def __init__(self, align=4096):
        self.align = align   # block size of the file system
        self.n = Counter()   # "POSIX_OPENS", "POSIX_EXT_CLOSES", ...
        self.sizes = Counter()
        self.strides = Counter()
        self.max_byte = {}
        self.sources = set()
        self.segments = []  # (is it a write, offset, bytes, whose: thread and process), in order
        self._last = {"READ": 0, "WRITE": 0}
        self._op = None

    def count(self, name):
        self.n["POSIX_" + name] += 1

    def ext(self, name):
        self.n["POSIX_EXT_" + name] += 1

    def renamed_from(self, path):
        self.sources.add(path)

    def opened(self):
        self._last = {"READ": 0, "WRITE": 0}

    def data(self, write, offset, count, who=None):
        op = "WRITE" if write else "READ"
        n = self.n
        self.segments.append((write, offset, count, who))
        n[f"POSIX_{op}S"] += 1
        n["POSIX_BYTES_WRITTEN" if write else "POSIX_BYTES_READ"] += count
        n[f"POSIX_SIZE_{op}_{bucket(count)}"] += 1
        last = self._last[op]
        if offset > last:
            n[f"POSIX_SEQ_{op}S"] += 1
            if last and offset - last - 1:
                self.strides[offset - last - 1] += 1
        if offset == last + 1:
            n[f"POSIX_CONSEC_{op}S"] += 1
        self._last[op] = offset + count - 1
        if self._op not in (None, op):
            n["POSIX_RW_SWITCHES"] += 1
        self._op = op
        if self.align and offset % self.align:
            n["POSIX_FILE_NOT_ALIGNED"] += 1
        if count:
            self.sizes[count] += 1
        top = offset + count - 1
        name = "POSIX_MAX_BYTE_WRITTEN" if write else "POSIX_MAX_BYTE_READ"
        self.max_byte[name] = max(self.max_byte.get(name, 0), top)


class Book:
    def __init__(self, align=4096):
        self.align = align
        self.records = {}  # (name, process, inode): Record

    def get(self, name, process, inode=None):
        """A file created again under a name is another file: a record of its own."""
        return self.records.setdefault((name, process, inode), Record(self.align))

    def by_name(self, rename=lambda name: name, ranks=False):
        """{name: (counters, who)}: sums, and the (process, inode)s that moved data. `ranks`: each process is
        a rank, else all are one."""
        out, told = {}, set()
        for (name, process, inode), record in self.records.items():
            counters, who = out.setdefault(rename(name), (Counter(), set()))
            counters.update({k: v for k, v in record.n.items() if v})
            for key, value in record.max_byte.items():
                counters[key] = max(counters.get(key, 0), value)
            if record.max_byte:
                who.add((process, inode))
            for what, did in (("READS", "RANKS_READ"), ("WRITES", "RANKS_WROTE")):
                who_did = (name, process if ranks else None, did)
                if record.n["POSIX_" + what] and who_did not in told:
                    told.add(who_did)
                    counters["POSIX_EXT_" + did] += 1
        return out

    def values(self, rename=lambda name: name):
        """{name: (sizes, strides)} for the common values."""
        out = {}
        for (name, _, _), record in self.records.items():
            sizes, strides = out.setdefault(rename(name), (Counter(), Counter()))
            sizes.update(record.sizes)
            strides.update(record.strides)
        return out

    def segments(self, rename=lambda name: name):
        """{name: [(write, offset, bytes, whose), ...]} of all its records, in order within each."""
        out = {}
        for (name, _, _), record in self.records.items():
            if record.segments:
                out.setdefault(rename(name), []).extend(record.segments)
        return out
