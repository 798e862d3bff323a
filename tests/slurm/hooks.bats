#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Every hook exits with 0 and prints nothing, soon, whatever it meets. Without
# Slurm: the environment is the one that Slurm gives (nothing else, no PATH).

load hooks

setup() {
  T=$(mktemp -d /tmp/ioscribe-hooks.XXXXXX)
  HOOKS=$IOSCRIBE_SOURCE/scripts/slurm
  printf 'ioscribe = %s/ioscribe\nlibrary = /bin/true\ncomment = yes\n' "$T" >"$T/hooks.conf"
}

teardown() {
  local pid
  for pid in $(cat "$T/pids" 2>/dev/null); do kill -KILL "$pid" 2>/dev/null || true; done
  rm -rf "$T"
}

# A stand-in for ioscribe: its script is standard input.
stand_in() {
  { echo '#!/bin/sh'; cat; } >"$T/ioscribe"
  chmod 755 "$T/ioscribe"
}

# gone PID: it runs no more, or is about to (it was killed).
gone() {
  local end=$((SECONDS + 60))
  while [ -e "/proc/$1" ] && ! grep -qs '^State:.*[ZX]' "/proc/$1/status"; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.05
  done
}

@test "ioscribe is not there" {
  quiet_and_soon
}

@test "ioscribe fails" {
  stand_in <<<'echo bad >&2; echo bad; exit 9'
  extra=(SPANK_IOSCRIBE=on)
  hook prolog
  [ "$status" -eq 0 ]
  hook epilog
  [ "$status" -eq 0 ]
  [ -z "$output" ]
}

@test "ioscribe dies by a signal" {
  stand_in <<<'kill -SEGV $$'
  quiet_and_soon
}

@test "ioscribe hangs and ignores SIGTERM" {
  stand_in <<EOF
echo \$\$ >>$T/pids
trap '' TERM
while :; do sleep 0.2; done
EOF
  quiet_and_soon
  local pid
  for pid in $(cat "$T/pids"); do
    gone "$pid"
  done
}

@test "what ioscribe leaves running does not hold the hook" {
  stand_in <<EOF
sleep 20 & echo \$! >>$T/pids
EOF
  quiet_and_soon
}

@test "settings that are missing, unreadable or nonsense" {
  stand_in <<<true
  local text
  for text in '' '=' 'seconds' 'seconds = soon' 'seconds = -1' '$(touch x)' '`' "'" 'ioscribe = /nonexistent/dir/ioscribe'; do
    printf '%s\n' "$text" >"$T/hooks.conf"
    hook prolog
    echo "$text: $status $output"
    [ "$status" -eq 0 ]
    [ -z "$output" ]
  done
  rm "$T/hooks.conf"
  mkdir "$T/hooks.conf"
  hook epilog
  [ "$status" -eq 0 ]
}

@test "without a job's environment nothing is called" {
  stand_in <<<"echo called >>$T/called"
  local name
  for name in prolog epilog task-prolog comment; do
    run env -i IOSCRIBE_HOOKS_CONF="$T/hooks.conf" "$HOOKS/$name"
    [ "$status" -eq 0 ]
    [ -z "$output" ]
  done
  [ ! -e "$T/called" ]
}

@test "what the user says is compared, never run" {
  stand_in <<<"echo \"\$*\" >>$T/called"
  extra=("SPANK_IOSCRIBE=on; touch $T/owned \$(touch $T/owned)")
  hook prolog
  [ "$status" -eq 0 ]
  [ ! -e "$T/owned" ]
  [ "$(cat "$T/called")" = "job begin --job-id 42 --uid 5 --timeout 1 --match-env SLURM_JOB_ID=42 --gid 60" ]
}

@test "a job on several nodes: how many, which, and the attempt are passed on, if they are such words" {
  stand_in <<<"echo \"\$*\" >>$T/called"
  local begin="job begin --job-id 42 --uid 5 --timeout 1 --match-env SLURM_JOB_ID=42 --gid 60"
  extra=(SLURM_JOB_NUM_NODES=3 SLURMD_NODENAME=node-1.site SLURM_JOB_RESTART_COUNT=2)
  hook prolog
  extra=(SLURM_JOB_NUM_NODES=3 "SLURMD_NODENAME=a \$(touch $T/owned)" SLURM_JOB_RESTART_COUNT=0)
  hook prolog
  extra=(SLURM_JOB_NUM_NODES=1 SLURMD_NODENAME=node-1)
  hook prolog
  extra=(SLURM_JOB_NUM_NODES=x)
  hook prolog
  [ ! -e "$T/owned" ]
  diff "$T/called" - <<EOF
$begin --nodes 3 --node node-1.site --attempt 2
$begin --nodes 3
$begin
$begin
EOF
}

@test "the files beside a hook are missing" {
  mkdir "$T/slurm"
  cp "$HOOKS"/* "$T/slurm"
  HOOKS=$T/slurm
  quiet_and_soon
}

@test "task prolog: streams = yes preloads what counts them, before the runtime" {
  printf 'library = %s/libioscribe.so\nstreams = yes\n' "$T" >"$T/hooks.conf"
  : >"$T/libioscribe.so"
  extra=(IOSCRIBE_ENABLE=1 LD_PRELOAD=/bin/nothing.so)
  hook task-prolog
  [[ "$output" == *"export LD_PRELOAD=$T/libioscribe.so:/bin/nothing.so" ]]
  : >"$T/libioscribe-inside.so"
  hook task-prolog
  [[ "$output" == *"export LD_PRELOAD=$T/libioscribe-inside.so:$T/libioscribe.so:/bin/nothing.so" ]]
}

@test "hooks.conf takes comments behind values, tabs, and a last line without its end" {
  stand_in <<<"echo \"\$*\" >>$T/called"
  printf 'ioscribe = %s/ioscribe\t# the command\n  \toptions\t=  log_dir=/scratch/a#b records=100   # in hooks.conf\njobs = all # asked\nseconds = # none\ndeadline = soon\n# deadline = 3\ncomment = no' \
    "$T" >"$T/hooks.conf"
  hook prolog
  [ "$(cat "$T/called")" = "job begin --job-id 42 --uid 5 --timeout 1 --match-env SLURM_JOB_ID=42 --gid 60 log_dir=/scratch/a#b records=100" ] ||
    { cat "$T/called"; false; }
  hook epilog
  [ "$(tail -n 1 "$T/called")" = "job end --job-id 42 --deadline 10 --timeout 1" ]
}

@test "the file off beside hooks.conf: no job is begun, no task touched, the jobs that run are ended" {
  stand_in <<<"echo \"\$*\" >>$T/called"
  touch "$T/off"
  extra=(SPANK_IOSCRIBE=on IOSCRIBE_ENABLE=1)
  hook prolog
  hook task-prolog
  [ -z "$output" ]
  hook comment 42
  [ ! -e "$T/called" ]
  hook epilog
  [ "$(cat "$T/called")" = "job end --job-id 42 --deadline 10 --timeout 1" ]
  rm "$T/off" "$T/called"
  hook prolog
  [ "$(cut -d ' ' -f 1,2 "$T/called")" = "job begin" ]
  hook task-prolog
  [[ $output == *"LD_PRELOAD=/bin/true" ]]
}
