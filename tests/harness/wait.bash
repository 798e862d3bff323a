# SPDX-License-Identifier: BSD-3-Clause
# Waiting for a condition, with an end; ending what a test has begun.

# Wait until a command succeeds, at most a minute.
until_true() {
  local i
  for i in $(seq 1200); do
    "$@" && return 0
    sleep 0.05
  done
  echo "in vain: $*"
  return 1
}

is_gone() {
  [ ! -e "/proc/$1" ] || [ "$(awk '{ print $3 }' "/proc/$1/stat" 2>/dev/null)" = Z ]
}

# What a test has mounted below a directory: one that failed must leave none.
unmount_below() {
  local at
  while at=$(awk -v d="$1/" 'index($2, d) == 1 { at = $2 } END { print at }' /proc/self/mounts) && [ -n "$at" ]; do
    umount -l "$at" || return 1
  done
}
