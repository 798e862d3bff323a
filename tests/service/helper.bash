# SPDX-License-Identifier: BSD-3-Clause
# What the tests of the service share: a directory of its own, a daemon in it
# that is gone after the test whatever happened, the user nobody, and logs.
# Waits are for conditions.

load ../harness/wait.bash

setup() { helper_setup; }

helper_setup() {
  [ "$(id -u)" -eq 0 ] || { echo "these tests trace: they need root"; return 1; }
  T=$(mktemp -d /tmp/ioscribe-service.XXXXXX)
  chmod 755 "$T"
  mkdir "$T/w" "$T/logs"
  chown 65534:65534 "$T/w"
  chmod 1777 "$T/logs"
  export IOSCRIBE_DIR=$T/run IOSCRIBE_CONFIG=$T/ioscribed.conf
  # what is executed a moment after a job's begin is recorded whole; who waits for what stands in bystanders.bats
  printf 'log_dir = %s/logs\nspool_dir = %s/spool\nlog_layout = flat\nrecords = 20000\nprocesses = 4096\nattach_at_begin = yes\n' \
    "$T" "$T" >"$IOSCRIBE_CONFIG"
  IOSCRIBED=$IOSCRIBE_BUILD/runtime/daemon/ioscribed
  cd "$T/w" || return 1
}

teardown() { helper_teardown; }

# What a test that failed leaves to think about.
show_service() {
  local file
  [ -z "${BATS_TEST_COMPLETED:-}" ] || return 0
  for file in "$IOSCRIBE_DIR/log" "$T"/prom/*; do
    [ ! -f "$file" ] || { echo "--- $file, at $(date +%T)"; grep -v '^# ' "$file" | tail -n 60; }
  done
}

helper_teardown() {
  local pid bad
  cd /
  [ -n "${T:-}" ] || return 0
  show_service
  for pid in "${started[@]:-}" $(cat "$T"/pids 2>/dev/null); do
    [ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true
  done
  pid=$(cat "$IOSCRIBE_DIR/pid" 2>/dev/null || true)
  if [ -n "$pid" ]; then
    kill -CONT "$pid" 2>/dev/null || true
    kill -INT "$pid" 2>/dev/null || true
    gone "$pid" || kill -KILL "$pid" 2>/dev/null || true
  fi
  # what the daemon's processes do stands on their lists of system calls; a sanitized build found nothing
  bad=$(grep -sE 'not on its list|runtime error:|ERROR: .*Sanitizer' "$IOSCRIBE_DIR/log" || true)
  unmount_below "$T" || bad+=" umount"
  [ -z "$bad" ] || { echo "$bad"; rm -rf "$T"; return 1; }
  rm -rf "$T"
}

gone() {
  until_true is_gone "$1"
}

# A service that stays until the test is over, and has its programs: `ioscribe run` waits 2 s for it.
serve() {
  "$IOSCRIBED" --service --stay "$@" || return 1
  DAEMON=$(cat "$IOSCRIBE_DIR/pid")
  until_true test ! -e "$IOSCRIBE_DIR/loading"
}

# The service's directory in memory, as /run is: how long its journals keep its loop says nothing of a busy disk.
run_in_memory() {
  mkdir "$IOSCRIBE_DIR"
  mount -t tmpfs -o size=512m,mode=711 tmpfs "$IOSCRIBE_DIR"
}

# As another user, as $USER_ID says (nobody).
user() {
  setpriv --reuid="${USER_ID:-65534}" --regid="${USER_ID:-65534}" --clear-groups "$@"
}

# A job that is found by a variable takes this test's processes alone: others run beside it, with the same user and
# the same variables.
job() {
  local below=()
  if [ "$1" = begin ] && [[ " $* " == *" --match-env "* && " $* " != *" --below "* ]]; then
    below=(--below $$)
  fi
  "$IOSCRIBE" job "$@" "${below[@]}" --timeout 60
}

# Helpers of the daemon's that have become nobody.
helpers_of_nobody() { pgrep -u 65534 -x ioscribe-helper -P "$(pgrep -P "$DAEMON" -x ioscribe-spawn)"; }

# As bats' run, with the two outputs together; a status of its own.
run_it() {
  status=0
  output=$("$@" 2>&1) || status=$?
  echo "$output"
}

# value LOG COUNTER [FILE-PATTERN]: sum over records of POSIX
value() {
  "$IOSCRIBE" parse --base "$1" | awk -F '\t' -v name="$2" -v file="${3:-}" '
    $4 == name && (file == "" || $6 ~ file) { sum += $5 } END { printf "%.0f\n", sum }'
}

# late_fs [NAME]: a file system of a user's at $T/fs, or $T/NAME, whose server, $FS, may be stopped.
late_fs() {
  local at=$T/${1:-fs}
  mkdir "$at"
  /usr/bin/python3 "$IOSCRIBE_SOURCE/tests/service/answers_late.py" "$at" 3>&- &
  FS=$!
  echo "$FS" >>"$T/pids"
  until_true mountpoint -q "$at"
}

# page_fs: a file system of a user's at $T/fs with one file, page, which its server, $FS, may be stopped from giving; and
# $T/locked_memory.py, whose process has its memory locked then (is_locked PID).
page_fs() {
  cp "$IOSCRIBE_SOURCE/tests/service/locked_memory.py" "$T/"
  chmod 755 "$T/locked_memory.py"
  head -c 8192 /dev/zero >"$T/page"
  mkdir "$T/fs"
  /usr/bin/python3 "$IOSCRIBE_SOURCE/tests/service/library_fs.py" "$T/fs" "$T/page" 3>&- &
  FS=$!
  echo "$FS" >>"$T/pids"
  until_true mountpoint -q "$T/fs"
}

# Newer kernels show its maps all the same.
is_locked() { ! timeout 1 cat "/proc/$1/cmdline" >/dev/null; }
