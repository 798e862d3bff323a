# SPDX-License-Identifier: BSD-3-Clause
"""The metadata calls of model.py: descriptors, paths, mappings."""
import re

from files import Inode
from strace_log import descriptor, unquote

# Calls on one descriptor that only count: name, (POSIX counter or None, own counter or None).
ON_DESCRIPTOR = {
    "fsync": ("FSYNCS", None), "fdatasync": ("FDSYNCS", None), "fstat": ("STATS", None),
    "sync_file_range": (None, "SYNC_RANGES"), "fadvise64": (None, "FADVISES"),
    "fstatfs": (None, "STATFS"), "fgetxattr": (None, "XATTR_READS"), "flistxattr": (None, "XATTR_READS"),
    "fsetxattr": (None, "XATTR_WRITES"), "fremovexattr": (None, "XATTR_WRITES"),
}
# Calls on one path, no directory descriptor: own counter, last link followed.
ON_PATH = {
    "getxattr": ("XATTR_READS", True), "lgetxattr": ("XATTR_READS", False),
    "listxattr": ("XATTR_READS", True), "llistxattr": ("XATTR_READS", False),
    "setxattr": ("XATTR_WRITES", True), "lsetxattr": ("XATTR_WRITES", False),
    "removexattr": ("XATTR_WRITES", True), "lremovexattr": ("XATTR_WRITES", False),
    "statfs": ("STATFS", True), "readlink": ("READLINKS", False),
}


def _failed(call):
    """It failed, or never returned: such calls on paths count by file nowhere."""
    return call.ret is None or call.ret < 0


def _descriptor_calls(model):
    def make(posix, own):
        def handler(self, process, call):
            _, record = self._file(process, call.arg(0), call.name == "fstatfs")
            if not record or call.ret is None:
                return
            if call.ret < 0:
                record.ext("FAILED_META")
            elif posix:
                record.count(posix)
            else:
                record.ext(own)
        return handler

    for name, (posix, own) in ON_DESCRIPTOR.items():
        setattr(model, "_on_" + name, make(posix, own))

    def lseek(self, process, call):
        desc, record = self._file(process, call.arg(0))
        if not record or call.ret is None:
            return
        if call.ret < 0:
            record.ext("FAILED_META")
            return
        desc.pos = call.ret
        record.count("SEEKS")

    def close(self, process, call):
        _, record = self._file(process, call.arg(0))
        fd, _, _ = descriptor(call.arg(0))
        process.table.fds.pop(fd, None)
        process.table.cloexec.discard(fd)
        if record and call.ret == 0:
            record.ext("CLOSES")

    def close_range(self, process, call):
        if call.ret != 0:
            return
        first, last = call.number(0), call.number(1, 2**32)
        if "CLOSE_RANGE_UNSHARE" in call.arg(2):
            process.table = process.table.copy()
        for fd in [f for f in process.table.fds if first <= f <= last]:
            if "CLOSE_RANGE_CLOEXEC" in call.arg(2):
                process.table.cloexec.add(fd)
                continue
            desc = process.table.fds.pop(fd)
            if desc.node.inode.kind == "reg":
                self._record(process, desc).ext("CLOSES")

    def dup(self, process, call):
        fd, path, _ = descriptor(call.arg(0))
        desc, record = self._file(process, call.arg(0))
        if call.ret is None or call.ret < 0:
            if record and call.ret is not None:
                record.ext("FAILED_META")
            return
        process.table.fds.pop(call.ret, None)
        process.table.cloexec.discard(call.ret)
        if "CLOEXEC" in " ".join(call.args[1:]):
            process.table.cloexec.add(call.ret)
        held = desc or process.table.fds.get(fd)
        if held:
            process.table.fds[call.ret] = held
        if record:
            record.count("OPENS")
            record.count("DUPS")

    def fcntl(self, process, call):
        if call.arg(1) in ("F_DUPFD", "F_DUPFD_CLOEXEC"):
            dup(self, process, call)
        elif call.arg(1) == "F_SETFD" and call.ret == 0:
            fd, _, _ = descriptor(call.arg(0))
            process.table.cloexec.discard(fd)
            if "FD_CLOEXEC" in call.arg(2):
                process.table.cloexec.add(fd)
        elif call.arg(1) == "F_SETFL" and call.ret == 0:
            desc, _ = self._file(process, call.arg(0))
            if desc:
                desc.append = "O_APPEND" in call.arg(2)

    def ftruncate(self, process, call):
        desc, record = self._file(process, call.arg(0))
        if not record or call.ret is None:
            return
        record.ext("TRUNCATES" if call.ret == 0 else "FAILED_META")
        if call.ret == 0:
            desc.node.inode.size = call.number(1)

    def fallocate(self, process, call):
        desc, record = self._file(process, call.arg(0))
        if not record or call.ret is None:
            return
        record.ext("FALLOCATES" if call.ret == 0 else "FAILED_META")
        if call.ret == 0 and "KEEP_SIZE" not in call.arg(1):
            inode = desc.node.inode
            inode.size = max(inode.size, call.number(2) + call.number(3))

    def getdents(self, process, call):
        desc = self._desc(process, call.arg(0))
        if desc is None:
            _, path, _ = descriptor(call.arg(0))
            if not path or not self.names.inside(path):
                return
            name = path
        else:
            name = desc.bound.setdefault(process.serial, desc.node.path)
        if call.ret is not None:
            self._at(process, name).ext("GETDENTS" if call.ret >= 0 else "FAILED_META")

    model._on_lseek, model._on_close, model._on_close_range = lseek, close, close_range
    model._on_dup = model._on_dup2 = model._on_dup3 = dup
    model._on_fcntl, model._on_ftruncate, model._on_fallocate = fcntl, ftruncate, fallocate
    model._on_getdents = model._on_getdents64 = getdents


