# SPDX-License-Identifier: BSD-3-Clause
# Two nodes on this machine: a network, mount and name namespace each, joined by
# a cable, with a daemon and a job cgroup each; the directory $T is shared.
# Waits are for conditions.

load ../harness/wait.bash

IOSCRIBED=$IOSCRIBE_BUILD/runtime/daemon/ioscribed
PROGRAM=$IOSCRIBE_BUILD/tests/zoo/nodes
UNIFIED=/sys/fs/cgroup/unified
[ -d "$UNIFIED" ] || UNIFIED=/sys/fs/cgroup

# node_up N: its namespaces, held by a process of their own.
node_up() {
  local n=$1
  install -d -m 711 "$T/n$n/run"; mkdir -p "$UNIFIED/$CG/n$n"
  # shellcheck disable=SC2016 # for the shell in there
  unshare --net --mount --uts sh -c '
    hostname "zoo$1"
    mount -t tmpfs -o mode=755 none /run && mkdir /run/ioscribe && mount --bind "$2/n$1/run" /run/ioscribe
    ip link set lo up
    touch "$2/n$1/up"
    exec sleep infinity' sh "$n" "$T" >/dev/null 2>&1 3>&- &
  echo $! >"$T/n$n/holder"
  until_true test -e "$T/n$n/up"
}

holder() {
  cat "$T/n$1/holder"
}

# on N COMMAND...: in the namespaces of node N.
on() {
  local n=$1
  shift
  nsenter -t "$(holder "$n")" --net --mount --uts --wd="$T" "$@"
}

setup_file() {
  [ "$(id -u)" -eq 0 ] || { echo "the nodes trace: they need root"; return 1; }
  [ -x "$PROGRAM" ] || { echo "no $PROGRAM: run scripts/install-deps and build"; return 1; }
  T=$(mktemp -d /tmp/ioscribe-nodes.XXXXXX)
  CG=ioscribe-nodes-$$
  export T CG
  chmod 755 "$T"
  mkdir -m 1777 "$T/logs"
  mkdir "$T/w"
  mkdir "$UNIFIED/$CG"
  node_up 1
  node_up 2
  ip link add "io$$a" netns "$(holder 1)" type veth peer name "io$$b" netns "$(holder 2)"
  on 1 sh -c "ip addr add 10.77.0.1/24 dev io$$a && ip link set io$$a up"
  on 2 sh -c "ip addr add 10.77.0.2/24 dev io$$b && ip link set io$$b up"
  # a launcher in place of ssh: launch HOST COMMAND...
  cat >"$T/launch" <<EOF
#!/bin/sh
while [ "\$1" != "\${1#-}" ]; do shift; done # ssh's options
host=\$1
shift
n=\${host##*.}
echo \$\$ >"$UNIFIED/$CG/n\$n/cgroup.procs"
exec nsenter -t "\$(cat "$T/n\$n/holder")" --net --mount --uts --wd="$T/w" sh -c "\$*"
EOF
  chmod 755 "$T/launch"
  # a node's spool is its own
  local n
  for n in 1 2; do
    printf 'log_dir = %s/logs\nspool_dir = %s/spool.%s\nlog_layout = flat\nrecords = 20000\nprocesses = 2048\n' \
      "$T" "$T" "$n" >"$T/conf.$n"
  done
  daemon 1 && daemon 2
}

# Each test has a job of its own, and finds both daemons running.
setup() {
  JOB=$PPID$BATS_TEST_NUMBER
  rm -rf "$T/w" "$T"/logs/*
  mkdir "$T/w"
  cd "$T/w" || return 1
  for n in 1 2; do is_gone "$(pid_of "$n")" && daemon "$n"; done
  return 0
}

teardown() {
  local pid
  cd /
  for pid in $(cat "$UNIFIED/$CG"/n*/cgroup.procs 2>/dev/null); do kill -KILL "$pid" 2>/dev/null || true; done
}

teardown_file() {
  local n pid
  cd /
  [ -n "${T:-}" ] || return 0
  for pid in $(cat "$UNIFIED/$CG"/n*/cgroup.procs 2>/dev/null); do kill -KILL "$pid" 2>/dev/null || true; done
  for n in 1 2; do
    pid=$(cat "$T/n$n/pid" 2>/dev/null || true)
    [ -z "$pid" ] || is_gone "$pid" || stop_daemon "$n" || kill -KILL "$pid"
    kill -KILL "$(holder "$n")" 2>/dev/null || true
    until_true is_gone "$(holder "$n")"
  done
  until_true rmdir "$UNIFIED/$CG"/n1 "$UNIFIED/$CG"/n2 "$UNIFIED/$CG" 2>/dev/null || return 1
  rm -rf "$T"
}

