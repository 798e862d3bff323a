#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# STDIO counted inside the program, in memory shared with the daemon.
load helper

totals() {
  [ "$status" -eq 0 ]
  one_log
  expect '/writes$' STDIO_OPENS=2 STDIO_FDOPENS=0 STDIO_FLUSHES=2 STDIO_SEEKS=6 STDIO_WRITES="${1:-17}" STDIO_READS=9 \
    STDIO_BYTES_WRITTEN=71355 STDIO_BYTES_READ=611 STDIO_MAX_BYTE_WRITTEN=71334 STDIO_MAX_BYTE_READ=71334
  expect '/threads$' STDIO_OPENS=1 STDIO_WRITES=8000 STDIO_BYTES_WRITTEN=64000 STDIO_MAX_BYTE_WRITTEN=63999
  expect '/forked$' STDIO_OPENS=1 STDIO_WRITES=5 STDIO_BYTES_WRITTEN=50 STDIO_FLUSHES=2 STDIO_SEEKS=0 \
    STDIO_MAX_BYTE_WRITTEN=49
  expect '/fdopened$' STDIO_OPENS=1 STDIO_FDOPENS=1 STDIO_WRITES=1 STDIO_BYTES_WRITTEN=9 POSIX_OPENS=1 POSIX_WRITES=0
  expect '/first$' STDIO_OPENS=1 STDIO_BYTES_WRITTEN=1
  expect '/second$' STDIO_OPENS=1 STDIO_BYTES_WRITTEN=2 POSIX_FSYNCS=1 POSIX_OPENS=0 POSIX_WRITES=0
  expect '/by_exit$' STDIO_OPENS=1 STDIO_WRITES=1 STDIO_BYTES_WRITTEN=4
  expect '^'"$T/w/" POSIX_OPENS=1 POSIX_READS=0 POSIX_WRITES=0 POSIX_BYTES_WRITTEN=0
  expect '' LEDGER_LIB_DROPPED=0 LEDGER_LIB_UNKNOWN=0
}

