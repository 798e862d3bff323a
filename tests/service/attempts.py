#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What another unprivileged user may try against a service, one after the other.

usage: attempts.py DIR DAEMON-PID FOREIGN-LOG [flood]      (as root)

A root job named "theirs" is there. Every attempt runs as the user nobody and
must be refused. What goes over the socket must be answered by ERROR or a
hang-up and leave exactly one line in DIR/log; what the kernel refuses leaves
none. Logs that a user asks for where root's files are leave one line when they
cannot be written, and root's files as they were. With "flood" it is noise over
1,500 connections instead. Prints a line an attempt; exit 1 when one was not refused.
"""
import array
import ctypes
import glob
import os
import signal
import socket
import subprocess
import struct
import sys
import time

NOBODY = 65534
MAGIC, VERSION = 0x62637369, 1
ERROR, HELLO, HELLO_OK, FETCH, FETCH_OK, DONE, DONE_OK = 1, 2, 3, 4, 5, 6, 7
RUN_BEGIN, READY, ENROL, ENROLLED, END, LOG, RESULT = 32, 33, 34, 35, 36, 37, 38
JOB_BEGIN, JOB_END, JOB_LIST, JOB_SHOW, JOB_TRACE, JOB_ENTRY, JOB_OK, JOB_CHECK = 64, 65, 66, 67, 68, 69, 70, 71
JOB_PUBLISH = 80
DIR, DAEMON, THEIR_LOG = sys.argv[1], int(sys.argv[2]), sys.argv[3]
LOG_FILE = os.path.join(DIR, "log")


def packet(kind, payload=b"", magic=MAGIC, version=VERSION, length=None):
    return struct.pack("=IHHII", magic, version, kind, 0, len(payload) if length is None else length) + payload


def hello(rank=0, size=1, world=b""):
    return packet(HELLO, struct.pack("=iiII", rank, size, os.getpid(), 1) + world.ljust(256, b"\0"))


def connection():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    # waits where the backlog is full, as connect() of a socket with a timeout does not
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 60, 0))
    s.connect(os.path.join(DIR, "socket"))
    s.settimeout(60)
    return s


def answers(s):
    """Types of all answers until the hang-up."""
    kinds = []
    while True:
        data = s.recv(70000)
        if len(data) < 16:
            return kinds
        kinds.append(struct.unpack_from("=IHHII", data)[2])


def says(*packets):
    """Refused: the last answer is ERROR."""
    def attempt():
        s = connection()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        for p in packets:
            s.send(p)
        return answers(s)[-1:] == [ERROR]
    return attempt


def sent_with(s, message, fds):
    """Linux 6.16 and newer: refused by the kernel."""
    try:
        s.sendmsg([message], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])
    except PermissionError:
        return False
    return True


def with_descriptors():
    s = connection()
    fds = [os.open("/dev/null", os.O_RDONLY) for _ in range(10)]
    if not sent_with(s, hello(), fds):
        s.send(hello())
    return answers(s)[-1:] == [ERROR]


def nothing_with_descriptors():
    """Empty packets: a hang-up each, and no descriptor stays with the daemon (attempts.bats counts)."""
    for _ in range(200):
        s = connection()
        fds = [os.open("/dev/null", os.O_RDONLY) for _ in range(4)]
        taken = sent_with(s, b"", fds)
        for fd in fds:
            os.close(fd)
        if taken and answers(s):
            return False
    return True


def forged_pid():
    s = connection()
    ids = struct.pack("=iII", 1, 0, 0)
    s.sendmsg([hello()], [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS, ids)])
    return False


def no_such(what):
    """Refused by the kernel: an OSError."""
    def attempt():
        try:
            what()
        except OSError:
            return True
        return False
    return attempt


def open_for(path, flags=os.O_RDONLY):
    return no_such(lambda: os.open(path, flags))


def text(kind, *lines):
    return packet(kind, "\n".join(lines).encode())


def replace_socket():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.bind(os.path.join(DIR, "socket2"))


def map_by_number():
    libc = ctypes.CDLL(None, use_errno=True)
    attributes = ctypes.create_string_buffer(struct.pack("=III", 1, 0, 0), 128)
    if libc.syscall(321 if os.uname().machine == "x86_64" else 280, 14, attributes, 128) < 0:
        raise OSError(ctypes.get_errno(), "bpf")


BEGIN = "job_id=mine"
ON_THE_SOCKET = {
    "a packet of 5 bytes": says(b"\1\2\3\4\5"),
    "another magic": says(packet(FETCH, bytes(8), magic=0x12345678)),
    "another version": says(packet(FETCH, bytes(8), version=99)),
    "an unknown type": says(packet(999)),
    "type 0": says(packet(0)),
    "more length than bytes": says(packet(FETCH, bytes(8), length=80)),
    "less length than bytes": says(packet(FETCH, bytes(8), length=4)),
    "a length of 4 GiB": says(packet(FETCH, bytes(8), length=0xFFFFFFFF)),
    "a packet beyond the limit": says(packet(JOB_LIST, b"x" * 66000)),
    "text beyond the limit": says(packet(JOB_LIST, b"a=b\n" * 12500)),
    "HELLO of another size": says(packet(HELLO, bytes(271))),
    "HELLO with a string without end": says(hello(world=b"x" * 256)),
    "HELLO of a process that is not traced": says(hello()),
    "HELLO with a negative rank": says(hello(rank=-1)),
    "HELLO with a rank beyond the size": says(hello(rank=7, size=7)),
    "HELLO in the name of root's world": says(hello(size=2, world=b"theirs")),
    "HELLO with ten descriptors": with_descriptors,
    "FETCH without HELLO": says(packet(FETCH, struct.pack("=II", os.getpid(), 0))),
    "FETCH in the name of another thread": says(packet(FETCH, struct.pack("=II", 1, 0))),
    "DONE without FETCH": says(packet(DONE, bytes(8 + 4096))),
    "DONE with a path without end": says(packet(DONE, bytes(8) + b"/" * 4096)),
    "DONE with another's log": says(packet(DONE, struct.pack("=II", 1, 0) + THEIR_LOG.encode().ljust(4096, b"\0"))),
    "the daemon's own HELLO_OK": says(packet(HELLO_OK, bytes(16))),
    "the daemon's own FETCH_OK": says(packet(FETCH_OK, bytes(24 + 4096))),
    "the daemon's own DONE_OK": says(packet(DONE_OK)),
    "the daemon's own ERROR": says(packet(ERROR, b"no")),
    "the daemon's own READY": says(packet(READY, bytes(4096 + 8))),
    "the daemon's own ENROLLED": says(packet(ENROLLED, bytes(8))),
    "the daemon's own JOB_OK": says(packet(JOB_OK)),
    "the daemon's own JOB_ENTRY": says(packet(JOB_ENTRY, b"job_id=theirs")),
    "ENROL before RUN_BEGIN": says(packet(ENROL, struct.pack("=iI", 1, 0))),
    "END before RUN_BEGIN": says(packet(END, struct.pack("=iI", 0, 0))),
    "a job without a name": says(text(JOB_BEGIN, "log_dir=/tmp")),
    "a job that traces process 1": says(text(JOB_BEGIN, BEGIN, "pid=1")),
    "an unknown key": says(text(JOB_BEGIN, BEGIN, "shell=/bin/sh")),
    "a key of the site": says(text(JOB_BEGIN, BEGIN, "show_privileged=yes")),
    "the spool's key": says(text(JOB_BEGIN, BEGIN, "spool_dir=/etc")),
    "a relative directory of logs": says(text(JOB_BEGIN, BEGIN, "log_dir=../../etc")),
    "a line without =": says(text(JOB_BEGIN, BEGIN, "uid")),
    "a NUL in the text": says(text(JOB_BEGIN, BEGIN, "user=a\0b")),
    "a variable without value": says(text(JOB_BEGIN, BEGIN, "match_env=X")),
    "a number that is none": says(text(JOB_BEGIN, BEGIN, "records=-1")),
    "the end of root's job": says(text(JOB_END, "job_id=theirs")),
    "the end of no job": says(text(JOB_END, "job_id=nobodys")),
    "a look at root's job": says(text(JOB_SHOW, "job_id=theirs")),
    "a try of a directory by root's power": says(text(JOB_CHECK, "uid=0", "log_dir=/etc")),
    "a window on root's job": says(text(JOB_TRACE, "job_id=theirs\nms=1000")),
    "the operations of root's job": says(text(JOB_PUBLISH, "job_id=theirs")),
}
BY_THE_KERNEL = {
    "200 empty packets with descriptors": nothing_with_descriptors,
    "credentials of process 1": no_such(forged_pid),
    "SIGKILL to the daemon": no_such(lambda: os.kill(DAEMON, signal.SIGKILL)),
    "SIGSTOP to the daemon": no_such(lambda: os.kill(DAEMON, signal.SIGSTOP)),
    "the daemon's memory": open_for(f"/proc/{DAEMON}/mem"),
    "the daemon's environment": open_for(f"/proc/{DAEMON}/environ"),
    "the daemon's descriptors": no_such(lambda: os.listdir(f"/proc/{DAEMON}/fd")),
    "the daemon's log": open_for(LOG_FILE),
    "the daemon's pid file for writing": open_for(os.path.join(DIR, "pid"), os.O_WRONLY),
    "a file in the daemon's directory": open_for(os.path.join(DIR, "x"), os.O_WRONLY | os.O_CREAT),
    "the socket taken away": no_such(lambda: os.unlink(os.path.join(DIR, "socket"))),
    "a socket beside it": no_such(replace_socket),
    "another user's log": open_for(THEIR_LOG),
    "a map by its number": no_such(map_by_number),
    "the pins": lambda: bool(PINS) and all(no_such(lambda p=p: os.listdir(p))() for p in PINS),
}
PINS = glob.glob("/sys/fs/bpf/ioscribe*")
LINKS = os.path.join(os.getcwd(), "links")  # the user's own directory
THEIRS = os.path.dirname(THEIR_LOG)


def request(kind, *lines):
    s = connection()
    s.send(text(kind, *lines))
    got = []
    while True:
        data = s.recv(70000)
        if len(data) < 16:
            return got
        kind = struct.unpack_from("=IHHII", data)[2]
        got.append((kind, data[16:]))
        if kind in (ERROR, JOB_OK, RESULT):
            return got


def log_to(key, path):
    """A job of one's own whose log shall go there: it has gone elsewhere, or stands beside what is root's."""
    def attempt():
        name = f"mine-{time.monotonic_ns()}"
        if request(JOB_BEGIN, f"job_id={name}", f"match_env=ZZ={name}", "log_layout=flat", f"{key}={path}")[-1][0] != JOB_OK:
            return False
        with open("mine", "w") as out:
            subprocess.run(["/bin/echo", "x"], env={"IOSCRIBE_ENABLE": "1", "ZZ": name}, stdout=out, check=True)
        said = request(JOB_END, f"job_id={name}", "deadline_s=60")
        logs = [p[:4096].split(b"\0")[0].decode() for k, p in said if k == LOG]
        return len(logs) == 1 and not os.path.realpath(logs[0]).startswith(THEIRS)
    return attempt


# One line in the log where the place is refused; root's files stay what they were.
LOGS = {
    "a log below a symbolic link to root's directory": (1, log_to("log_dir", os.path.join(LINKS, "directory"))),
    "a log in root's directory by ..": (1, log_to("log_dir", os.path.join(LINKS, "../../theirs"))),
    "a log below /proc's link to root's directory": (1, log_to("log_dir", f"/proc/{DAEMON}/root" + THEIRS)),
    "a log whose name is a symbolic link to root's file": (0, log_to("log_file", os.path.join(LINKS, "symbolic"))),
    "a log whose name is a hard link to root's file": (0, log_to("log_file", os.path.join(LINKS, "hard"))),
    "a log whose temporary name is a link to root's file": (0, log_to("log_file", os.path.join(LINKS, "new"))),
}


def make_links():
    os.mkdir(LINKS)
    os.symlink(THEIRS, os.path.join(LINKS, "directory"))
    for name in ("symbolic", "new_partial", "new.darshan_partial"):
        os.symlink(THEIR_LOG, os.path.join(LINKS, name))
    os.link(THEIR_LOG, os.path.join(LINKS, "hard"))  # as where the kernel does not protect hard links
    os.chown(LINKS, NOBODY, NOBODY)


def theirs():
    """Root's files: names, numbers, contents."""
    return sorted((e.name, e.inode(), open(e.path, "rb").read()) for e in os.scandir(THEIRS) if e.name != "file")


