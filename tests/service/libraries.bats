#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Libraries of a user's: files that are made to harm whoever reads them, directories to
# search without end, things in them that are no files. The service answers all the while,
# is the same process afterwards, and has opened nothing that the user could not.
load helper

# many_symbols FILE: 300,000 symbols with one name of 200 kB
many_symbols() {
  python3 - "$1" <<'P'
import struct, sys
n, name = 300000, b"\0" + b"a" * 200000 + b"\0"
symbols = b"\0" * 24 + struct.pack("<IBBHQQ", 1, 0x12, 0, 1, 0x1000, 16) * n
at = 64 + 56 + 64 * 3
sections = b"\0" * 64
sections += struct.pack("<IIQQQQIIQQ", 0, 11, 2, 0, at, len(symbols), 2, 1, 8, 24)
sections += struct.pack("<IIQQQQIIQQ", 0, 3, 2, 0, at + len(symbols), len(name), 0, 0, 1, 0)
head = b"\x7fELF\2\1\1" + b"\0" * 9 + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 120, 0, 64, 56, 1, 64, 3, 0)
load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 0x2000, 0x2000, 4096)
open(sys.argv[1], "wb").write(head + load + sections + symbols + name)
P
}

# Milliseconds that an answer takes.
answer_ms() {
  local from=$(date +%s%N)
  timeout 20 "$IOSCRIBE" job list >/dev/null || return 1
  echo $((($(date +%s%N) - from) / 1000000))
}

# programs N PATH-LIST: nobody executes a fresh program so often, with these directories
programs() {
  user env JOBX=1 IOSCRIBE_ENABLE=1 "LD_LIBRARY_PATH=$2" sh -c '
    for i in $(seq '"$1"'); do cp /bin/true ./true.$i; ./true.$i; done; echo x >done.1' 3>&-
}

begin() {
  serve
  job begin --job-id 1 --uid 65534 --match-env JOBX=1
}

still_there() {
  kill -0 "$DAEMON"
  log=$(job end 1)
  [ "$(value "$log" POSIX_BYTES_WRITTEN '/done\.1$')" -ge 2 ]
}

@test "a library of 300,000 symbols with a name of 200 kB" {
  begin
  mkdir "$T/lib"
  many_symbols "$T/lib/libmpi.so.12"
  chown -R 65534 "$T/lib"
  programs 1 "$T/lib"
  ms=$(answer_ms)
  echo "answered after $ms ms"
  [ "$ms" -lt 1500 ]
  still_there
}

@test "libraries that are cut short while they are read" {
  begin
  mkdir "$T/lib"
  chown 65534 "$T/lib"
  many_symbols "$T/full"
  setpriv --reuid=65534 --regid=65534 --clear-groups sh -c "cd $T/lib; while :; do for i in 1 2 3; do cp $T/full libmpi.so.\$i; : >libmpi.so.\$i; rm libmpi.so.\$i; done; done" 3>&- &
  echo $! >>"$T/pids"
  for i in 1 2 3 4 5 6; do
    programs 5 "$T/lib:$T/./lib$i"
  done
  kill -0 "$DAEMON"
  still_there
}

@test "one directory of 500 libraries, 7,500 times" {
  begin
  mkdir "$T/lib"
  for i in $(seq 500); do : >"$T/lib/libmpi.so.$i"; done
  chown -R 65534 "$T/lib"
  programs 2 "$(for i in $(seq 3500); do printf '%s:' "$T/lib"; done)"
  ms=$(answer_ms)
  echo "answered after $ms ms"
  [ "$ms" -lt 1500 ]
  still_there
}

@test "a pipe of root's behind a library's name is not opened" {
  begin
  mkdir -m 700 "$T/roots"
  mkfifo "$T/roots/libmpi.so.12" "$T/roots/libhdf5.so.103"
  sh -c ": >$T/roots/libmpi.so.12; : >$T/released" 3>&- &
  echo $! >>"$T/pids"
  programs 2 "$T/roots:$T/roots/libmpi.so.12"
  job list >/dev/null
  [ ! -e "$T/released" ]
  # nor one of the user's own
  user mkfifo "$T/w/libmpi.so.12"
  setpriv --reuid=65534 --regid=65534 --clear-groups \
    sh -c ": >$T/w/libmpi.so.12; : >$T/w/released" 3>&- &
  echo $! >>"$T/pids"
  programs 2 "$T/w"
  job list >/dev/null
  [ ! -e "$T/w/released" ]
  still_there
}

@test "a directory of libraries whose server does not answer" {
  late_fs
  begin
  kill -STOP "$FS"
  programs 1 "$T/fs/real" &
  echo $! >>"$T/pids"
  longest=0
  for i in $(seq 30); do
    ms=$(answer_ms)
    [ "$ms" -le "$longest" ] || longest=$ms
    sleep 0.05
  done
  echo "longest wait for an answer: $longest ms"
  [ "$longest" -lt 900 ]
  kill -0 "$DAEMON"
  kill -KILL "$FS"
  umount -l "$T/fs"
}

@test "who reads what users wrote may read, and nothing else" {
  begin
  programs 1 /lib
  job list >/dev/null
  checked=0
  for pid in $(pgrep -u 65534 -x ioscribed-hand); do
    [ "$(awk '$1 == "Seccomp_filters:" { print $2 }' "/proc/$pid/status")" -ge 2 ]
    [ "$(awk '$1 == "CapEff:" { print $2 }' "/proc/$pid/status")" = 0000000000000000 ]
    checked=$((checked + 1))
  done
  [ "$checked" -ge 2 ]
  still_there
}
