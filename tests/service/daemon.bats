#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The service's beginning and end, who may ask it what, and what its commands do
# when it does not answer.
load helper

# write ID BYTES [VARIABLES...]: a process of job ID writes a file of its own
write() {
  local id=$1 bytes=$2
  shift 2
  user env "JOBX=$id" "$@" dd if=/dev/zero of="$T/w/data.$id" bs="$bytes" count=1 2>/dev/null
}

@test "the first begin starts the daemon, the last end lets it go; the log holds what asked for it" {
  job begin --job-id 77 --uid 65534 --match-env JOBX=77
  pid=$(cat "$IOSCRIBE_DIR/pid")
  [ -S "$IOSCRIBE_DIR/socket" ]
  [ "$(stat -c %a "$IOSCRIBE_DIR/socket")" = 666 ]
  write 77 7000 IOSCRIBE_ENABLE=1
  JOBX=77 write 78 100 IOSCRIBE_ENABLE=1
  user env JOBX=77 sh -c "echo not >$T/w/not"
  run_it job end --job-id 77
  [ "$status" -eq 0 ]
  [[ "$output" == "$T/logs/nobody_dd_id77-"*.darshan ]]
  log=$output
  [ "$(find "$T/logs" -type f | wc -l)" -eq 1 ]
  [ "$(stat -c '%u %a' "$log")" = "65534 400" ]
  [ "$(value "$log" POSIX_BYTES_WRITTEN /data.77)" = 7000 ]
  [ "$(value "$log" POSIX_OPENS '/(not|data.78)$')" = 0 ]
  "$IOSCRIBE" parse "$log" | grep -x '# jobid: 77'
  "$IOSCRIBE" parse "$log" | grep -x '# uid: 65534'
  gone "$pid"
  [ ! -e "$IOSCRIBE_DIR/socket" ]
}

@test "a started daemon has nothing of its starter's: session, group, descriptors, directory" {
  mkfifo "$T/pipe"
  : <>"$T/pipe"
  job begin --job-id 1 --uid 65534 --match-env JOBX=1 7<>"$T/pipe" >"$T/out" 2>&1
  pid=$(cat "$IOSCRIBE_DIR/pid")
  [ "$(awk '{ print $4 }' "/proc/$pid/stat")" != "$$" ]
  [ "$(ps -o sid= -p "$pid" | tr -d ' ')" != "$(ps -o sid= -p $$ | tr -d ' ')" ]
  [ "$(ps -o pgid= -p "$pid" | tr -d ' ')" != "$(ps -o pgid= -p $$ | tr -d ' ')" ]
  [ "$(readlink "/proc/$pid/cwd")" = / ]
  local fd
  for fd in "/proc/$pid/fd/"*; do
    case $(readlink "$fd") in "$T/pipe" | "$T/out") echo "holds $fd"; return 1 ;; esac
  done
  job end --job-id 1
  gone "$pid"
}

@test "a job may be begun twice, but not by two users; an end is one end" {
  serve
  job begin --job-id 5 --uid 65534 --match-env JOBX=5
  job begin --job-id 5 --uid 65534 --match-env JOBX=5
  [ "$(job list | grep -c '^5 ')" -eq 1 ]
  run_it job begin --job-id 5 --uid 1234 --match-env JOBX=5
  [ "$status" -eq 1 ]
  [ "$output" = "ioscribe job: job 5 is here already" ]
  job end 5
  run_it job end 5
  [ "$status" -eq 1 ]
  [ "$output" = "ioscribe job: no job 5 here" ]
}

@test "a user may not take a name away: jobs of one name are each user's own, and root's are not met" {
  serve
  job begin --job-id 5 --uid 1234 --match-env JOBX=5
  # the answer is that to any other name
  user "$IOSCRIBE" job begin --job-id 5 --match-env JOBX=5 --timeout 60
  USER_ID=4321 user "$IOSCRIBE" job begin --job-id 5 --match-env JOBX=5 --timeout 60
  USER_ID=4321 user "$IOSCRIBE" job begin --job-id 6 --match-env JOBX=6 --timeout 60
  job begin --job-id 6 --uid 1234 --match-env JOBX=6
  [ "$(job list | grep -c '^[56] ')" -eq 5 ]
  job show 5 | grep -x uid=1234
  job show 6 | grep -x uid=1234
  [ "$(user "$IOSCRIBE" job list --timeout 60 | grep -c '^[56] ')" -eq 1 ]
  write 5 300 IOSCRIBE_ENABLE=1
  run_it user "$IOSCRIBE" job end 5 --timeout 60
  [ "$status" -eq 0 ]
  [ "$(value "$output" POSIX_BYTES_WRITTEN /data.5)" = 300 ]
  # root's ends are of root's jobs first
  job end 6
  job show 6 | grep -x uid=4321
  job end 5
  job end 5
  job end 6
  [ -z "$(job list)" ]
  for verb in list status; do
    run_it "$IOSCRIBE" job "$verb" 5
    [ "$status" -eq 2 ]
    [[ $output == *"list and status take no job's ID or options" ]]
  done
}

