#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# A service that is there but full, slow or dead does not cost a command: it is waited for
# at most 2 s, then the command runs untraced and one line says so; with --require-trace it
# does not run at all.
load helper

# A server in the daemon's place: HOW is what it does with connections.
stand_in() {
  mkdir -m 755 "$IOSCRIBE_DIR"
  python3 - "$IOSCRIBE_DIR/socket" "$1" 3>&- <<'PY' &
import os, socket, struct, sys, time
path, how = sys.argv[1:]
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind(path)
os.chmod(path, 0o666)
s.listen(0 if how == "full" else 16)
held = []
while how == "full":  # until its queue takes no more
    c = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK)
    held.append(c)
    try:
        c.connect(path)
    except BlockingIOError:
        break
open(path + ".up", "w").close()
while how == "full":
    time.sleep(60)
while True:  # "dies" between taking a connection and its answer; "is_killed": nobody serves then
    c, _ = s.accept()
    c.recv(65536)
    if how == "is_killed":
        s.close()
        break
    if how != "dies":
        c.send(struct.pack("=IHHII", 0x62637369, 1, 33, 0, 4112) + bytes(4112))
        c.recv(65536)
    if how == "hangs_later":
        held.append(c)
    else:
        c.close()
PY
  started=($!)
  until_true test -e "$IOSCRIBE_DIR/socket.up"
}

# costs_nothing LINE: what a user's run says of the service, and that CMD has run; and not with --require-trace
costs_nothing() {
  local begun=$SECONDS
  run_it user "$IOSCRIBE" run -- sh -c 'echo ran; exit 6'
  echo "status $status after $((SECONDS - begun)) s"
  [ "$status" -eq 6 ]
  [ "$output" = "ioscribe run: $1; CMD runs untraced
ran" ]
  # 2 s, and what a busy machine adds
  [ $((SECONDS - begun)) -lt 8 ]
  run_it user "$IOSCRIBE" run --require-trace -- touch "$T/w/ran"
  [ "$status" -eq 1 ]
  [ "$output" = "ioscribe run: $1; CMD does not run (--require-trace)" ]
  [ ! -e "$T/w/ran" ]
}

@test "a service that is full for the user" {
  echo 'user_jobs = 1' >>"$IOSCRIBE_CONFIG"
  serve
  user "$IOSCRIBE" job begin --job-id 1 --match-env JOBX=1 --timeout 60
  costs_nothing 'user 65534 has 1 jobs here already (user_jobs)'
  job end 1
}

@test "a daemon that is stopped" {
  serve
  kill -STOP "$DAEMON"
  costs_nothing "the service at $IOSCRIBE_DIR does not answer: it is stopped, hangs, or is busy"
  kill -CONT "$DAEMON"
}

@test "a daemon that hangs, or dies, when CMD is to be enrolled" {
  stand_in hangs_later
  costs_nothing "the service at $IOSCRIBE_DIR does not answer: it is stopped, hangs, or is busy"
  kill "${started[0]}"
  rm -r "$IOSCRIBE_DIR"
  stand_in dies_later
  costs_nothing 'the daemon ended unexpectedly'
}

@test "a daemon that dies between taking a connection and its answer" {
  stand_in dies
  costs_nothing 'the daemon ended unexpectedly'
}

@test "a daemon that is killed between taking a connection and its answer: nobody serves, and that is said" {
  for what in 'run -- sh -c exit\ 6' 'job list' 'job status 7' 'job end 7' 'job ready'; do
    rm -rf "$IOSCRIBE_DIR"
    stand_in is_killed
    eval "run_it user \"\$IOSCRIBE\" $what"
    [ "${output%; CMD runs untraced}" = "ioscribe ${what%% *}: no daemon at $IOSCRIBE_DIR/socket: Connection refused" ]
  done
  rm -rf "$IOSCRIBE_DIR"
  stand_in is_killed
  run_it user "$IOSCRIBE" job list --json
  [ "$output" = "ioscribe job: no daemon at $IOSCRIBE_DIR/socket: Connection refused" ]
}

@test "a socket whose queue is full" {
  stand_in full
  costs_nothing "the daemon at $IOSCRIBE_DIR takes no connection: it is stopped or hangs"
}

@test "a socket that nobody listens at" {
  mkdir -m 755 "$IOSCRIBE_DIR"
  python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).bind(sys.argv[1])' "$IOSCRIBE_DIR/socket"
  chmod 666 "$IOSCRIBE_DIR/socket"
  costs_nothing "no daemon at $IOSCRIBE_DIR/socket: Connection refused"
}