@test "every call is counted, plain and fortified" {
  library_copy libc.so.6
  trace stdio "$PROG/stdio_calls"
  totals
  rm ./*
  trace stdio "$LIBPROG/stdio_calls_fortified"
  totals
}

@test "standard streams, messages, wide characters, words, gets" {
  library_copy libc.so.6
  families "$PROG/stdio_families" inside
  rm ./*
  families "$LIBPROG/stdio_families_fortified" inside
}

@test "fork, vfork, raw clone and SIGKILL in the middle of a stream; many streams, 320 threads, exec" {
  library_copy libc.so.6
  trace stdio "$PROG/stdio_forks"
  forks
  expect '/forks$' STDIO_WRITES=9
  expect '/threads$' STDIO_WRITES=32000
}

@test "killed in the middle of its calls: what it did until then is there, once" {
  library_copy libc.so.6
  cat >"$T/kill.sh" <<'X'
"$1" fputc 2000000000 putc >/dev/null &
pid=$!
for i in $(seq 1200); do
  [ "$(stat -c %s putc 2>/dev/null || echo 0)" -ge 1000000 ] && break
  sleep 0.05
done
kill -KILL $pid
wait $pid
[ $? -eq 137 ]
X
  trace stdio bash "$T/kill.sh" "$PROG/stdio_speed"
  [ "$status" -eq 0 ]
  one_log
  size=$(stat -c %s putc)
  [ "$size" -ge 1000000 ]
  writes=$(counter STDIO_WRITES '/putc$')
  echo "wrote $writes, of which the file has $size"
  # the file lacks what was in the stream's buffer
  [ "$writes" -ge "$size" ]
  [ "$writes" -le $((size + 4096)) ]
  expect '/putc$' STDIO_OPENS=1 STDIO_BYTES_WRITTEN="$writes" POSIX_WRITES=0
}

@test "killed half way through counting a call: the call is not there, the others are" {
  library_copy libc.so.6
  trace stdio "$PROG/stdio_half"
  [ "$status" -eq 137 ]
  one_log
  expect '/half$' STDIO_OPENS=1 STDIO_WRITES=3 STDIO_BYTES_WRITTEN=30 STDIO_FLUSHES=1 STDIO_MAX_BYTE_WRITTEN=29
}

@test "ranks fetch theirs at MPI_Finalize; what comes afterwards is added" {
  library_copy libc.so.6
  trace stdio mpiexec.mpich -n 2 "$IOSCRIBE_BUILD/tests/mpi/mpich/mpi_stdio" s
  [ "$status" -eq 0 ]
  one_log
  expect '/s.0$' STDIO_OPENS=1 STDIO_WRITES=15 STDIO_BYTES_WRITTEN=150 STDIO_MAX_BYTE_WRITTEN=149
  expect '/s.1$' STDIO_OPENS=1 STDIO_WRITES=15 STDIO_BYTES_WRITTEN=150
}

@test "a program of musl is not hurt by it" {
  trace stdio "$LIBPROG/musl_calls"
  [ "$status" -eq 7 ]
  [ "$output" = done ]
  one_log
  expect '/plain$' POSIX_WRITES=4 POSIX_BYTES_WRITTEN=4000
}

@test "memory of another shape, and with anything in it, harms nobody" {
  library_copy libc.so.6
  cat >"$T/bad.py" <<'X'
import array, os, socket, struct, sys
def send(kind, fd=-1):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(os.environ["IOSCRIBE_SOCKET"])
    try:
        s.sendmsg([struct.pack("=IHHIIIIQ", 0x62637369, 1, kind, 0, 16, 77, 0, 1)],
                  [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))] if fd >= 0 else [])
    except PermissionError:  # Linux 6.16 and newer
        pass
    return s
# as before version 0.1, with memory of its own, and with what is none
send(9, os.memfd_create("small"))
send(12, os.open("/dev/null", os.O_RDWR))
asked = send(12)
fd = socket.recv_fds(asked, 100, 1)[1][0]
for cut in lambda: os.ftruncate(fd, 4096), lambda: os.ftruncate(fd, 1 << 30):
    try:
        cut()
        sys.exit("the memory can be cut")
    except PermissionError:
        pass
os.pwrite(fd, os.urandom(1 << 16), 0)
os.set_inheritable(fd, False)
twice = send(12)  # the same memory again
if twice.recv(100):
    sys.exit("the same memory again")
os.execv(sys.argv[1], sys.argv[1:])
X
  trace stdio /usr/bin/python3 "$T/bad.py" "$PROG/stdio_calls"
  totals
}

# What Darshan 3.5.0 counts of the same program; of a pipe nobody says how much was read.
as_darshan() {
  [ "$status" -eq 0 ]
  one_log
  expect '/w/named$' STDIO_OPENS=2 STDIO_FDOPENS=0 STDIO_WRITES=2 STDIO_FLUSHES=1 STDIO_BYTES_WRITTEN=9 \
    STDIO_MAX_BYTE_WRITTEN=8 STDIO_READS=0 POSIX_OPENS=0
  expect '/w/descriptor$' STDIO_OPENS=2 STDIO_FDOPENS=1 STDIO_READS=2 STDIO_WRITES=1 STDIO_SEEKS=1 \
    STDIO_BYTES_WRITTEN=8 STDIO_BYTES_READ=9 STDIO_MAX_BYTE_READ=4 STDIO_MAX_BYTE_WRITTEN=7 POSIX_OPENS=1
  expect '/w/other$' STDIO_OPENS=1 STDIO_WRITES=1 STDIO_BYTES_WRITTEN=12 STDIO_MAX_BYTE_WRITTEN=11
  expect '^<STDOUT>$' STDIO_OPENS=1 STDIO_WRITES=3 STDIO_FLUSHES=2 STDIO_BYTES_WRITTEN=14 STDIO_MAX_BYTE_WRITTEN=13
  expect '^<STDERR>$' STDIO_OPENS=1 STDIO_WRITES=1 STDIO_FLUSHES=0 STDIO_BYTES_WRITTEN=4 STDIO_MAX_BYTE_WRITTEN=3
  expect '^<STDIN>$' STDIO_OPENS=1 STDIO_READS=1 STDIO_BYTES_READ="$1"
  [ "$(records STDIO)" -eq 6 ]
  expect '' LEDGER_LIB_DROPPED=0 LEDGER_EVENT_LOST=0
}

@test "by default, without a probe in any library: streams as Darshan counts them, the standard ones by its names" {
  echo abc 123 >in
  trace auto sh -c '"$0" <in >out 2>notes' "$PROG/stdio_standard"
  as_darshan 3
  # and what they lead to by system calls
  expect '/w/out$' POSIX_WRITES=2 POSIX_BYTES_WRITTEN=14 STDIO_WRITES=0
  expect '/w/notes$' POSIX_WRITES=1 POSIX_BYTES_WRITTEN=4
  expect '/w/in$' POSIX_BYTES_READ=8
  rm named descriptor other
  trace auto sh -c 'cat in | "$0" 2>/dev/null | cat >/dev/null' "$PROG/stdio_standard"
  as_darshan 0
}

# in_order FILES: of the files named a1, a2, b1, ... the first writes come in that order, within the run.
in_order() {
  "$IOSCRIBE" parse "$LOG" >"$T/all"
  awk -F '\t' -v files="$1" '
    /^# run time:/ { run = $0; sub(/.*: */, "", run) }
    /^# start_time:/ { begin = $0; sub(/.*: */, "", begin) }
    $4 ~ /^(STDIO|POSIX)_F_WRITE_START_TIMESTAMP$/ && $5 > 0 && match($6, /\/w\/[a-z][12]$/) { at[substr($6, RSTART + 3)] = $5 }
    END {
      n = split(files, file, " ")
      for (i = 1; i <= n; i++)
        if (!(file[i] in at) || at[file[i]] <= at[file[i - 1]] || at[file[i]] > run) {
          print file[i] " at " at[file[i]] ", after " at[file[i - 1]] ", the run is " run " s long"
          bad = 1
        }
      exit bad || run > 60 || begin < systime() - 120 || begin > systime() + 1
    }' "$T/all"
}

