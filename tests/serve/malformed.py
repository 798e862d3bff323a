#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Malformed and forbidden requests to ioscribe serve: each gets an HTTP error, and the server goes on.

usage: malformed.py HOST:PORT TOKEN        prints "N refused", or what was not
"""
import socket
import sys

HOST, PORT = sys.argv[1].rsplit(":", 1)
AUTH = f"Authorization: Bearer {sys.argv[2]}\r\n"
US = f"Host: {sys.argv[1]}\r\n"


def get(path, head=US + AUTH, method="GET", version="HTTP/1.1"):
    return f"{method} {path} {version}\r\n{head}\r\n".encode("latin-1")


def body(length, path="/api/questions", head=US + AUTH, sent=b"{}"):
    return get(path, f"{head}Content-Length: {length}\r\n") + sent


REQUESTS = {
    # who may ask
    "no token": (get("/api/questions", US), 401),
    "wrong token": (get("/api/questions", US + AUTH.replace("Bearer ", "Bearer x")), 401),
    "token cut": (get("/api/questions", US + AUTH[:-3] + "\r\n"), 401),
    "token with more": (get("/api/questions", US + AUTH[:-2] + "0\r\n"), 401),
    "no scheme": (get("/api/questions", US + AUTH.replace("Bearer ", "")), 401),
    "basic": (get("/api/questions", US + "Authorization: Basic eDp5\r\n"), 401),
    "other origin": (get("/api/questions", US + AUTH + "Origin: http://evil.example\r\n"), 403),
    "null origin": (get("/api/questions", US + AUTH + "Origin: null\r\n"), 403),
    "other port's origin": (get("/api/questions", US + AUTH + f"Origin: http://{HOST}:1\r\n"), 403),
    "other origin, page": (get("/page", US + "Origin: http://evil.example\r\n"), 403),
    "preflight": (get("/api/ask", US + "Origin: http://evil.example\r\nAccess-Control-Request-Method: POST\r\n", "OPTIONS"), 403),
    "other host": (get("/api/questions", "Host: evil.example\r\n" + AUTH), 403),
    "host like ours": (get("/api/questions", f"Host: 127.0.0.1.evil.example:{PORT}\r\n" + AUTH), 403),
    "no host": (get("/api/questions", AUTH), 400),
    # methods and paths
    "post": (get("/api/questions", US + AUTH + "Content-Length: 2\r\n", "POST") + b"{}", 405),
    "page posted": (get("/page", method="POST"), 405),
    "put": (get("/api/questions", method="PUT"), 405),
    "delete": (get("/api/ask?question=jobs", method="DELETE"), 405),
    "odd method": (get("/api/questions", method="BREW"), 405),
    "no such path": (get("/none"), 404),
    "out of the page": (get("/page/../../etc/passwd"), 404),
    "escaped": (get("/page/%2e%2e/%2e%2e/etc/passwd"), 404),
    "the root": (get("/"), 404),
    "long path": (get("/" + "x" * 70000), 414),
    "large head": (get("/api/questions", US + AUTH + "X: " + "y" * 70000 + "\r\n"), 431),
    # requests that are none
    "text": (b"this is no HTTP\r\n\r\n", 400),
    "no version": (get("/api/questions", version=""), 400),
    "version 9": (get("/api/questions", version="HTTP/9.9"), 505),
    "binary": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 0),  # the hello of TLS: closed
    "length of letters": (body("abc"), 400),
    "negative length": (body(-5), 400),
    "huge length": (body("9" * 30), 413),
    "a body": (body(2), 413),
    "a body of none": (body(0, sent=b""), 200),
    "a body for the page": (body(2, "/page", US), 413),
    "chunks": (get("/api/questions", US + AUTH + "Transfer-Encoding: chunked\r\n") + b"2\r\n{}\r\n0\r\n\r\n", 413),
    "bad chunk": (get("/api/questions", US + AUTH + "Transfer-Encoding: chunked\r\n") + b"zz\r\n", 413),
    # arguments
    "no question": (get("/api/ask"), 400),
    "question of the other kind": (get("/api/ask?question=%2e%2e%2fjobs"), 400),
    "question with NUL": (get("/api/ask?question=jobs%00x&job"), 200),
    "no such question": (get("/api/ask?question=none"), 404),
    "SQL as job": (get("/api/ask?question=nodes&job=1%3B%20DROP%20TABLE%20event"), 400),
    "job missing": (get("/api/ask?question=nodes"), 400),
    "job too large": (get("/api/ask?question=nodes&job=1e400"), 400),
    "no number": (get("/api/ask?question=nodes&job=0x5"), 400),
    "limit of letters": (get("/api/ask?question=jobs&limit=all"), 400),
    "long value": (get("/api/ask?question=runs&exe=" + "x" * 5000), 400),
}


def status_of(request):
    with socket.create_connection((HOST, int(PORT)), timeout=60) as s:
        try:
            s.sendall(request)
            s.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it has answered before it read all
        got = b""
        try:
            while b"\r\n" not in got:
                more = s.recv(4096)
                if not more:
                    break
                got += more
        except OSError:
            pass
    words = got.split(b" ", 2)
    return int(words[1]) if len(words) > 1 and words[0].startswith(b"HTTP/1.") else 0


bad = 0
for name, (request, want) in REQUESTS.items():
    got = status_of(request)
    if got != want:
        print(f"{name}: status {got}, not {want}")
        bad += 1
# and half of a request, left alone by its sender, harms nobody
left = [socket.create_connection((HOST, int(PORT)), timeout=60) for _ in range(20)]
for s in left:
    s.sendall(b"GET /api/questions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf")
if status_of(get("/api/questions")) != 200:
    print("it does not answer any more")
    bad += 1
print(f"{sum(want >= 400 for _, want in REQUESTS.values())} refused" if not bad else f"{bad} not as expected")
sys.exit(bad > 0)
