#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The unit as a real systemd runs it, sandbox and all: that is process 1 of
# namespaces of its own. Only the times of watchdog and stopping are shortened.

load ../harness/wait.bash

setup() {
  [ "$(id -u)" -eq 0 ] || { echo "a systemd of its own needs root"; return 1; }
  T=$(mktemp -d /tmp/ioscribe-booted.XXXXXX)
  chmod 755 "$T"
  "$IOSCRIBE_SOURCE/scripts/leak-check" save "$T/before"
  mkdir -m 777 "$T/w"
  # not below /tmp, which the unit has one of its own of
  DESTDIR=$T cmake --install "$IOSCRIBE_BUILD" --prefix /run/usr --component daemon >"$T/install.log"
  mkdir -p "$T/run/units/ioscribed.service.d"
  cp "$T"/run/usr/lib/systemd/system/ioscribed.* "$T/run/units"
  printf '[Unit]\nDefaultDependencies=no\nWants=ioscribed.socket\n' >"$T/run/units/booted.target"
  for target in sysinit basic shutdown sockets local-fs remote-fs; do
    printf '[Unit]\nDefaultDependencies=no\n' >"$T/run/units/$target.target"
  done
  printf '[Service]\nWatchdogSec=12\nTimeoutStopSec=4\nTimeoutAbortSec=1\nStandardError=append:/run/said\n' >"$T/run/units/ioscribed.service.d/short.conf"
  G=$(findmnt -t cgroup2 -n -o TARGET | head -n 1)/ioscribe-booted-$$
  mkdir "$G"
  boot
}

teardown() {
  cd /
  if [ -n "${one:-}" ]; then
    in_it systemctl stop ioscribed.service ioscribed.socket >/dev/null 2>&1 || true
    kill -KILL "$one" 2>/dev/null || true
    wait "$outer" 2>/dev/null || true
  fi
  [ -z "${G:-}" ] || until_true remove_cgroups
  "$IOSCRIBE_SOURCE/scripts/leak-check" "$T/before" || { rm -rf "$T"; return 1; }
  rm -rf "$T"
}

remove_cgroups() {
  [ ! -d "$G" ] || find "$G" -depth -type d -exec rmdir {} + 2>/dev/null
}

boot() {
  (echo "$BASHPID" >"$G/cgroup.procs" && exec unshare --pid --fork --mount --uts --ipc --net --cgroup --kill-child \
    "$IOSCRIBE_SOURCE/tests/package/boot.sh" "$T/run") >"$T/console" 2>&1 </dev/null 3>&- 4>&- &
  outer=$!
  until_true is_booted || { cat "$T/console"; return 1; }
}

is_booted() {
  one=$(pgrep -P "$outer") && in_it systemctl is-active -q booted.target 2>/dev/null
}

# A command inside, as root.
in_it() {
  timeout -s KILL 60 nsenter -t "$one" -p -m -u -i -n -C "$@"
}

job() {
  in_it "$IOSCRIBE" job "$@" --timeout 30
}

property() {
  in_it systemctl show -P "$1" ioscribed.service
}

# Two writes of 100 bytes by a process that joins.
work() {
  in_it env JOBX=5 IOSCRIBE_ENABLE=1 dd if=/dev/zero of="$T/w/$1" bs=100 count=2 2>/dev/null
}

restarted() {
  [ "$(property NRestarts)" -ge "$1" ] && [ "$(property ActiveState)" = active ]
}

@test "started by its socket, ready, restarted, killed, hung: it goes on with its jobs; stopped it leaves nothing" {
  [ "$(property ActiveState)" = inactive ]
  job begin --job-id 5 --uid 0 --match-env JOBX=5 || { in_it cat /run/said; false; }
  [ "$(property ActiveState)" = active ]
  main=$(property MainPID)
  work a
  # what the sandbox leaves it: the capabilities that docs and tests list, a read-only system
  in_it grep -q '^NoNewPrivs:.1' "/proc/$main/status"
  in_it sh -c "grep -q ' / / ro' /proc/$main/mountinfo"
  in_it test -e /sys/fs/bpf/ioscribe/maps/scribe_slots
  # an upgrade's restart
  in_it systemctl restart ioscribed.service
  [ "$(property MainPID)" != "$main" ]
  job list | grep -q '^5 .*running'
  work b
  # killed
  in_it systemctl kill --kill-whom=main --signal=KILL ioscribed.service
  work c
  until_true restarted 1
  job list | grep -q '^5 .*running'
  # it hangs: the watchdog ends it
  in_it systemctl kill --kill-whom=main --signal=STOP ioscribed.service
  work d
  until_true restarted 2
  work e
  [ "$(property NRestarts)" = 2 ]
  run job end 5
  echo "$output"
  [ "$status" -eq 0 ]
  in_it cat "$output" >"$T/job.darshan"
  "$IOSCRIBE" parse --base "$T/job.darshan" | awk -F '\t' -v at="$T/w/" '
    $4 == "POSIX_BYTES_WRITTEN" && index($6, at) == 1 { print substr($6, length(at) + 1), $5 }' >"$T/have"
  printf '%s 200\n' a b c d e | diff - <(sort "$T/have")
  # stopped without jobs: nothing is pinned, and the socket starts it again
  in_it systemctl stop ioscribed.service
  [ -z "$(in_it ls /sys/fs/bpf/ioscribe)" ]
  [ "$(property Result)" = success ]
  job begin --job-id 6 --uid 0
  job end 6 >/dev/null
}
