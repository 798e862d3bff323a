#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# A real daemon that is stopped, dead, without socket, on a full disk: hooks end
# soon and with 0, jobs run as if nothing were there, no node is drained.

load helper
load service
load hooks

setup_file() {
  prepare
  mkdir "$T/disk"
  mount -t tmpfs -o size=2m,mode=755 ioscribe-test "$T/disk"
  RUN=$T/disk/run
  start_service
  sed -i '/^seconds/d; s/^options.*/& --no-start/' "$T/hooks.conf" # what a site has: one second
  start_slurm
}

teardown_file() {
  cleanup_file() {
    stop_service
    umount "$T/disk"
  }
  end_slurm
}

setup() {
  HOOKS=$SRC/scripts/slurm
}

# A job with the option runs to its end and says what it says without.
job_is_unharmed() {
  submit games -n1 --ioscribe <<'EOF'
echo said >file
cat file
srun -n1 cat file
EOF
  ended "$JOB"
  [ "$(cat "$T/games/$JOB.out")" = "said
said" ]
  wait_for "both nodes to be idle" nodes_idle
}

stopped() {
  grep -q '^State:.*T' "/proc/$1/status"
}

@test "the daemon is stopped" {
  local pid
  pid=$(cat "$T/daemon.pid")
  kill -STOP "$pid"
  wait_for "it to stop" stopped "$pid"
  quiet_and_soon
  job_is_unharmed
  kill -CONT "$pid"
  wait_for "the daemon to serve" serves
}

@test "the socket is gone" {
  mv "$RUN/socket" "$RUN/elsewhere"
  quiet_and_soon
  job_is_unharmed
  mv "$RUN/elsewhere" "$RUN/socket"
  wait_for "the daemon to serve" serves
}

@test "the disk of the logs and of the daemon's folder is full" {
  sed -i "s|log_dir=$T/logs|log_dir=$T/disk/logs|" "$T/hooks.conf"
  mkdir -m 1777 "$T/disk/logs"
  dd if=/dev/zero of="$T/disk/filler" bs=64k 2>/dev/null || true
  dd if=/dev/zero of="$T/disk/filler2" bs=1 count=4096 2>/dev/null || true
  quiet_and_soon
  job_is_unharmed
  [ -z "$(find "$T/disk/logs" -name '*.darshan')" ]
  sed -i "s|log_dir=$T/disk/logs|log_dir=$T/logs|" "$T/hooks.conf"
  serves
}

@test "the daemon is dead, its socket still there" {
  local pid
  pid=$(cat "$T/daemon.pid")
  kill -KILL "$pid"
  wait_for "it to be dead" daemon_gone "$pid"
  [ -e "$RUN/socket" ]
  quiet_and_soon
  job_is_unharmed
  rm "$T/daemon.pid"
}
