#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Clients that cost ioscribe serve something.

usage: bounds.py HOST:PORT TOKEN WHAT [...]
  slow             200 connections, which send a byte of a head or body now and then and come again when they are
                   closed, while somebody with the token asks
  endless-body     a body of chunks, until it is cut
  drops            a byte of a head at a time, without the token and after a request with it, until both are closed
  ask PATH         GET: the status, and the line of an error
"""
import json
import socket
import sys
import threading
import time
import urllib.error
import urllib.request

PLACE, TOKEN, WHAT = sys.argv[1:4]
HOST, PORT = PLACE.rsplit(":", 1)
HEAD = f"Host: {PLACE}\r\n"
SHOWN = HEAD + f"Authorization: Bearer {TOKEN}\r\n"


def ask(path):
    request = urllib.request.Request(f"http://{PLACE}{path}", headers={"Authorization": "Bearer " + TOKEN})
    try:
        with urllib.request.urlopen(request, timeout=100) as r:
            r.read()
            return str(r.status)
    except urllib.error.HTTPError as e:
        return f"{e.code} {json.load(e)['error']}"


def connect():
    return socket.create_connection((HOST, int(PORT)), timeout=100)


BEGINNINGS = [
    "",
    f"GET / HTTP/1.1\r\n{HEAD}X: ",
    f"GET /api/questions HTTP/1.1\r\n{HEAD}Content-Length: 60000\r\n\r\n",
    f"GET /page HTTP/1.1\r\n{HEAD}Content-Length: 60000\r\n\r\n",
]


def slow(over):
    them = [None] * 200
    while not over.is_set():
        for i, s in enumerate(them):
            try:
                if s is None:
                    them[i] = s = connect()
                    s.setblocking(False)
                    s.sendall(BEGINNINGS[i % len(BEGINNINGS)].encode())
                else:
                    s.sendall(b"x")
            except BlockingIOError:
                pass
            except OSError:
                s.close()
                them[i] = None
        over.wait(0.1)


if WHAT == "slow":
    stop = threading.Event()
    thread = threading.Thread(target=slow, args=(stop,), daemon=True)
    thread.start()
    time.sleep(1)
    answered = 0
    try:
        for _ in range(10):
            answered += ask("/api/questions") == "200"
    except OSError as e:
        print(e)
    stop.set()
    print(answered, "answered")
elif WHAT == "endless-body":
    c = connect()
    c.sendall(f"GET /api/questions HTTP/1.1\r\n{SHOWN}Transfer-Encoding: chunked\r\n\r\n".encode())
    try:
        for _ in range(4096):
            c.sendall(b"10000\r\n" + b"x" * 65536 + b"\r\n")
        print("it takes all of them")
    except OSError:
        print("cut")
elif WHAT == "drops":
    left = [connect(), connect()]
    left[1].sendall(f"GET /api/questions HTTP/1.1\r\n{SHOWN}\r\n".encode())
    assert left[1].recv(65536).startswith(b"HTTP/1.1 200")
    for c in left:
        c.sendall(f"GET /api/questions HTTP/1.1\r\n{HEAD}X: ".encode())
    end = time.monotonic() + 100
    while left and time.monotonic() < end:
        time.sleep(0.5)
        for c in list(left):
            try:
                c.sendall(b"x")
            except OSError:
                left.remove(c)
    print(f"{len(left)} go on" if left else "closed")
elif WHAT == "ask":
    print(ask(sys.argv[4]))
