# SPDX-License-Identifier: BSD-3-Clause
"""Reads what `strace -f -y -s 0` wrote: one Call a system call, in time order.

Knows the text form only. What the calls do to files is model.py's business.
"""
import re

# What the model wants to see; everything else is left out of the log.
CALLS = (
    "open openat openat2 creat read pread64 readv preadv preadv2 write pwrite64 writev pwritev pwritev2 "
    "lseek stat lstat fstat newfstatat statx mmap munmap mremap fsync fdatasync sync_file_range msync "
    "dup dup2 dup3 fcntl close close_range rename renameat renameat2 truncate ftruncate fallocate "
    "unlink unlinkat link linkat symlink symlinkat readlink readlinkat mkdir mkdirat rmdir "
    "access faccessat faccessat2 sendfile splice copy_file_range io_submit io_getevents io_pgetevents "
    "getdents getdents64 statfs fstatfs fadvise64 "
    "getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr setxattr lsetxattr fsetxattr "
    "removexattr lremovexattr fremovexattr chdir fchdir sendmsg recvmsg recvmmsg "
    "clone clone3 fork vfork execve execveat"
).split()

_LINE = re.compile(r"^(\d+)\s+(.*)$")
_RESUMED = re.compile(r"^<\.\.\. (\w+) resumed>(.*)$")
_CALL = re.compile(r"^(\w+)\((.*)$", re.S)
_FD = re.compile(r"^(-?\d+|AT_FDCWD)(?:<(.*)>)?$", re.S)
_ESCAPE = re.compile(r'\\([0-7]{1,3}|x[0-9a-fA-F]{2}|[abfnrtv"\\])')
_NAMED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class Call:
    """One finished system call."""

    __slots__ = ("pid", "name", "args", "ret", "ret_path", "error", "start", "end")

    def __init__(self, pid, name, args, ret, ret_path, error, start, end):
        self.pid = pid
        self.name = name
        self.args = args          # list of strings as printed
        self.ret = ret            # int, or None when it did not return
        self.ret_path = ret_path  # path of a returned descriptor, or None
        self.error = error        # "ENOENT" or None
        self.start = start        # line numbers
        self.end = end

    def arg(self, i):
        return self.args[i] if i < len(self.args) else ""

    def number(self, i, default=0):
        return number(self.arg(i), default)


class Exit:
    """A thread is gone, or took the leader's number by an exec."""

    __slots__ = ("pid", "start", "end")

    def __init__(self, pid, line):
        self.pid = pid
        self.start = self.end = line


def unquote(text):
    """The string between C quotes; None when it is not one (NULL, an address)."""
    text = text.strip()
    if not text.startswith('"'):
        return None
    end = text.rfind('"')
    return unescape(text[1:end])


def unescape(text):
    def one(match):
        s = match.group(1)
        if s[0] == "x":
            return chr(int(s[1:], 16))
        if s[0] in "01234567":
            return chr(int(s, 8))
        return _NAMED.get(s, s)

    text = _ESCAPE.sub(one, text)
    try:
        return text.encode("latin-1").decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text


def number(text, default=0):
    text = text.strip()
    try:
        return int(text, 0)
    except ValueError:
        match = re.match(r"^0[0-7]+$", text)
        return int(text, 8) if match else default


def descriptor(text):
    """(number or None for AT_FDCWD, path or None, deleted) of a printed descriptor."""
    match = _FD.match(text.strip())
    if not match:
        deleted = text.strip().endswith("(deleted)")
        match = _FD.match(text.strip()[: -len("(deleted)")]) if deleted else None
        if not match:
            return -1, None, False
        fd, path = match.groups()
        return (None if fd == "AT_FDCWD" else int(fd)), unescape(path or "") or None, True
    fd, path = match.groups()
    path = unescape(path) if path else None
    deleted = bool(path) and path.endswith(" (deleted)")
    if deleted:
        path = path[: -len(" (deleted)")]
    return (None if fd == "AT_FDCWD" else int(fd)), path, deleted


def split_args(text):
    """Arguments of a call and what follows its closing parenthesis."""
    args, depth, start, i, n = [], 0, 0, 0, len(text)
    while i < n:
        c = text[i]
        if c == '"':
            i += 1
            while i < n and text[i] != '"':
                i += 2 if text[i] == "\\" else 1
        elif c == "<" and i > 0 and (text[i - 1].isdigit() or text[i - 1] == "D") and text[i + 1:i + 2] in "/ps([aiuT":
            close = _angle_end(text, i)
            if close > 0:
                i = close
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            if depth == 0:
                last = text[start:i].strip()
                if last or args:
                    args.append(last)
                return args, text[i + 1:]
            depth -= 1
        elif c == "," and depth == 0:
            args.append(text[start:i].strip())
            start = i + 1
        i += 1
    return args + [text[start:].strip()], ""


def _angle_end(text, i):
    """Index of the '>' that ends the annotation of a descriptor."""
    depth = 0
    while i < len(text):
        if text[i] == "<":
            depth += 1
        elif text[i] == ">" and text[i - 1] != "-":
            depth -= 1
            if depth == 0:
                return i
        i += 1
    return -1


def _finish(pid, text, start, end):
    match = _CALL.match(text)
    if not match:
        return None
    name, rest = match.groups()
    args, tail = split_args(rest)
    tail = tail.strip()
    if not tail.startswith("="):
        return None
    tail = tail[1:].strip()
    ret, path, error = None, None, None
    if tail.startswith("?"):
        pass
    elif tail.startswith("-1 "):
        ret, error = -1, tail.split()[1]
    else:
        word = tail.split("<", 1)[0].split(" ", 1)[0]
        ret = number(word, None)
        if "<" in tail and word.isdigit():
            _, path, _ = descriptor(tail.split(" (", 1)[0] if tail.endswith(")") and "(deleted)" not in tail else tail)
    return Call(pid, name, args, ret, path, error, start, end)


def read_log(path):
    """All calls and exits of the log, sorted by when they took effect."""
    pending, found = {}, []
    with open(path, encoding="latin-1") as log:
        for at, line in enumerate(log):
            match = _LINE.match(line.rstrip("\n"))
            if not match:
                continue
            pid, text = int(match.group(1)), match.group(2)
            if text.startswith("+++"):
                gone = re.search(r"superseded by execve in pid (\d+)", text)
                if gone:
                    # The thread goes on under the leader's number.
                    thread = int(gone.group(1))
                    found.append(Exit(thread, at))
                    if thread in pending:
                        pending[pid] = pending.pop(thread)
                else:
                    _lost(pending, pid, at, found)
                    found.append(Exit(pid, at))
                continue
            if text.startswith("---"):
                continue
            resumed = _RESUMED.match(text)
            start = at
            if resumed:
                if pid not in pending:
                    continue
                head, start = pending.pop(pid)
                text = head + resumed.group(2)
            elif text.endswith("<unfinished ...>"):
                pending[pid] = (text[: -len("<unfinished ...>")].rstrip() + " ", at)
                continue
            call = _finish(pid, text, start, at)
            if call:
                found.append(call)
    # A descriptor is free for others as soon as close begins, and on its way as
    # soon as sendmsg does; all else has its effect when it returns.
    early = ("close", "close_range", "sendmsg")
    found.sort(key=lambda c: c.start if getattr(c, "name", "") in early else c.end)
    return found


def _lost(pending, pid, at, found):
    """A thread died inside a call: it never returned."""
    if pid not in pending:
        return
    head, start = pending.pop(pid)
    call = _finish(pid, head + ") = ?", start, at)
    if call:
        found.append(call)
