#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Listens at a socket, accepts nobody, and fills its queue: whoever connects next waits. PATH.full says that it is so.

usage: full_socket.py PATH
"""
import os
import socket
import sys
import time

path = sys.argv[1]
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
os.chmod(path, 0o777)
listener.listen(0)
waiting = []
try:
    while True:
        waiting.append(socket.socket(socket.AF_UNIX))
        waiting[-1].setblocking(False)
        waiting[-1].connect(path)
except BlockingIOError:
    open(path + ".full", "w").close()
time.sleep(300)
