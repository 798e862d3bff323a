# SPDX-License-Identifier: BSD-3-Clause
"""A file system that answers as long as this program runs: stopped, it hangs.

Usage: answers_late.py DIR. It has `real/a` and `link`, which leads to real, and
has the kernel keep nothing in memory. `mine/a` is for programs alone: helpers of the
daemon's, known by their name, get no answer; of `slow/a` they get it after 0.15 s.
"""
import errno
import stat
import sys
import time

import fusepy as fuse

DIRECTORY = {"st_mode": stat.S_IFDIR | 0o755, "st_nlink": 2}
TREE = {
    "/": DIRECTORY,
    "/real": DIRECTORY,
    "/real/a": {"st_mode": stat.S_IFREG | 0o644, "st_nlink": 1, "st_size": 7},
    "/mine": DIRECTORY,
    "/mine/a": {"st_mode": stat.S_IFREG | 0o644, "st_nlink": 1, "st_size": 7},
    "/slow": DIRECTORY,
    "/slow/a": {"st_mode": stat.S_IFREG | 0o644, "st_nlink": 1, "st_size": 7},
    "/link": {"st_mode": stat.S_IFLNK | 0o777, "st_nlink": 1},
}


WAITS = {"mine": 600, "slow": 0.15}


def asked_by_helper():
    try:
        with open(f"/proc/{fuse.fuse_get_context()[2]}/comm", encoding="ascii") as f:
            return f.read() == "ioscribe-helper\n"
    except OSError:
        return False


class Tree(fuse.Operations):
    def getattr(self, path, fh=None):
        if asked_by_helper():
            time.sleep(WAITS.get(path.split("/")[1], 0))
        if path not in TREE:
            raise fuse.FuseOSError(errno.ENOENT)
        return TREE[path]

    def readlink(self, path):
        return "real"


fuse.FUSE(
    Tree(), sys.argv[1], foreground=True, allow_other=True,
    attr_timeout=0, entry_timeout=0, negative_timeout=0)
