# SPDX-License-Identifier: BSD-3-Clause
# A real daemon for the Slurm tests, and its logs. After helper.bash.

# start_service: settings of the hooks, and a daemon below $RUN that serves.
start_service() {
  LIBRARY=$T/bin/libioscribe.so
  export IOSCRIBE_DIR=$RUN
  mkdir -m 1777 "$T/logs"
  # The two nodes are one machine with one daemon: the epilog of the first ends
  # the job for both, and must not give up on the second's processes. Hooks have
  # more time than at a site, and less than Slurm gives them.
  cat >"$T/hooks.conf" <<EOF
ioscribe = $IOSCRIBE
dir      = $RUN
seconds  = 20
deadline = 120
options  = log_dir=$T/logs log_layout=flat
comment  = yes
EOF
  mkdir -m 0700 "$T/spool"
  # each step that nobody announces would be late
  printf 'spool_dir = %s\nattach_linger_ms = 0\n' "$T/spool" >"$T/daemon.conf"
  "$IOSCRIBE_BUILD/runtime/daemon/ioscribed" --service --foreground --stay --dir "$RUN" --config "$T/daemon.conf" \
    >"$T/daemon.out" 2>&1 3>&- &
  echo $! >"$T/daemon.pid"
  wait_for "the daemon to serve" serves || { cat "$T/daemon.out"; return 1; }
}

serves() {
  "$IOSCRIBE" job list >/dev/null 2>&1
}

daemon_gone() {
  [ ! -e "/proc/$1" ] || grep -qs '^State:.*[ZX]' "/proc/$1/status"
}

stop_service() {
  local pid
  [ -e "$T/daemon.pid" ] || return 0
  pid=$(cat "$T/daemon.pid")
  kill -CONT "$pid" 2>/dev/null || true
  kill -INT "$pid" 2>/dev/null || true
  wait_for "the daemon to end" daemon_gone "$pid" || { kill -KILL "$pid"; return 1; }
}

# Not in the daemon's list any more: its logs are written.
forgotten() {
  "$IOSCRIBE" job list --timeout 60 >"$T/list" && ! awk '$4 != "over" { print $1 }' "$T/list" | grep -qx "$1"
}

# finished JOB [STATE]: Slurm has ended it, and the daemon has written what there is of it.
finished() {
  ended "$@" && wait_for "the logs of job $1" forgotten "$1"
}

# logs_of JOB: the paths of its logs.
logs_of() {
  find "$T/logs" -type f -name "*_id$1-*" | sort
}

parse() {
  "$IOSCRIBE" parse --base "$1"
}

# header LOG NAME
header() {
  parse "$1" | sed -n "s/^# $2: //p"
}

# ranked JOB: logs with more than one rank.
ranked() {
  local log
  for log in $(logs_of "$1"); do
    [ "$(header "$log" nprocs)" -eq 1 ] || echo "$log"
  done
}

# sum LOG COUNTER FILE-PATTERN: over the records of files whose name ends so.
sum() {
  parse "$1" | awk -F '\t' -v name="$2" -v file="$3" '$4 == name && $6 ~ file "$" { n += $5 } END { print n + 0 }'
}

# names LOG: of all records of files.
names() {
  parse "$1" | awk -F '\t' '$1 == "POSIX" { print $6 }' | sort -u
}

# demo LOG RANKS: what mpi_demo is known to do, and nothing missing.
demo() {
  local rank
  [ "$(header "$1" nprocs)" -eq "$2" ]
  [ "$(sum "$1" POSIX_BYTES_WRITTEN /shared)" -eq $(($2 * 1048576)) ]
  [ "$(sum "$1" POSIX_BYTES_READ /shared)" -eq $(($2 * 1048576)) ]
  for ((rank = 0; rank < $2; rank++)); do
    parse "$1" | awk -F '\t' -v r="$rank" '$2 == r && $4 == "POSIX_BYTES_WRITTEN" && $5 == 100000 && $6 ~ "/rank." r "$" { n++ }
      END { exit n != 1 }' || { echo "rank $rank"; parse "$1" | grep BYTES_WRITTEN; return 1; }
  done
}

# one TEXT: the path of one log, not none and not several.
one() {
  [ -f "$1" ] && return 0
  echo "not one log but: ${1:-none}"
  "$IOSCRIBE" job list
  cat "$T/daemon.out"
  ls -l "$T/logs"
  return 1
}
