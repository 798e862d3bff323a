#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random and mutated messages against a running service.

usage: pester.py DIR UID SECONDS [SEED]      (as root; acts as UID)

Several connections at a time, right conversations cut, repeated, reordered, with
bytes turned, with descriptors, left without a word. Jobs named p0 to p3 are the
pesterer's own. Prints what was said and how often the daemon answered.
"""
import array
import os
import random
import socket
import struct
import sys
import time

MAGIC, VERSION = 0x62637369, 1
HELLO, FETCH, DONE, STREAMS = 2, 4, 6, 9
RUN_BEGIN, ENROL, END = 32, 34, 36
JOB_BEGIN, JOB_END, JOB_LIST, JOB_SHOW, JOB_TRACE, JOB_CHECK, JOB_PUBLISH = 64, 65, 66, 67, 68, 71, 80
DIR, UID, SECONDS = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
SEED = int(sys.argv[4]) if sys.argv[4:] else random.randrange(1 << 30)
LINES = [b"job_id=p0", b"job_id=p1", b"job_id=p2", b"job_id=p3", b"job_id=known", b"uid=0", b"match_env=PP=1",
         b"deadline_s=0", b"deadline_s=1", b"last_node=1", b"nodes=2", b"node=0", b"pid=1", b"records=20", b"cgroup=/",
         b"log_dir=/nowhere", b"log_file=/nowhere/x.darshan", b"collective=no", b"opt_out=yes", b"exclude=/tmp/"]


def payload(kind, rng):
    if kind == HELLO:
        return struct.pack("=iiII", rng.randrange(-1, 4), rng.randrange(5), os.getpid(), rng.randrange(3)) + bytes(256)
    if kind == FETCH:
        return struct.pack("=II", os.getpid(), 0)
    if kind == DONE:
        return struct.pack("=II", rng.randrange(2), 0) + b"/nowhere".ljust(4096, b"\0")
    if kind == STREAMS:
        return struct.pack("=IIQ", rng.randrange(4), 0, time.monotonic_ns())
    if kind in (ENROL, END):
        return struct.pack("=iI", rng.choice([1, os.getpid(), -1]), rng.randrange(3000))
    return b"\n".join(rng.choice(LINES) for _ in range(rng.randrange(6)))


def message(rng):
    kind = rng.choice([HELLO, FETCH, DONE, STREAMS, RUN_BEGIN, ENROL, END, JOB_BEGIN, JOB_BEGIN, JOB_END, JOB_LIST,
                       JOB_SHOW, JOB_TRACE, JOB_CHECK, JOB_PUBLISH, rng.randrange(82)])
    body = payload(kind, rng)
    data = bytearray(struct.pack("=IHHII", MAGIC, VERSION, kind, 0, len(body)) + body)
    for _ in range(rng.choice([0, 0, 0, 1, 3])):
        data[rng.randrange(len(data))] = rng.randrange(256)
    if rng.randrange(8) == 0:
        del data[rng.randrange(len(data)):]
    return bytes(data)


def say(s, data, rng):
    fds = []
    if rng.randrange(6) == 0:
        kinds = [lambda: os.memfd_create("p"), lambda: os.open("/dev/null", os.O_RDONLY), lambda: os.dup(s.fileno())]
        fds = [rng.choice(kinds)() for _ in range(rng.randrange(1, 5))]
    control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    try:
        s.sendmsg([data], control)
    finally:
        for fd in fds:
            os.close(fd)


def main():
    rng = random.Random(SEED)
    os.setgroups([])
    os.setresgid(UID, UID, UID)
    os.setresuid(UID, UID, UID)
    held, said, heard = [], 0, 0
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if len(held) < 8 or rng.randrange(10) == 0:
            s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            s.connect(os.path.join(DIR, "socket"))
            s.setblocking(False)
            held.append(s)
        s = rng.choice(held)
        try:
            data = message(rng)
            for _ in range(rng.choice([1, 1, 1, 2, 5])):
                say(s, data, rng)
                said += 1
            if rng.randrange(3):
                heard += len(s.recv(70000)) > 0
        except BlockingIOError:
            pass
        except OSError:
            held.remove(s)  # hung up
            s.close()
        while len(held) > 64:
            held.pop(rng.randrange(len(held))).close()
    print(f"seed {SEED}: {said} messages, {heard} answers")
    sys.exit(said < 100)


main()