def _mappings(model):
    def mmap(self, process, call):
        if "MAP_ANONYMOUS" in call.arg(3) or call.ret is None:
            return
        desc, record = self._file(process, call.arg(4))
        if not record:
            return
        if call.ret == -1:
            record.ext("FAILED_META")
            return
        record.count("MMAPS")
        record.n["POSIX_EXT_MAPPED_BYTES"] += call.number(1)
        process.maps.append((call.ret, call.ret + call.number(1), desc))

    def munmap(self, process, call):
        if call.ret == 0:
            start = call.number(0)
            end = start + call.number(1)
            process.maps = [m for m in process.maps if m[1] <= start or m[0] >= end]

    def msync(self, process, call):
        at = call.number(0)
        for start, end, desc in process.maps:
            if start <= at < end and call.ret == 0:
                self._record(process, desc).ext("MSYNCS")

    model._on_mmap, model._on_munmap, model._on_msync = mmap, munmap, msync


def _stats(model):
    def regular(call):
        return re.search(r"st(x)?_mode=S_IFREG", " ".join(call.args)) is not None

    def by_path(base, text, call_follow):
        def handler(self, process, call):
            follow = call_follow if isinstance(call_follow, bool) else "AT_SYMLINK_NOFOLLOW" not in " ".join(call.args)
            if base is not None and unquote(call.arg(text)) in ("", None):
                fd, _, _ = descriptor(call.arg(base))
                if fd is None:
                    return
                _, record = self._file(process, call.arg(base))
                if record and call.ret == 0:
                    record.count("STATS")
                elif record and call.ret is not None:
                    record.ext("FAILED_META")
                return
            path = self._path(process, call.arg(base) if base is not None else None, call.arg(text), follow)
            if _failed(call) or not path:
                return
            if regular(call):
                self._at(process, path).count("STATS")
        return handler

    model._on_stat = by_path(None, 0, True)
    model._on_lstat = by_path(None, 0, False)
    model._on_newfstatat = model._on_statx = by_path(0, 1, None)

    def access(base, text):
        def handler(self, process, call):
            path = self._path(process, call.arg(base) if base is not None else None, call.arg(text),
                              "AT_SYMLINK_NOFOLLOW" not in call.arg(3))
            if path and call.ret == 0:
                self._at(process, path).ext("ACCESSES")
        return handler

    model._on_access = access(None, 0)
    model._on_faccessat = model._on_faccessat2 = access(0, 1)


