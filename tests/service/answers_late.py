# SPDX-License-Identifier: BSD-3-Clause
"""A file system that answers as long as this program runs: stopped, it hangs.

Usage: answers_late.py DIR. It has `real/a` and `link`, which leads to real, and
has the kernel keep nothing in memory.
"""
import errno
import stat
import sys

import fusepy as fuse

DIRECTORY = {"st_mode": stat.S_IFDIR | 0o755, "st_nlink": 2}
TREE = {
    "/": DIRECTORY,
    "/real": DIRECTORY,
    "/real/a": {"st_mode": stat.S_IFREG | 0o644, "st_nlink": 1, "st_size": 7},
    "/link": {"st_mode": stat.S_IFLNK | 0o777, "st_nlink": 1},
}


class Tree(fuse.Operations):
    def getattr(self, path, fh=None):
        if path not in TREE:
            raise fuse.FuseOSError(errno.ENOENT)
        return TREE[path]

    def readlink(self, path):
        return "real"


fuse.FUSE(
    Tree(), sys.argv[1], foreground=True, nothreads=True, allow_other=True,
    attr_timeout=0, entry_timeout=0, negative_timeout=0)
