#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# A store's socket and several users: whose a message is, and how many connections a user has.
load ../trace/helper
load ../harness/wait.bash

# send UID COMMAND-OF-PYTHON: as that user, `connect` at hand; what comes on standard input is `text`.
send() {
  setpriv --reuid "$1" --regid "$1" --clear-groups python3 -c '
import socket, sys
def connect():
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(60)
    s.connect(sys.argv[1])
    return s
def tell(s, text):
    s.sendall(text)
    s.shutdown(socket.SHUT_WR)
    s.recv(1) # until it has been read
text = sys.stdin.buffer.read()
exec(sys.argv[2])
' "$T/s" "$2"
}

message() { # JOB UID
  echo "{\"job_id\":$1,\"uid\":$2,\"rank\":0,\"record_id\":5,\"module\":\"POSIX\",\"op\":\"write\",\"seg\":[{\"timestamp\":1795220074.5,\"len\":7}]}"
}

are_jobs() {
  [ "$(sqlite3 "$T/db.sqlite" "SELECT job_id, uid FROM job ORDER BY job_id" 2>/dev/null | tr '\n' ' ')" = "$1" ]
}

begin() { # OPTIONS...
  chmod 711 "$T"
  (
    umask 0
    exec "$IOSCRIBE" store --db "$T/db.sqlite" "$@" "unix:$T/s" >"$T/out" 2>"$T/err" 3>&-
  ) &
  STORE=$!
  until_true test -S "$T/s"
}

finish() {
  kill -TERM "$STORE"
  wait "$STORE" || true
}

@test "the kernel says whose a message is; root and --stream-user speak for all" {
  local sample='{"schema":"ioscribe_node","ProducerName":"n","timestamp":1795220074.5,"values":{"x":1}}'
  begin --stream-user 4003
  message 1 7 | send 4001 'tell(connect(), text)'
  message 2 7 | send 4003 'tell(connect(), text)'
  message 3 7 | send 0 'tell(connect(), text)'
  until_true are_jobs "1|4001 2|7 3|7 "
  echo "$sample" | send 4001 'tell(connect(), text)'
  echo "$sample" | send 4003 'tell(connect(), text)'
  finish
  grep -qF ": no message: a sample of a node, of user 4001" "$T/err"
  [ "$(wc -l <"$T/err")" -eq 1 ]
  [ "$(sqlite3 "$T/db.sqlite" 'SELECT count(*) FROM node_load')" = 1 ]
  ! "$IOSCRIBE" store --db "$T/db.sqlite" --stream-user no-user-of-that-name /dev/null 2>"$T/err" || return 1
  grep -qF -- "--stream-user: 'no-user-of-that-name' is no user" "$T/err"
}

@test "a user has at most 32 connections, and others are answered" {
  begin
  message 1 7 >"$T/1"
  send 4001 '
kept = [connect() for _ in range(200)]
for s in kept:
    s.setblocking(False)
def is_open(s):
    try:
        return s.recv(1) != b""
    except BlockingIOError:
        return True
    except ConnectionResetError:
        return False
while len(kept) > 32:
    kept = [s for s in kept if is_open(s)]
assert len(kept) == 32, len(kept)
kept[0].settimeout(60)
tell(kept[0], text)
' <"$T/1"
  message 2 7 | send 4002 'tell(connect(), text)'
  until_true are_jobs "1|4001 2|4002 "
  finish
  [ ! -s "$T/err" ]
}
