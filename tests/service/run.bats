#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# ioscribe run where the node has a service: joined without privileges, and what
# happens when the service does not answer.
load helper

@test "joined by a user: identity, groups, limits, directory, outputs and exit code are the user's" {
  serve
  status=0
  setpriv --reuid=65534 --regid=65534 --groups 4,5 prlimit --nofile=333:333 --core=0:0 \
    "$IOSCRIBE" run -q --force --log "$T/logs/a.darshan" -- \
    sh -c 'id -u; id -G; ulimit -n; pwd; echo oops >&2; cat; dd if=/dev/zero of=data bs=1000 count=7 2>/dev/null; exit 42' \
    <<<input >"$T/out" 2>"$T/err" || status=$?
  [ "$status" -eq 42 ]
  [ "$(cat "$T/out")" = "65534
65534 4 5
333
$T/w
input" ]
  [ "$(cat "$T/err")" = oops ]
  [ "$(value "$T/logs/a.darshan" POSIX_BYTES_WRITTEN '/data$')" = 7000 ]
  [ "$(stat -c '%u %a' "$T/logs/a.darshan")" = "65534 400" ]
}

@test "several runs of several users at once, each with its own log" {
  serve
  chmod 1777 "$T/w"
  local i pids=()
  for i in 1 2 3 4 5 6; do
    USER_ID=$((2000 + i)) user "$IOSCRIBE" run -q --force --log "$T/logs/$i.darshan" -- \
      dd if=/dev/zero of="$T/w/data.$i" bs=$((i * 1000)) count=1 2>"$T/err.$i" 3>&- &
    pids+=($!)
  done
  wait "${pids[@]}"
  for i in 1 2 3 4 5 6; do
    [ "$(value "$T/logs/$i.darshan" POSIX_BYTES_WRITTEN '/data')" = $((i * 1000)) ]
    [ "$(stat -c %u "$T/logs/$i.darshan")" = $((2000 + i)) ]
  done
}

@test "what a joined user cannot have: a place without permission, keys of the site; CMD is not started" {
  serve
  run_it user "$IOSCRIBE" run --force --log "$T/no.darshan" -- touch "$T/w/started"
  [ "$status" -eq 1 ]
  [ "$output" = "ioscribe run: no log can be written to $T/: Permission denied" ]
  run_it user "$IOSCRIBE" run --set opt_out=yes -- touch "$T/w/started"
  [ "$status" -eq 1 ]
  [[ "$output" == *"opt_out: only the site's configuration sets this" ]]
  [ ! -e "$T/w/started" ]
}

@test "a stopped service: one line, CMD runs untraced with its own exit code" {
  serve
  kill -STOP "$DAEMON"
  run_it user "$IOSCRIBE" run -- sh -c 'echo ran; exit 6'
  kill -CONT "$DAEMON"
  [ "$status" -eq 6 ]
  [ "$output" = "ioscribe run: the service at $IOSCRIBE_DIR does not answer: it is stopped, hangs, or is busy; CMD runs untraced
ran" ]
}

@test "a dead service: one line, CMD runs untraced with its own exit code; root has a daemon of its own" {
  serve
  kill -KILL "$DAEMON"
  gone "$DAEMON"
  run_it user "$IOSCRIBE" run -- sh -c 'exit 7'
  [ "$status" -eq 7 ]
  [ "$output" = "ioscribe run: no daemon at $IOSCRIBE_DIR/socket: Connection refused; CMD runs untraced" ]
  run_it "$IOSCRIBE" run -q --force --log "$T/logs/root.darshan" -- sh -c 'echo x >root; exit 8'
  [ "$status" -eq 8 ]
  [ "$(value "$T/logs/root.darshan" POSIX_BYTES_WRITTEN '/root$')" = 2 ]
}

@test "a service that speaks another version: one line, CMD runs untraced" {
  mkdir -m 755 "$IOSCRIBE_DIR"
  python3 -c '
import os, socket, struct, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o666)
s.listen(5)
open(sys.argv[1] + ".up", "w").close()
c, _ = s.accept()
c.recv(65536)
c.send(struct.pack("=IHHII", 0x62637369, 99, 33, 0, 0))
c.recv(65536)' "$IOSCRIBE_DIR/socket" 3>&- &
  started=($!)
  until_true test -e "$IOSCRIBE_DIR/socket.up"
  run_it user "$IOSCRIBE" run -- sh -c 'exit 9'
  [ "$status" -eq 9 ]
  [ "$output" = "ioscribe run: message of protocol version 99, this is version 1; CMD runs untraced" ]
}

@test "the service dies under a run: CMD goes on, a line says there is no log" {
  serve
  mkfifo "$T/go"
  user "$IOSCRIBE" run -- sh -c 'echo up >up; read x; exit 11' <>"$T/go" >"$T/out" 2>&1 3>&- &
  started=($!)
  until_true test -s "$T/w/up"
  kill -KILL "$DAEMON"
  gone "$DAEMON"
  echo >"$T/go"
  status=0
  wait "${started[0]}" || status=$?
  started=()
  [ "$status" -eq 11 ]
  [ "$(cat "$T/out")" = "ioscribe run: the daemon is gone: no log was written" ]
}

@test "root joins too, and under sudo the log is the invoking user's; --private does not join" {
  serve
  SUDO_UID=65534 SUDO_GID=65534 "$IOSCRIBE" run -q --force --log "$T/logs/s.darshan" -- sh -c 'id -u >who; echo abc >file'
  [ "$(cat who)" = 65534 ]
  [ "$(stat -c %u "$T/logs/s.darshan")" = 65534 ]
  [ "$(value "$T/logs/s.darshan" POSIX_BYTES_WRITTEN '/file$')" = 4 ]
  kill -STOP "$DAEMON"
  run_it "$IOSCRIBE" run -q --private --force --log "$T/logs/p.darshan" -- sh -c 'exit 3'
  kill -CONT "$DAEMON"
  [ "$status" -eq 3 ]
  [ -s "$T/logs/p.darshan" ]
}

@test "a service that counts streams: a joined run counts them inside the program, call by call" {
  echo 'trace_libraries = stdio' >>"$IOSCRIBE_CONFIG"
  serve
  run_it user "$IOSCRIBE" run -q --force --log "$T/logs/s.darshan" -- \
    "$IOSCRIBE_BUILD/tests/prog/stdio_speed" fwrite 1000 "$T/w/stream"
  [ "$status" -eq 0 ]
  # 1,000 calls of 8 bytes, which a few system calls write
  [ "$(value "$T/logs/s.darshan" STDIO_WRITES '/stream$')" = 1000 ]
  [ "$(value "$T/logs/s.darshan" STDIO_BYTES_WRITTEN '/stream$')" = 8000 ]
}

@test "a place that closes while CMD runs: the log waits in the spool, and the end says so" {
  serve
  install -d -o 65534 "$T/own"
  run_it user "$IOSCRIBE" run --force --log "$T/own/a.darshan" -- chmod 500 "$T/own"
  [ "$status" -eq 0 ]
  [[ "$output" == "ioscribe: log $T/spool/65534/"*".darshan
  note       it waits in the service's spool until its place can be written to (\`ioscribe job list\`)" ]]
}

@test "in a job: one line names the job that records the process" {
  serve
  job begin --job-id 7 --uid 65534 --match-env JOBX=7
  run_it user env JOBX=7 IOSCRIBE_ENABLE=1 "$IOSCRIBE" run --force --log "$T/logs/a.darshan" -- true
  echo "$output"
  [[ "$output" == *"job 7 records it already"* ]]
  job end 7
}