def _paths(model):
    def make(own, follow):
        def handler(self, process, call):
            path = self._path(process, None, call.arg(0), follow)
            if not _failed(call) and path:
                self._at(process, path).ext(own)
        return handler

    for name, (own, follow) in ON_PATH.items():
        setattr(model, "_on_" + name, make(own, follow))

    def readlinkat(self, process, call):
        path = self._path(process, call.arg(0), call.arg(1), False)
        if not _failed(call) and path:
            self._at(process, path).ext("READLINKS")

    def truncate(self, process, call):
        path = self._path(process, None, call.arg(0))
        if _failed(call) or not path:
            return
        self._at(process, path).ext("TRUNCATES")
        if path in self.names.nodes:
            self.names.nodes[path].inode.size = call.number(1)

    def gone(counter, base, text):
        def handler(self, process, call):
            path = self._path(process, call.arg(base) if base is not None else None, call.arg(text), False)
            if _failed(call) or not path:
                return
            own = "RMDIRS" if "AT_REMOVEDIR" in call.arg(2) else counter
            self._at(process, path).ext(own)
            self.names.remove(path)
        return handler

    def made(kind, counter, base, text):
        def handler(self, process, call):
            path = self._path(process, call.arg(base) if base is not None else None, call.arg(text), False)
            if _failed(call) or not path:
                return
            self._at(process, path).ext(counter)
            target = unquote(call.arg(0)) if kind == "lnk" else None
            self.names.add(path, Inode(kind, target=target))
        return handler

    def link(old_base, old, new_base, new):
        def handler(self, process, call):
            path = self._path(process, call.arg(new_base) if new_base is not None else None, call.arg(new), False)
            if _failed(call) or not path:
                return
            self._at(process, path).ext("LINKS")
            source = self._path(process, call.arg(old_base) if old_base is not None else None, call.arg(old), False)
            node = self.names.nodes.get(source)
            self.names.add(path, node.inode if node else Inode("reg"))
        return handler

    def rename(old_base, old, new_base, new):
        def handler(self, process, call):
            source = self._path(process, call.arg(old_base) if old_base is not None else None, call.arg(old), False)
            target = self._path(process, call.arg(new_base) if new_base is not None else None, call.arg(new), False)
            if _failed(call):
                return
            if source and target:  # directories too, as in Darshan
                self._at(process, source).count("RENAME_SOURCES")
                record = self._at(process, target)
                record.count("RENAME_TARGETS")
                record.renamed_from(source)
                self.names.rename(source, target, "RENAME_EXCHANGE" in call.arg(4))
        return handler

    model._on_readlinkat, model._on_truncate = readlinkat, truncate
    model._on_unlink, model._on_unlinkat = gone("UNLINKS", None, 0), gone("UNLINKS", 0, 1)
    model._on_rmdir = gone("RMDIRS", None, 0)
    model._on_mkdir, model._on_mkdirat = made("dir", "MKDIRS", None, 0), made("dir", "MKDIRS", 0, 1)
    model._on_symlink, model._on_symlinkat = made("lnk", "SYMLINKS", None, 1), made("lnk", "SYMLINKS", 1, 2)
    model._on_link, model._on_linkat = link(None, 0, None, 1), link(0, 1, 2, 3)
    model._on_rename = rename(None, 0, None, 1)
    model._on_renameat = model._on_renameat2 = rename(0, 1, 2, 3)

    def chdir(self, process, call):
        path = self.names.resolve(process.cwd, unquote(call.arg(0)))
        if call.ret == 0 and path:
            process.cwd = path

    def fchdir(self, process, call):
        _, path, _ = descriptor(call.arg(0))
        if call.ret == 0 and path:
            process.cwd = path

    model._on_chdir, model._on_fchdir = chdir, fchdir


def install(model):
    _descriptor_calls(model)
    _mappings(model)
    _stats(model)
    _paths(model)
