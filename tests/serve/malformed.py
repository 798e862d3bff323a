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


def post(path, body, head=US + AUTH, length=None):
    body = body if isinstance(body, bytes) else body.encode()
    return f"POST {path} HTTP/1.1\r\n{head}Content-Length: {len(body) if length is None else length}\r\n\r\n".encode() + body


REQUESTS = {
    # who may ask
    "no token": (get("/", US), 401),
    "wrong token": (get("/", US + AUTH.replace("Bearer ", "Bearer x")), 401),
    "token cut": (get("/", US + AUTH[:-3] + "\r\n"), 401),
    "token with more": (get("/", US + AUTH[:-2] + "0\r\n"), 401),
    "no scheme": (get("/", US + AUTH.replace("Bearer ", "")), 401),
    "basic": (get("/", US + "Authorization: Basic eDp5\r\n"), 401),
    "no token, post": (post("/query", '{"targets":[]}', US), 401),
    "other origin": (get("/", US + AUTH + "Origin: http://evil.example\r\n"), 403),
    "null origin": (get("/", US + AUTH + "Origin: null\r\n"), 403),
    "other port's origin": (get("/", US + AUTH + f"Origin: http://{HOST}:1\r\n"), 403),
    "other origin, page": (get("/page", US + "Origin: http://evil.example\r\n"), 403),
    "preflight": (get("/query", US + "Origin: http://evil.example\r\nAccess-Control-Request-Method: POST\r\n", "OPTIONS"), 403),
    "other host": (get("/", "Host: evil.example\r\n" + AUTH), 403),
    "host like ours": (get("/", f"Host: 127.0.0.1.evil.example:{PORT}\r\n" + AUTH), 403),
    "no host": (get("/", AUTH), 400),
    # methods and paths
    "put": (get("/", method="PUT"), 405),
    "delete": (get("/api/ask?question=jobs", method="DELETE"), 405),
    "odd method": (get("/", method="BREW"), 405),
    "no such path": (get("/none"), 404),
    "out of the page": (get("/page/../../etc/passwd"), 404),
    "escaped": (get("/page/%2e%2e/%2e%2e/etc/passwd"), 404),
    "page posted": (post("/page", ""), 404),
    "long path": (get("/" + "x" * 70000), 414),
    "large head": (get("/", US + AUTH + "X: " + "y" * 70000 + "\r\n"), 431),
    # requests that are none
    "text": (b"this is no HTTP\r\n\r\n", 400),
    "no version": (get("/", version=""), 400),
    "version 9": (get("/", version="HTTP/9.9"), 505),
    "binary": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 0),  # the hello of TLS: closed
    "length of letters": (post("/query", "{}", length="abc"), 400),
    "negative length": (post("/query", "{}", length=-5), 400),
    "huge length": (post("/query", "{}", length="9" * 30), 413),
    "bad chunk": (b"POST /query HTTP/1.1\r\n" + (US + AUTH).encode() + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
    # bodies
    "large body": (post("/query", '{"a":"' + "x" * 70000 + '"}'), 413),
    "no JSON": (post("/query", "{"), 400),
    "a list": (post("/query", "[]"), 400),
    "nothing": (post("/query", ""), 400),
    "NUL": (post("/query", b'{"targets":[]}\0'), 400),
    "no UTF-8": (post("/query", b'{"targets":[{"target":"\xff\xfe"}]}'), 400),
    "deep": (post("/query", '{"targets":' + "[" * 30000 + "]" * 30000 + "}"), 400),
    "no targets": (post("/query", '{"range":{}}'), 400),
    "targets are a number": (post("/query", '{"targets":3}'), 400),
    "a target is a number": (post("/query", '{"targets":[3]}'), 400),
    "65 targets": (post("/query", '{"targets":[' + ",".join(['{"target":"jobs"}'] * 65) + "]}"), 400),
    "no such question": (post("/query", '{"targets":[{"target":"none"}]}'), 404),
    "a path as question": (post("/query", '{"targets":[{"target":"../jobs"}]}'), 400),
    "SQL as job": (post("/query", '{"targets":[{"target":"nodes","payload":{"job":"1; DROP TABLE event"}}]}'), 400),
    "job missing": (post("/query", '{"targets":[{"target":"nodes"}]}'), 400),
    "job too large": (post("/query", '{"targets":[{"target":"nodes","payload":{"job":1e400}}]}'), 400),
    "no such metric": (post("/query", '{"targets":[{"target":"over_time","payload":{"job":5001,"metric":"x"}}]}'), 400),
    "no such variable": (post("/variable", '{"payload":{"target":"x"}}'), 400),
    "no such tag": (post("/tag-values", "{}"), 400),
    # arguments
    "no question": (get("/api/ask"), 400),
    "question of the other kind": (get("/api/ask?question=%2e%2e%2fjobs"), 400),
    "question with NUL": (get("/api/ask?question=jobs%00x&job"), 200),
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
    s.sendall(b"POST /query HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf")
if status_of(get("/")) != 200:
    print("it does not answer any more")
    bad += 1
print(f"{sum(want >= 400 for _, want in REQUESTS.values())} refused" if not bad else f"{bad} not as expected")
sys.exit(bad > 0)