# daemon N [OPTION...]: the service of node N.
daemon() {
  local n=$1
  shift
  on "$n" "$IOSCRIBED" --service --stay --config "$T/conf.$n" "$@"
  cp "$T/n$n/run/pid" "$T/n$n/pid"
}

pid_of() {
  cat "$T/n$1/pid"
}

# stop_daemon N: as its service manager does.
stop_daemon() {
  kill -INT "$(pid_of "$1")"
  until_true is_gone "$(pid_of "$1")"
}

# kill_daemon N
kill_daemon() {
  kill -KILL "$(pid_of "$1")"
  until_true is_gone "$(pid_of "$1")"
}

# job N VERB OPTION...
job() {
  local n=$1 verb=$2
  shift 2
  on "$n" "$IOSCRIBE" job "$verb" --job-id "$JOB" --timeout 60 "$@"
}

# begin N [OPTION...]: the job on node N.
begin() {
  local n=$1
  shift
  job "$n" begin --nodes 2 --node "zoo$n" --cgroup "/$CG/n$n" "$@" && job "$n" ready
}

# both: the job on both nodes.
both() {
  begin 1 "$@" && begin 2 "$@"
}

# mpi RANKS COMMAND...: over both nodes, from the first, in the job.
mpi() {
  local ranks=$1
  shift
  "$T/launch" 10.77.0.1 "exec mpiexec.mpich -launcher ssh -launcher-exec $T/launch -hosts 10.77.0.1,10.77.0.2 \
    -ppn $((ranks / 2)) -genv IOSCRIBE_ENABLE 1 -genv IOSCRIBE_SOCKET /run/ioscribe/socket -genv LD_PRELOAD $IOSCRIBE_BUILD/runtime/client/libioscribe.so \
    -n $ranks $*" >"$T/out" 2>&1 3>&-
}

# log [PATTERN]: the path of the one finished log whose name has PATTERN; nothing else is left.
one_log() {
  local found
  found=$(find "$T/logs" -mindepth 1)
  [ "$(echo "$found" | wc -l)" -eq 1 ] && [[ $found == *.darshan ]] || {
    echo "not one log:"
    ls -lR "$T/logs" "$T"/spool.* 2>&1
    cat "$T/out"
    return 1
  } >&2
  echo "$found"
}

parse() {
  "$IOSCRIBE" parse --base --show-incomplete "$1" 2>/dev/null
}

# header LOG NAME
header() {
  parse "$1" | sed -n "s/^# $2: //p"
}

# metadata LOG KEY
metadata() {
  parse "$1" | sed -n "s/^# metadata: $2 = //p"
}

# sum LOG COUNTER FILE-PATTERN [RANK]
sum() {
  parse "$1" | awk -F '\t' -v name="$2" -v file="$3" -v rank="${4:-}" '
    $4 == name && $6 ~ file && (rank == "" || $2 == rank) { n += $5 } END { printf "%d\n", n }'
}

# records LOG FILE-PATTERN: ranks of the POSIX records of files whose name ends so, in order.
ranks() {
  parse "$1" | awk -F '\t' -v file="$2" '$1 == "POSIX" && $4 == "POSIX_OPENS" && $6 ~ file { print $2 }' | sort -n | xargs
}

is() {
  [ "$1" = "$2" ] || { echo "'$1' instead of '$2'"; return 1; }
}

# known LOG RANKS BYTES: each rank's own file has BYTES, `shared` is one record of all.
known() {
  local r
  is "$(header "$1" nprocs)" "$2"
  for ((r = 0; r < $2; r++)); do is "$(sum "$1" POSIX_BYTES_WRITTEN "/half.$r" "$r")" "$3"; done
  is "$(sum "$1" POSIX_BYTES_WRITTEN '/half\..$')" $(($2 * $3))
  is "$(ranks "$1" '/shared$')" -1
  is "$(sum "$1" POSIX_BYTES_WRITTEN '/shared$')" $(($2 * 1000))
  is "$(sum "$1" POSIX_OPENS '/shared$')" "$2"
}

# hosts LOG: of the process table, each once.
hosts() {
  parse "$1" | grep -o 'process:[^:]*:' | sort -u | xargs
}
