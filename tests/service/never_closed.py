# SPDX-License-Identifier: BSD-3-Clause
"""Messages with a descriptor of a file whose server never answers a close.

Usage: never_closed.py DIR SOCKET. Sends to SOCKET as nobody, says how many were taken, and
waits for its standard input to end; then the server ends, which lets all go who wait for it.
"""
import array
import fcntl
import os
import socket
import stat
import struct
import sys
import threading

import fusepy as fuse

MESSAGES = 20
NOBODY = 65534


class Tree(fuse.Operations):
    def getattr(self, path, fh=None):
        if path == "/":
            return {"st_mode": stat.S_IFDIR | 0o755, "st_nlink": 2}
        return {"st_mode": stat.S_IFREG | 0o666, "st_nlink": 1, "st_size": 7}

    def open(self, path, flags):
        return 1

    def flush(self, path, fh):
        threading.Event().wait()


def serve(where):
    fuse.FUSE(Tree(), where, foreground=True, allow_other=True)


def send(where, to):
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    taken = 0
    held = []
    for i in range(MESSAGES):
        held.append(os.open(f"{where}/{i}", os.O_RDONLY))
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.connect(to)
        # that asks for memory, one that asks for a list, and nothing at all
        message = (struct.pack("<4sHHIIIIQ", b"iscb", 1, 12, 0, 16, i, 0, 1), struct.pack("<4sHHII", b"iscb", 1, 66, 0, 0), b"")[i % 3]
        try:
            s.sendmsg([message], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", held[-1:]))])
            taken += 1
        except PermissionError:  # Linux 6.16 and newer
            pass
        held.append(s)
    print(taken, flush=True)
    sys.stdin.read()


def main():
    where, to = sys.argv[1:]
    server = os.fork()
    if server == 0:
        os.setpgid(0, 0)
        serve(where)
        os._exit(0)
    while not os.path.ismount(where):
        pass
    sender = os.fork()
    if sender == 0:
        send(where, to)
        os._exit(0)  # waits for the server, as whoever closes these files
    sys.stdin.read()
    os.kill(server, 9)
    os.waitpid(server, 0)
    os.waitpid(sender, 0)


main()