@test "two ends of one job: both are told its log" {
  serve
  job begin --job-id 8 --uid 65534 --match-env JOBX=8
  mkfifo "$T/go"
  user env JOBX=8 IOSCRIBE_ENABLE=1 sh -c 'echo abc >eight; : >up; read x' <>"$T/go" 3>&- &
  started=($!)
  until_true test -e "$T/w/up"
  job end 8 --deadline 60 >"$T/first" 3>&- &
  local first=$!
  until_true sh -c '"$IOSCRIBE" job show 8 --timeout 60 | grep -qx state=ending'
  job end 8 --deadline 0 >"$T/second"
  wait "$first"
  [ -s "$T/first" ]
  cmp "$T/first" "$T/second"
  [ "$(value "$(cat "$T/first")" POSIX_BYTES_WRITTEN /eight)" = 4 ]
  echo >"$T/go"
  wait "${started[0]}"
  started=()
}

# links DAEMON KIND: descriptors of kernel programs (bpf-prog)
links() {
  find "/proc/$1/fd" -lname "anon_inode:*$2*" | wc -l
}

# What its links attach, but for libraries, whose probes stay.
attached() { "$IOSCRIBE_SOURCE/tests/service/links.py" "$DAEMON" | grep -v '^scribe_lib_' | grep .; }

nothing_attached() { ! attached; }

@test "programs are loaded at the start, attached while there is a job: an idle node pays memory, and calls of libraries" {
  serve
  until_true test ! -e "$IOSCRIBE_DIR/loading"
  job list
  [ "$(links "$DAEMON" bpf-prog)" -gt 0 ]
  nothing_attached
  job begin --job-id 4 --uid 65534 --match-env JOBX=4
  attached
  job end 4
  until_true nothing_attached
}

@test "a site may have them loaded by the first job; a daemon that loads says so" {
  echo 'load_at_start = no' >>"$IOSCRIBE_CONFIG"
  serve
  job list
  [ "$(links "$DAEMON" bpf-prog)" -eq 0 ]
  [ ! -e "$IOSCRIBE_DIR/loading" ]
  kill -STOP "$DAEMON"
  : >"$IOSCRIBE_DIR/loading"
  run_it "$IOSCRIBE" job list --timeout 1
  [ "$status" -eq 1 ]
  [ "$output" = "ioscribe job: the daemon at $IOSCRIBE_DIR is loading its programs: it does what it was asked when it has them" ]
  # a cold begin: the daemon has the request, and the job is on when the programs are there
  run_it "$IOSCRIBE" job begin --job-id 3 --uid 65534 --match-env JOBX=3 --timeout 1
  [ "$status" -eq 0 ]
  [ -z "$output" ]
  kill -CONT "$DAEMON"
  rm "$IOSCRIBE_DIR/loading"
  job show 3 | grep -x state=running
  job end 3
  job begin --job-id 4 --uid 65534 --match-env JOBX=4
  [ "$(links "$DAEMON" bpf-prog)" -gt 0 ]
  job end 4
}

@test "a job is shown and ended by its user and root; to others it does not exist" {
  serve
  job begin --job-id 9 --uid 65534 --match-env JOBX=9
  write 9 4096 IOSCRIBE_ENABLE=1
  run_it user "$IOSCRIBE" job show 9 --timeout 60
  [ "$status" -eq 0 ]
  grep -qx 'uid=65534' <<<"$output"
  grep -qx 'state=running' <<<"$output"
  [ "$(user "$IOSCRIBE" job list --json --timeout 60 | python3 -c 'import json,sys; print([j["job_id"] for j in json.load(sys.stdin)])')" = "['9']" ]
  local verb
  for verb in show end; do
    USER_ID=1234 run_it user "$IOSCRIBE" job "$verb" 9 --timeout 60
    [ "$status" -eq 1 ]
    [ "$output" = "ioscribe job: no job 9 here" ]
  done
  [ -z "$(USER_ID=1234 user "$IOSCRIBE" job list --timeout 60)" ]
  run_it user "$IOSCRIBE" job end 9 --timeout 60
  [ "$status" -eq 0 ]
  [ "$(value "$output" POSIX_BYTES_WRITTEN /data.9)" = 4096 ]
}