def lines():
    with open(LOG_FILE) as f:
        return sum(1 for line in f if line.startswith(("ioscribed: refused uid", "ioscribed: no place")))


def as_nobody(attempt):
    pid = os.fork()
    if pid == 0:
        code = 2
        try:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            code = 0 if attempt() else 1
        except Exception as e:  # a refusal in a way that was not thought of
            print(f"  {type(e).__name__}: {e}", flush=True)
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def flood():
    held = []
    for i in range(1500):
        held.append(connection())
        try:
            held[-1].send(b"noise" * (i % 9 + 1))
        except OSError:
            pass  # hung up already
        if len(held) == 100:
            for s in held:
                s.close()
            held = []
    return True


def main():
    if sys.argv[4:] == ["flood"]:
        sys.exit(as_nobody(flood))
    bad = done = 0
    make_links()
    before_all = theirs()
    tables = [{name: (1, attempt) for name, attempt in ON_THE_SOCKET.items()},
              {name: (0, attempt) for name, attempt in BY_THE_KERNEL.items()}, LOGS]
    for table in tables:
        for name, (new_lines, attempt) in table.items():
            if done % 100 == 99:
                time.sleep(10)  # the limit of lines is not what is tested here
            before = lines()
            code = as_nobody(attempt)
            end = time.monotonic() + 60
            while lines() < before + new_lines and time.monotonic() < end:
                time.sleep(0.05)
            more = lines() - before
            ok = code == 0 and more == new_lines
            print(f"{'refused' if ok else 'NOT REFUSED'}: {name}" + ("" if ok else f" (exit {code}, {more} lines)"))
            bad += not ok
            done += 1
    if theirs() != before_all:
        print("root's files have changed")
        bad += 1
    print(f"{done - bad} of {done} attempts refused")
    sys.exit(1 if bad or done < 30 else 0)


main()
