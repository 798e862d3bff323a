# SPDX-License-Identifier: BSD-3-Clause
"""A file system with one file, LIBRARY: names and attributes are known to the kernel for long, bytes are asked for.

Usage: library_fs.py DIR LIBRARY. Stopped, it hangs where a page is not in memory.
"""
import errno
import os
import stat
import sys

import fusepy as fuse

NAME = "/" + os.path.basename(sys.argv[2])
with open(sys.argv[2], "rb") as f:
    BYTES = f.read()


class Tree(fuse.Operations):
    def getattr(self, path, fh=None):
        if path == "/":
            return {"st_mode": stat.S_IFDIR | 0o755, "st_nlink": 2}
        if path != NAME:
            raise fuse.FuseOSError(errno.ENOENT)
        return {"st_mode": stat.S_IFREG | 0o755, "st_nlink": 1, "st_size": len(BYTES)}

    def readdir(self, path, fh):
        return [".", "..", NAME[1:]]

    def read(self, path, size, offset, fh):
        return BYTES[offset:offset + size]


fuse.FUSE(Tree(), sys.argv[1], foreground=True, nothreads=True, allow_other=True, kernel_cache=True,
          attr_timeout=10000, entry_timeout=10000)
