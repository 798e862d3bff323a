#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""links.py PID...: names of the programs that links held by these processes attach, one a line, sorted.

Asked of the kernel: /proc/PID/fdinfo names the program of each link, bpf(2) its name.
"""
import glob
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../bench"))
import bench  # noqa: E402


def programs(pid):
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        fields = dict(line.split(":", 1) for line in bench.read(path).splitlines() if ":" in line)
        if "link_id" in fields:
            yield int(fields["prog_id"])


def main():
    names = []
    for pid in sys.argv[1:]:
        for number in programs(pid):
            fd = bench.bpf(bench.PROG_GET_FD_BY_ID, bench.Words(a=number))
            info = bench.info_of(fd, bench.PROG_INFO_BYTES) if fd >= 0 else None
            names.append(info[bench.PROG_NAME_AT:].split(b"\0")[0].decode() if info else "unknown")
    print("\n".join(sorted(names)))


if __name__ == "__main__":
    main()
