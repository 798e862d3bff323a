#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What the daemon's processes may still do while a job runs: capabilities by
# name, new privileges, the filter of system calls. docs: SECURITY.md.

setup() {
  [ "$(id -u)" -eq 0 ] || { echo "these tests trace: they need root"; return 1; }
  T=$(mktemp -d /tmp/ioscribe-service.XXXXXX)
  chmod 755 "$T"
  mkdir "$T/w"
  chown 65534:65534 "$T/w"
  mkfifo "$T/go"
}

teardown() {
  if [ -n "${run_pid:-}" ]; then
    kill "$run_pid" 2>/dev/null || true
    wait "$run_pid" 2>/dev/null || true
  fi
  rm -rf "$T"
}

# A run of the user nobody that waits; its daemon, maker and hand are in $daemon, $maker, $hand.
begin() {
  cd "$T/w"
  SUDO_UID=65534 SUDO_GID=65534 "$IOSCRIBE" run --quiet --force --log "$T/w/x.darshan" -- \
    sh -c 'echo x >x; : >up; exec cat' <>"$T/go" >"$T/out" 2>&1 3>&- &
  run_pid=$!
  local i
  for i in $(seq 1200); do
    [ -e "$T/w/up" ] && break
    sleep 0.05
  done
  [ -e "$T/w/up" ] || { cat "$T/out"; return 1; }
  for daemon in $(pgrep -P "$run_pid"); do
    [ "$(cat "/proc/$daemon/comm")" = ioscribed ] && break
  done
  maker=$(pgrep -P "$daemon")
  hands=$(pgrep -P "$maker")
  hand=$(pgrep -u 65534 -P "$maker" | head -1)
}

# status_of PID FIELD
status_of() {
  awk -v f="$2:" '$1 == f { print $2 }' "/proc/$1/status"
}

names() {
  capsh --decode="$(status_of "$1" CapPrm)" | sed 's/.*=//'
}

@test "capabilities held while a job runs: five, four and none" {
  begin
  [ "$(cat "/proc/$daemon/comm") $(cat "/proc/$maker/comm") $(cat "/proc/$hand/comm")" = \
    "ioscribed ioscribe-spawn ioscribe-helper" ]
  echo "daemon: $(names "$daemon"); maker: $(names "$maker"); hand: $(names "$hand")"
  [ "$(names "$daemon")" = cap_dac_read_search,cap_sys_ptrace,cap_lease,cap_perfmon,cap_bpf ]
  # a private daemon's root may put its own logs where it likes: the first is for that
  [ "$(names "$maker")" = cap_dac_override,cap_setgid,cap_setuid,cap_sys_ptrace ]
  local pid
  for pid in $hands; do
    [ "$(cat "/proc/$pid/comm")" = ioscribe-helper ]
    # who looks whether a library has been started in a process is root's
    [ "$(status_of "$pid" Uid)" = 0 ] && [ "$(names "$pid")" = cap_dac_override,cap_sys_ptrace ] && continue
    [ -z "$(names "$pid")" ]
    [ "$(status_of "$pid" Uid)" = 65534 ]
    [ "$(status_of "$pid" Gid)" = 65534 ]
  done
  for pid in "$daemon" "$maker" $hands; do
    [ "$(status_of "$pid" NoNewPrivs)" = 1 ]
    [ "$(status_of "$pid" Seccomp)" = 2 ]
    [ "$(status_of "$pid" CapEff)" = "$(status_of "$pid" CapPrm)" ]
    [ "$(status_of "$pid" CapInh)$(status_of "$pid" CapAmb)" = 00000000000000000000000000000000 ]
  done
}

@test "a service holds five, its maker four, and nobody more, while a job runs" {
  export IOSCRIBE_DIR=$T/run IOSCRIBE_CONFIG=$T/conf
  printf 'log_dir = %s\nspool_dir = %s/spool\nlog_layout = flat\nrecords = 1000\n' "$T/w" "$T" >"$T/conf"
  "$IOSCRIBE_BUILD/runtime/daemon/ioscribed" --service --stay
  run_pid=$(cat "$T/run/pid")
  "$IOSCRIBE" job begin --job-id 1 --uid 65534 --match-env JOBX=1 --timeout 60
  local pid all
  maker=$(pgrep -P "$run_pid" -x ioscribe-spawn)
  all="$(names "$run_pid") $(names "$maker")"
  "$IOSCRIBE" job end 1 --timeout 60
  for pid in "$run_pid" "$maker"; do
    [ "$(status_of "$pid" NoNewPrivs)$(status_of "$pid" Seccomp)" = 12 ]
    [ "$(status_of "$pid" CapEff)" = "$(status_of "$pid" CapPrm)" ]
    [ "$(status_of "$pid" CapInh)$(status_of "$pid" CapAmb)" = 00000000000000000000000000000000 ]
  done
  echo "$all"
  [ "$all" = "cap_dac_read_search,cap_sys_ptrace,cap_lease,cap_perfmon,cap_bpf cap_setgid,cap_setuid,cap_sys_chroot,cap_sys_ptrace" ]
  kill -INT "$run_pid"
  for _ in $(seq 1200); do
    [ -e "/proc/$run_pid" ] || break
    sleep 0.05
  done
  [ ! -e "/proc/$run_pid" ]
  run_pid=
}

@test "the user cannot look into the helper that has the user's own identity" {
  begin
  run setpriv --reuid=65534 --regid=65534 --clear-groups cat "/proc/$hand/environ"
  [ "$status" -ne 0 ]
  run setpriv --reuid=65534 --regid=65534 --clear-groups ls "/proc/$hand/fd"
  [ "$status" -ne 0 ]
}

@test "neither maker nor hand holds the outputs of the command" {
  begin
  local pid fd
  for pid in "$maker" $hands; do
    for fd in 0 1 2; do
      [ "$(readlink "/proc/$pid/fd/$fd")" = /dev/null ]
    done
  done
}