@test "--best-effort and --require-trace exclude each other; without a service and privileges neither is needed to say no" {
  run_it user "$IOSCRIBE" run --best-effort --require-trace -- touch "$T/w/ran"
  [ "$status" -eq 2 ]
  [ "$output" = "ioscribe run: --best-effort and --require-trace exclude each other" ]
  run_it user "$IOSCRIBE" run --require-trace -- touch "$T/w/ran"
  [ "$status" -eq 1 ]
  [ "$output" = "ioscribe run: needs root to trace: sudo ioscribe run -- CMD; CMD does not run (--require-trace)" ]
  [ ! -e "$T/w/ran" ]
}

# crowd N: so many runs of one user at once, each with a file of its own; their words in $T/err.N
crowd() {
  local i pids=()
  for i in $(seq "$1"); do
    user "$IOSCRIBE" run -q --force --log "$T/logs/$i.darshan" -- sh -c "printf %0${i}d 0 >f.$i; exit 3" 2>"$T/err.$i" 3>&- &
    pids+=($!)
  done
  for i in "${pids[@]}"; do
    status=0
    wait "$i" || status=$?
    [ "$status" -eq 3 ] || { echo "status $status"; cat "$T"/err.*; return 1; }
  done
}

# count_crowd N: in $traced and $untraced; each has run, and is either exact in its log or has said that there is none
count_crowd() {
  local i
  traced=0 untraced=0
  for i in $(seq "$1"); do
    [ "$(stat -c %s "f.$i")" = "$i" ]
    if [ -s "$T/err.$i" ]; then
      [ "$(wc -l <"$T/err.$i")" -eq 1 ]
      grep -q '^ioscribe run: .*; CMD runs untraced$' "$T/err.$i" || { cat "$T/err.$i"; return 1; }
      untraced=$((untraced + 1))
    else
      [ "$(value "$T/logs/$i.darshan" POSIX_BYTES_WRITTEN "/f.$i\$")" = "$i" ]
      traced=$((traced + 1))
    fi
  done
  echo "$traced traced, $untraced not; $(sort "$T"/err.* | uniq -c)"
}

@test "200 runs of one user at once: every command runs, and is traced" {
  serve
  crowd 200
  count_crowd 200
  # nobody is refused; a machine that stands still may have let 2 s pass
  [ "$(cat "$T"/err.* | grep -vc 'is busy')" -eq 0 ]
  [ "$traced" -ge 100 ]
}

@test "more runs of one user than the quota allows: the others run untraced, another user is traced" {
  echo 'user_jobs = 5' >>"$IOSCRIBE_CONFIG"
  serve
  local i
  for i in 1 2 3 4 5; do
    user "$IOSCRIBE" job begin --job-id "$i" --match-env "JOBX=$i" --timeout 60
  done
  crowd 10
  count_crowd 10
  [ "$untraced" -eq 10 ]
  [ "$(sort "$T"/err.* | uniq -c | sed 's/^ *//')" = \
    "10 ioscribe run: user 65534 has 5 jobs here already (user_jobs); CMD runs untraced" ]
  chmod 777 "$T/w"
  USER_ID=1234 user "$IOSCRIBE" run -q --force --log "$T/logs/other.darshan" -- sh -c 'echo abc >other'
  [ "$(value "$T/logs/other.darshan" POSIX_BYTES_WRITTEN '/other$')" = 4 ]
}

@test "--service-wait: as long as the user likes" {
  local before after
  stand_in full
  before=$(date +%s%N)
  run_it user "$IOSCRIBE" run --service-wait 4.5 -- true
  after=$(date +%s%N)
  [ "$status" -eq 0 ]
  [ $((after - before)) -ge 4500000000 ]
  run_it user "$IOSCRIBE" run --service-wait 0 -- touch "$T/w/ran"
  [ "$status" -eq 2 ]
  [[ $output == "ioscribe run: --service-wait: '0' is no number of seconds up to 3600; see "* ]]
  [ ! -e "$T/w/ran" ]
}
