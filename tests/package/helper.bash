# SPDX-License-Identifier: BSD-3-Clause
# A systemd of a test's own, process 1 of fresh namespaces.

load ../harness/wait.bash

# The test's folder T.
scratch() {
  [ "$(id -u)" -eq 0 ] || { echo "a systemd of its own needs root"; return 1; }
  T=$(mktemp -d /tmp/ioscribe-booted.XXXXXX)
  chmod 755 "$T"
}

teardown() {
  cd /
  if [ -n "${one:-}" ]; then
    in_it systemctl stop ioscribed.service ioscribed.socket >/dev/null 2>&1 || true
  fi
  shut_down
  rm -rf "$T"
}

# boot COMMAND...: it becomes process 1 and reaches booted.target. Sets `one`; $T is the test's folder.
boot() {
  G=$(findmnt -t cgroup2 -n -o TARGET | head -n 1)/ioscribe-booted-$$
  mkdir "$G"
  (echo "$BASHPID" >"$G/cgroup.procs" && exec unshare --pid --fork --mount --uts --ipc --net --cgroup --kill-child \
    "$@") >"$T/console" 2>&1 </dev/null 3>&- 4>&- &
  outer=$!
  until_true is_booted || { cat "$T/console"; return 1; }
}

is_booted() {
  one=$(pgrep -P "$outer") && in_it systemctl is-active -q booted.target 2>/dev/null
}

# A command inside, as root.
in_it() {
  timeout -s KILL 60 nsenter -t "$one" -p -m -u -i -n -C -r -w "$@"
}

# All that runs inside ends, and its cgroups go.
shut_down() {
  [ -z "${one:-}" ] || kill -KILL "$one" 2>/dev/null || true
  [ -z "${outer:-}" ] || wait "$outer" 2>/dev/null || true
  [ -z "${G:-}" ] || until_true remove_cgroups
}

remove_cgroups() {
  [ ! -d "$G" ] || find "$G" -depth -type d -exec rmdir {} + 2>/dev/null
}
