#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The memory of a service under its unit's limit: what one user can have it hold, with the defaults.
load helper

CG=

# limited memory|pids NUMBER: a control group with this limit; sets CG.
limited() {
  local at=/sys/fs/cgroup
  [ ! -d "$at/$1" ] || at=$at/$1
  CG=$at/ioscribe-service.$$
  mkdir "$CG"
  if [ -e "$CG/$1.max" ]; then echo "$2" >"$CG/$1.max"; else echo "$2" >"$CG/$1.limit_in_bytes"; fi
}

peak_mib() { echo $(($(cat "$CG/memory.peak" 2>/dev/null || cat "$CG/memory.max_usage_in_bytes") >> 20)); }
killed() { cat "$CG/memory.events" "$CG/memory.oom_control" 2>/dev/null | awk '$1 == "oom_kill" { print $2 }'; }

# In the foreground, as the unit starts it: in the background a daemon leaves the group of its starter.
serve_in_it() {
  sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$CG" "$IOSCRIBED" --service --stay --pin --foreground 3>&- &
  DAEMON=$!
  until_true test -S "$IOSCRIBE_DIR/socket"
  until_true test ! -e "$IOSCRIBE_DIR/loading"
  grep -qx "$DAEMON" "$CG/cgroup.procs"
}

teardown() {
  helper_teardown
  [ -z "$CG" ] || until_true rmdir "$CG"
}

@test "one user with names of 3.9 KB, windows and publishers, and the unit's 4 GiB: never killed, another user's run is whole" {
  local i waits=()
  mountpoint -q /sys/fs/bpf || mount -t bpf bpf /sys/fs/bpf
  mkdir "$IOSCRIBE_DIR" "$T/deep"
  mount -t tmpfs -o size=8g,mode=711 tmpfs "$IOSCRIBE_DIR"
  mount -t tmpfs -o size=4g,mode=1777 tmpfs "$T/deep"
  sed -i '/^records\|^processes/d' "$IOSCRIBE_CONFIG"
  limited memory $((4 << 30))
  serve_in_it
  job begin --job-id 1 --uid 60001 --match-env JOBX=1 "include=$T/"
  for i in $(seq 8); do
    USER_ID=60001 user "$IOSCRIBE" trace --job 1 --seconds 600 --output "$T/logs/w$i" >/dev/null 2>&1 3>&- &
    waits+=($!)
    USER_ID=60001 user "$IOSCRIBE" publish --job 1 "json:$T/logs/p$i" >/dev/null 2>&1 3>&- &
    waits+=($!)
  done
  printf '%s\n' "${waits[@]}" >>"$T/pids"
  for i in 1 2; do
    USER_ID=60001 user env JOBX=1 IOSCRIBE_ENABLE=1 python3 -c '
import os, sys
os.chdir(sys.argv[1])
for i in range(14):
    name = sys.argv[2] + chr(97 + i) * 250
    os.mkdir(name)
    os.chdir(name)
for p in range(12):
    if os.fork() == 0:
        for i in range(25000):
            os.close(os.open(f"{p}.{i}", os.O_CREAT | os.O_WRONLY, 0o600))
        os._exit(0)
    os.wait()' "$T/deep" "$i" 3>&- &
    echo $! >>"$T/pids"
    FLOOD[i]=$!
  done
  user "$IOSCRIBE" run --quiet --log "$T/w/run.darshan" sh -c 'echo x >a'
  wait "${FLOOD[1]}" "${FLOOD[2]}"
  [ "$(value "$T/w/run.darshan" POSIX_BYTES_WRITTEN '/a$')" = 2 ]
  echo "at most $(peak_mib) MiB"
  kill -KILL "$DAEMON"
  gone "$DAEMON"
  rm "$IOSCRIBE_DIR/socket"
  serve_in_it
  user "$IOSCRIBE" run --quiet --log "$T/w/again.darshan" sh -c 'echo xyz >b'
  [ "$(value "$T/w/again.darshan" POSIX_BYTES_WRITTEN '/b$')" = 4 ]
  job end 1 >"$T/said"
  grep -q darshan "$T/said"
  echo "at most $(peak_mib) MiB"
  [ "$(peak_mib)" -lt 3072 ]
  [ "$(killed)" -eq 0 ]
}

@test "12 processes and threads for the whole service: runs of two users at once end with all their logs" {
  local i uid runs=()
  limited pids 12
  serve_in_it
  cat "$CG/pids.current"
  for i in $(seq 12); do
    uid=$((60001 + i % 2))
    mkdir -m 777 "$T/w/$i"
    (cd "$T/w/$i" && USER_ID=$uid user "$IOSCRIBE" run --quiet --log "$T/logs/$i.darshan" sh -c 'echo xyz >a; cat a') \
      >"$T/said.$i" 2>&1 3>&- &
    runs+=($!)
  done
  for i in $(seq 12); do wait "${runs[i - 1]}"; done
  awk '$1 == "max" { print $2, "processes were refused"; exit !$2 }' "$CG/pids.events"
  for i in $(seq 12); do
    until_true test -e "$T/logs/$i.darshan" || { cat "$T/said.$i"; return 1; }
    [ "$(value "$T/logs/$i.darshan" POSIX_BYTES_READ '/a$')" = 4 ]
  done
  ! grep -i 'broken pipe\|does not take' "$IOSCRIBE_DIR/log" || return 1
}
