# SPDX-License-Identifier: BSD-3-Clause
"""A program that executes another one, which takes as long as a file system wants, and has the service ask who it is.

Usage: slow_exec.py PAGE SOCKET GO. Prints a line when a page of PAGE is dirty; goes on when GO exists. A child of it
sends 20 messages over connections of the process that is in exec.
"""
import mmap
import os
import socket
import struct
import sys
import time

RUN_REATTACH = 39

page, to, go = sys.argv[1:]
connections = []
for _ in range(20):
    connections.append(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
    connections[-1].connect(to)
if os.fork() == 0:
    while not os.path.exists(go):
        time.sleep(0.01)
    time.sleep(0.3)
    for s in connections:
        s.send(struct.pack("=IHHII", 0x62637369, 1, RUN_REATTACH, 0, 0))
        time.sleep(0.1)
    os._exit(0)
memory = mmap.mmap(os.open(page, os.O_RDWR), 4096)
memory[0] = 1
print("dirty", flush=True)
while not os.path.exists(go):
    time.sleep(0.01)
os.execv("/bin/true", ["true"])
