#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A user who takes what there is, for limits.bats (as root; acts as UID).

usage: limits.py DIR UID deaf N          N connections ask and never take an answer
       limits.py DIR UID hold N COMMAND  N connections are made and held while COMMAND runs (as root);
                                         prints how many came in, and what the others were told
       limits.py DIR UID silent          one connection that says nothing: prints "closed" when it is
"""
import collections
import os
import resource
import socket
import struct
import subprocess
import sys

MAGIC, VERSION, ERROR, JOB_LIST = 0x62637369, 1, 1, 66
DIR, UID, WHAT = sys.argv[1], int(sys.argv[2]), sys.argv[3]


def connection():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    # waits where the backlog is full, as connect() of a socket with a timeout does not
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 60, 0))
    s.connect(os.path.join(DIR, "socket"))
    s.settimeout(60)
    return s


def ask(s):
    s.send(struct.pack("=IHHII", MAGIC, VERSION, JOB_LIST, 0, 0))


def deaf(n):
    held = [connection() for _ in range(n)]
    for s in held:
        s.setblocking(False)
        try:
            while True:
                ask(s)
        except BlockingIOError:
            pass
        except OSError:
            pass  # hung up already
    print("deaf", flush=True)
    sys.stdin.read()


def answer(s):
    data = s.recv(70000)
    if len(data) < 16:
        return "hung up"
    kind = struct.unpack_from("=IHHII", data)[2]
    return data[16:].decode() if kind == ERROR else "served"


def hold(n):
    told, held = collections.Counter(), []
    for _ in range(n):
        s = connection()
        held.append(s)
        try:
            ask(s)
            told[answer(s)] += 1
        except OSError:
            told[answer(s)] += 1  # it was told before it could ask
    for text, count in sorted(told.items()):
        print(f"{count} {text}", flush=True)
    return held


def silent():
    s = connection()
    print("closed" if s.recv(100) == b"" else "told something")


def main():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 16384), hard))
    os.setegid(UID)
    os.seteuid(UID)  # the kernel notes the effective ids when it connects
    if WHAT == "deaf":
        deaf(int(sys.argv[4]))
    elif WHAT == "hold":
        held = hold(int(sys.argv[4]))
        os.seteuid(0)
        os.setegid(0)
        code = subprocess.run(sys.argv[5:]).returncode if sys.argv[5:] else 0
        del held
        sys.exit(code)
    else:
        silent()


main()