@test "what a user may not say: another's identity, a process, keys of the site" {
  serve
  user "$IOSCRIBE" job begin --job-id 3 --uid 0 --gid 0 --match-env JOBX=3 --timeout 60
  job show 3 | grep -x uid=65534
  run_it user "$IOSCRIBE" job begin --job-id 4 --pid $$ --timeout 60
  [ "$status" -eq 1 ]
  [ "$output" = "ioscribe job: pid: only root may name a process" ]
  run_it user "$IOSCRIBE" job begin --job-id 4 --match-env JOBX=4 opt_out=yes --timeout 60
  [ "$status" -eq 1 ]
  [ "$output" = "ioscribe job: opt_out: only the site's configuration sets this" ]
  job end 3
}

@test "requests that are wrong are refused by name, and nothing is begun" {
  serve
  local case
  for case in "unknown key 'colour':colour=red" "records: 'many' is not a number from 16 to 16777216:records=many" \
    "match_env: 'JOBX' is not NAME=VALUE:match_env=JOBX" "below: 'x' is not a number:below=x"; do
    run_it job begin --job-id 6 --uid 65534 "${case##*:}"
    [ "$status" -eq 1 ]
    [ "$output" = "ioscribe job: ${case%:*}" ]
  done
  run_it job begin --job-id 6 --uid 65534 --cgroup /no/such
  [ "$output" = "ioscribe job: /no/such is no cgroup of version 2" ]
  run_it job begin --uid 65534
  [ "$output" = "ioscribe job: a job_id is needed" ]
  [ -z "$(job list)" ]
}

@test "no daemon: a line, and status 1" {
  run_it job list
  [ "$status" -eq 1 ]
  [ "$output" = "ioscribe job: no daemon at $IOSCRIBE_DIR/socket: No such file or directory" ]
  run_it job begin --job-id 1 --uid 65534 --no-start
  [ "$status" -eq 1 ]
  run_it user "$IOSCRIBE" job begin --job-id 1 --timeout 60
  [ "$status" -eq 1 ]
  [ "$output" = "ioscribe job: no daemon at $IOSCRIBE_DIR, and only root can start one" ]
  run_it job rest
  [ "$status" -eq 2 ]
}

@test "a stopped daemon: every command ends in bounded time with a line; what it was told is done later" {
  serve
  job list
  kill -STOP "$DAEMON"
  local verb before=$SECONDS
  for verb in list "show 8" "end 8" "begin --job-id 8 --uid 65534 --match-env JOBX=8"; do
    # shellcheck disable=SC2086
    run_it "$IOSCRIBE" job $verb --timeout 1
    [ "$status" -eq 1 ]
    [ "$output" = "ioscribe job: the daemon at $IOSCRIBE_DIR does not answer: it is stopped, hangs, or is busy" ]
  done
  [ $((SECONDS - before)) -lt 20 ]
  kill -CONT "$DAEMON"
  job list | grep '^8 '
  job end 8
}

@test "a second daemon for the same directory is refused; a directory that others can change too" {
  serve
  run_it timeout 60 "$IOSCRIBED" --service
  [ "$status" -eq 1 ]
  [ "$output" = "ioscribed: a daemon serves $IOSCRIBE_DIR already" ]
  mkdir -m 777 "$T/open"
  run_it "$IOSCRIBED" --service --dir "$T/open"
  [ "$status" -eq 1 ]
  [ "$output" = "ioscribed: $T/open can be changed or listed by others: it must be root's, mode 0711" ]
}

@test "a killed daemon's socket does not stand in the way of the next" {
  serve
  kill -KILL "$DAEMON"
  gone "$DAEMON"
  run_it job list
  [ "$status" -eq 1 ]
  [ "$output" = "ioscribe job: no daemon at $IOSCRIBE_DIR/socket: Connection refused" ]
  job begin --job-id 2 --uid 65534 --match-env JOBX=2
  write 2 512 IOSCRIBE_ENABLE=1
  run_it job end 2
  [ "$(value "$output" POSIX_BYTES_WRITTEN /data.2)" = 512 ]
}

