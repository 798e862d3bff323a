# SPDX-License-Identifier: BSD-3-Clause
"""A file system with one file, page, that can be written through a mapping. Usage: dirty_fs.py DIR.

Stopped, it keeps whoever has dirtied a page from unmapping it.
"""
import errno
import stat
import sys

import fusepy as fuse

BYTES = 8192


class Tree(fuse.Operations):
    def getattr(self, path, fh=None):
        if path == "/":
            return {"st_mode": stat.S_IFDIR | 0o755, "st_nlink": 2}
        if path != "/page":
            raise fuse.FuseOSError(errno.ENOENT)
        return {"st_mode": stat.S_IFREG | 0o666, "st_nlink": 1, "st_size": BYTES}

    def read(self, path, size, offset, fh):
        return bytes(max(0, min(size, BYTES - offset)))

    def write(self, path, data, offset, fh):
        return len(data)


fuse.FUSE(Tree(), sys.argv[1], foreground=True, nothreads=True, allow_other=True, attr_timeout=10000,
          entry_timeout=10000)
