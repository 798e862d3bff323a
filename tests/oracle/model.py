# SPDX-License-Identifier: BSD-3-Clause
"""What the calls of a strace log do to files: a plain model of descriptors,
names and offsets, and the counters of docs/counters.md computed from it.

Written from the meaning of the system calls alone; it shares nothing with the
kernel programs, so that an error in one of them is not repeated here.
"""
import os
import re

from files import Description, Inode, Names, Node, Process, Table
from model_meta import install
from records import Book
from strace_log import Exit, descriptor, number, unquote


RIGHTS = re.compile(r"cmsg_type=SCM_RIGHTS, cmsg_data=\[(\d+<[^>]*>)")


class Model:
    """Feed it calls; `book` then holds the counters by file name."""

    def __init__(self, root, cwd):
        self.names = Names(root)
        self.book = Book(os.statvfs(root).f_bsize)
        self.cwd = cwd
        self.tasks = {}   # tid: Process
        self.fork_of = {}  # child tid: (parent tid, call)
        self._serial = 0
        self._who = None  # thread and process of the call
        self._sent = {}   # path: descriptions on their way through a socket

    # ---- processes ----
    def run(self, calls):
        for call in calls:
            if not isinstance(call, Exit) and call.name in ("clone", "clone3", "fork", "vfork") and (call.ret or 0) > 0:
                self.fork_of[call.ret] = call
        for call in calls:
            if isinstance(call, Exit):
                self.tasks.pop(call.pid, None)
                continue
            handler = getattr(self, "_on_" + call.name, None)
            if handler:
                process = self._process(call.pid)
                self._who = {"thread": call.pid, "process": process.serial}
                handler(process, call)
        return self.book

    def _process(self, tid):
        process = self.tasks.get(tid)
        if process:
            return process
        self._serial += 1
        call = self.fork_of.get(tid)
        if not call:
            process = Process(self._serial, Table(), self.cwd)
        else:
            parent = self._process(call.pid)
            flags = " ".join(call.args)
            if "CLONE_THREAD" in flags:
                process = parent
            else:
                table = parent.table if "CLONE_FILES" in flags else parent.table.copy()
                process = Process(self._serial, table, parent.cwd, parent.maps)
        self.tasks[tid] = process
        return process

    def _fork(self, process, call):
        if (call.ret or 0) > 0 and call.ret not in self.tasks and "CLONE_THREAD" not in " ".join(call.args):
            self._process(call.ret)

    _on_clone = _on_clone3 = _on_fork = _on_vfork = _fork

    def _exec(self, process, call):
        if call.ret != 0:
            return
        process.table = process.table.copy()
        for fd in process.table.cloexec:
            process.table.fds.pop(fd, None)
        process.table.cloexec.clear()
        process.maps = []

    _on_execve = _on_execveat = _exec

    # ---- descriptors ----
    def _desc(self, process, text):
        """Description of a printed descriptor argument; unknown ones are met here."""
        fd, path, deleted = descriptor(text)
        if fd is None or fd < 0 or not path:
            return None
        known = process.table.fds.get(fd)
        if known and known.node.path == path:
            return known
        if known and (known.node.gone or deleted):
            return known
        if not path.startswith("/") or not self.names.inside(path):
            if known:
                process.table.fds.pop(fd, None)
            return None
        return self._meet(process, fd, path)

    def _meet(self, process, fd, path):
        """A descriptor that came from outside, or by a way not seen."""
        node = self.names.nodes.get(path)
        if not node:
            return None
        desc = process.table.fds[fd] = Description(node)
        return desc

    def _file(self, process, text, directory=False):
        """(description, record) of a descriptor of a regular file, else (None, None)."""
        desc = self._desc(process, text)
        kinds = ("reg", "dir") if directory else ("reg",)
        if not desc or desc.node.inode.kind not in kinds:
            return None, None
        return desc, self._record(process, desc)

    def _record(self, process, desc):
        name = desc.bound.setdefault(process.serial, desc.node.path)
        return self.book.get(name, process.serial, desc.node.inode)

    def _path(self, process, base_text, text, follow=True):
        """Canonical path of (directory descriptor, string), or None outside."""
        base = process.cwd
        if base_text is not None:
            fd, path, _ = descriptor(base_text)
            base = path or process.cwd
        path = self.names.resolve(base, unquote(text), follow)
        return path if path and self.names.inside(path) else None

    def _at(self, process, path):
        return self.book.get(path, process.serial)

    # ---- opens ----
    def _open(self, process, call, base, text, flags):
        if call.ret is None:
            return
        # With O_CREAT and O_NOFOLLOW a link at the end is not followed.
        path = self._path(process, base, text, "O_NOFOLLOW" not in flags)
        if call.ret < 0:
            return
        real = call.ret_path
        if real and real.endswith(" (deleted)") or "O_TMPFILE" in flags:
            path = (real or "").replace(" (deleted)", "")
        elif real and self.names.inside(real):
            path = real
        else:
            process.table.fds.pop(call.ret, None)
            return
        created = False
        node = self.names.nodes.get(path)
        if "O_TMPFILE" in flags:
            node = Node(path, Inode("reg"))
            node.gone = True
        elif not node:
            created = "O_CREAT" in flags
            node = self.names.add(path, Inode("reg" if created else "other"))
        desc = Description(node, "O_APPEND" in flags, "O_PATH" in flags)
        process.table.fds[call.ret] = desc
        process.table.cloexec.discard(call.ret)
        if "O_CLOEXEC" in flags:
            process.table.cloexec.add(call.ret)
        if node.inode.kind != "reg" or desc.path_only:
            return
        if "O_TRUNC" in flags:
            node.inode.size = 0
        desc.bound[process.serial] = node.path
        record = self._record(process, desc)
        record.count("OPENS")
        record.opened()
        if created:
            record.ext("CREATES")

    def _on_open(self, process, call):
        self._open(process, call, None, call.arg(0), call.arg(1))

    def _on_creat(self, process, call):
        self._open(process, call, None, call.arg(0), "O_CREAT|O_TRUNC|O_WRONLY")

    def _on_openat(self, process, call):
        self._open(process, call, call.arg(0), call.arg(1), call.arg(2))

    _on_openat2 = _on_openat

    # ---- data ----
    def _data(self, process, text, write, call, offset=None, bytes_=None):
        desc, record = self._file(process, text)
        if not record or call.ret is None:
            return desc, record
        if call.ret < 0:
            record.ext("FAILED_DATA")
            return desc, record
        self._moved(desc, record, write, call.ret if bytes_ is None else bytes_, offset)
        return desc, record

    def _moved(self, desc, record, write, count, offset=None, append=False):
        inode = desc.node.inode
        if write and (desc.append or append):
            at = inode.size
        else:
            at = desc.pos if offset is None else offset
        record.data(write, at, count, self._who)
        if write:
            inode.size = max(inode.size, at + count if count else 0)
        if offset is None:
            desc.pos = at + count

    def _on_read(self, process, call):
        self._data(process, call.arg(0), False, call)

    def _on_write(self, process, call):
        self._data(process, call.arg(0), True, call)

    _on_readv, _on_writev = _on_read, _on_write

    def _on_pread64(self, process, call):
        self._data(process, call.arg(0), False, call, call.number(3))

    def _on_pwrite64(self, process, call):
        self._data(process, call.arg(0), True, call, call.number(3))

    _on_preadv, _on_pwritev = _on_pread64, _on_pwrite64

    def _vector2(self, process, call, write):
        offset = call.number(3)
        desc, record = self._file(process, call.arg(0))
        if not record or call.ret is None:
            return
        if call.ret < 0:
            record.ext("FAILED_DATA")
            return
        self._moved(desc, record, write, call.ret, None if offset in (-1, 2**64 - 1) else offset,
                    "RWF_APPEND" in call.arg(4))

    def _on_preadv2(self, process, call):
        self._vector2(process, call, False)

    def _on_pwritev2(self, process, call):
        self._vector2(process, call, True)

    def _copy(self, process, call, source, source_offset, target, target_offset):
        if call.ret is None or call.ret < 0:
            return
        for text, offset, write in ((source, source_offset, False), (target, target_offset, True)):
            desc, record = self._file(process, text)
            if record:
                at = None if offset == "NULL" else number(offset.strip("[]").split("=>")[0].strip("[] "))
                self._moved(desc, record, write, call.ret, at)
                record.ext("SPLICES")

    def _on_sendfile(self, process, call):
        self._copy(process, call, call.arg(1), call.arg(2), call.arg(0), "NULL")

    def _on_splice(self, process, call):
        self._copy(process, call, call.arg(0), call.arg(1), call.arg(2), call.arg(3))

    _on_copy_file_range = _on_splice

    # ---- descriptors sent over a socket ----
    def _on_sendmsg(self, process, call):
        for text in RIGHTS.findall(" ".join(call.args)):
            desc = self._desc(process, text)
            if desc:
                self._sent.setdefault(desc.node.path, []).append(desc)

    def _on_recvmsg(self, process, call):
        for text in RIGHTS.findall(" ".join(call.args)):
            fd, path, _ = descriptor(text)
            if self._sent.get(path):
                process.table.fds[fd] = self._sent[path].pop(0)

    # ---- libaio: every submission is taken to be done in full ----
    def _on_io_submit(self, process, call):
        for i, entry in enumerate(call.arg(2).split("{aio_data=")[1:]):
            if call.ret is None or i >= call.ret:
                return
            fields = dict(part.strip().split("=", 1) for part in entry.split(", aio_") if "=" in part)
            op = fields.get("lio_opcode", "")
            desc, record = self._file(process, fields.get("fildes", ""))
            if not record:
                continue
            if op in ("IOCB_CMD_PREAD", "IOCB_CMD_PWRITE"):
                offset = number(fields.get("offset", "0").rstrip("}], "))
                self._moved(desc, record, op.endswith("PWRITE"), number(fields["nbytes"]), offset)
                record.ext("AIO_OPS")
            elif op in ("IOCB_CMD_FSYNC", "IOCB_CMD_FDSYNC"):
                record.count("FSYNCS" if op.endswith("FSYNC") and "FD" not in op else "FDSYNCS")


install(Model)