@test "a socket that the service manager holds is served, and left to it at the end" {
  python3 - "$IOSCRIBED" "$IOSCRIBE_DIR" <<'E' 3>&- &
import os, socket, sys
os.mkdir(sys.argv[2], 0o711)
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind(sys.argv[2] + "/socket")
os.chmod(sys.argv[2] + "/socket", 0o666)
s.listen(64)
os.dup2(s.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
os.execv(sys.argv[1], [sys.argv[1], "--service", "--foreground"])
E
  started=($!)
  until_true test -s "$IOSCRIBE_DIR/pid"
  job begin --job-id 3 --uid 65534 --match-env JOBX=3 --no-start
  write 3 33 IOSCRIBE_ENABLE=1
  run_it job end 3
  [ "$(value "$output" POSIX_BYTES_WRITTEN /data.3)" = 33 ]
  kill -TERM "${started[0]}"
  wait "${started[0]}"
  started=()
  [ -S "$IOSCRIBE_DIR/socket" ]
}

@test "the service manager is told: ready, watchdog, stopping" {
  python3 - "$T/notify" "$T/notes" <<'E' &
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
open(sys.argv[1] + ".up", "w").close()
s.settimeout(60)
with open(sys.argv[2], "w") as out:
    while True:
        text = s.recv(4096).decode()
        out.write(text + "\n")
        out.flush()
        if text == "STOPPING=1":
            break
E
  started=($!)
  until_true test -e "$T/notify.up"
  NOTIFY_SOCKET=$T/notify WATCHDOG_USEC=200000 "$IOSCRIBED" --service --foreground 3>&- &
  started+=($!)
  until_true grep -qsx READY=1 "$T/notes"
  until_true grep -qsx WATCHDOG=1 "$T/notes"
  kill -TERM "${started[1]}"
  until_true grep -qsx STOPPING=1 "$T/notes"
  wait "${started[1]}"
  started=()
}

# With /run of its own, in which the systemd of the node has the file $1, a socket unit or not.
with_unit() {
  unshare -m --propagation private sh -c 'mount -t tmpfs -o mode=755 none /run && mkdir -p /run/systemd/system &&
    touch "/run/systemd/system/$0" && unset IOSCRIBE_DIR && "$@"; code=$?
    echo "sockets: $(ls /run/ioscribe 2>/dev/null | grep -c socket)"; exit $code' "$@"
}

@test "where the daemon is a unit of systemd's nobody starts one beside it" {
  run_it with_unit ioscribed.socket "$IOSCRIBE" job begin --job-id 1 --uid 65534 --match-env JOBX=1
  [ "$status" -eq 1 ]
  [[ "$output" == *"no daemon at /run/ioscribe, where it is the unit ioscribed: systemctl enable --now ioscribed"*"sockets: 0"* ]]
  # another unit is not it
  run_it with_unit other.socket sh -c '"$0" job begin --job-id 1 --uid 65534 --match-env JOBX=1 && "$0" job end 1' "$IOSCRIBE"
  [ "$status" -eq 0 ]
}

@test "a program that gets no memory to count in, for the daemon is stopped: its log says so" {
  serve
  cp "$IOSCRIBE_BUILD/runtime/client/libioscribe-inside.so" "$T/"
  chmod 755 "$T/libioscribe-inside.so"
  job begin --job-id 1 --uid 65534 --match-env JOBX=1
  kill -STOP "$DAEMON"
  user env JOBX=1 IOSCRIBE_ENABLE=1 "IOSCRIBE_SOCKET=$IOSCRIBE_DIR/socket" "LD_PRELOAD=$T/libioscribe-inside.so" \
    /usr/bin/python3 -c 'import ctypes; c = ctypes.CDLL(None); [c.puts(b"line") for _ in range(9)]; c.fflush(None)' >"$T/out"
  kill -CONT "$DAEMON"
  local log
  log=$(job end --job-id 1 | grep darshan)
  [ "$(wc -l <"$T/out")" = 9 ]
  "$IOSCRIBE" summary "$log" | tr -s '[:space:]' ' ' | grep "a program got no memory in time to count its streams in"
}