@test "time namespaces, entered by fork, exec and setns, or around all: one clock for streams and system calls" {
  trace auto "$PROG/time_ns"
  [ "$status" -eq 0 ]
  one_log
  in_order "a1 a2 b1 b2 c1 c2 d1 d2 e1 e2 f1 f2"
  expect '' LEDGER_APPROX_TIME=0
  rm ./*
  cat >"$T/in_all" <<'X'
#!/bin/sh
exec unshare --fork --time --monotonic 50000 "$SCRIBE_TEST_OWN" "$@"
X
  chmod +x "$T/in_all"
  SCRIBE_TEST_OWN=$IOSCRIBE IOSCRIBE=$T/in_all trace auto "$PROG/time_ns" g
  [ "$status" -eq 0 ]
  one_log
  in_order "g1 g2"
}

@test "streams are left to their system calls: by the site, by the user" {
  echo abc 123 >in
  trace_options=(--set stdio_wrap=no)
  trace auto sh -c '"$0" <in >out 2>notes' "$PROG/stdio_standard"
  [ "$(records STDIO)" -eq 0 ]
  expect '/w/named$' POSIX_OPENS=2 POSIX_BYTES_WRITTEN=9
  trace_options=()
  IOSCRIBE_STREAMS=0 trace auto sh -c '"$0" <in >out 2>notes' "$PROG/stdio_standard"
  [ "$(records STDIO)" -eq 0 ]
  expect '/w/named$' POSIX_OPENS=2 POSIX_BYTES_WRITTEN=9
}
