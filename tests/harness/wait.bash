# SPDX-License-Identifier: BSD-3-Clause
# Waiting for a condition, with an end.

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
