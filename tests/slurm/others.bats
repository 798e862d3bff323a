#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The hooks for OpenPBS and Flux, in the environment that their documentation
# promises: neither scheduler is in Debian, so none of this has met a real one.

setup() {
  T=$(mktemp -d /tmp/ioscribe-others.XXXXXX)
  SCRIPTS=$IOSCRIBE_SOURCE/scripts
  printf 'ioscribe = %s/ioscribe\nseconds = 30\n' "$T" >"$T/hooks.conf"
  printf '#!/bin/sh\necho "$*" >>%s/calls\nexit 3\n' "$T" >"$T/ioscribe"
  printf '#!/bin/sh\necho "${4%%%%*T}" >%s/asked; echo 3\n' "$T" >"$T/flux"
  chmod 755 "$T/ioscribe" "$T/flux"
}

teardown() {
  rm -rf "$T"
}

# In PBS's place: a module `pbs` with what the hook uses of it.
pbs_event() {
  cat >"$T/pbs.py" <<EOF
EXECJOB_BEGIN, EXECJOB_END, EVENT_DEBUG = 1, 2, 4
class Job: id, euser, exec_host, run_version = "33.head", "$2", "one/0*2+one/1+two/0", 3
def get_local_nodename(): return "two"
class Event:
    type, job = $1, Job()
    def accept(self): print("accepted")
def event(): return Event()
def logmsg(kind, text): print("logged: " + text)
EOF
  sed "s|^SCRIPT = .*|SCRIPT = \"$3\"|" "$SCRIPTS/pbs/ioscribe_hook.py" >"$T/hook.py"
  IOSCRIBE_HOOKS_CONF=$T/hooks.conf run python3 "$T/hook.py"
  echo "$output"
  [ "$status" -eq 0 ]
}

@test "PBS: begin and end reach the daemon" {
  pbs_event EXECJOB_BEGIN games "$SCRIPTS/pbs/job"
  [ "$output" = accepted ]
  pbs_event EXECJOB_END games "$SCRIPTS/pbs/job"
  [ "$output" = accepted ]
  local uid gid
  uid=$(id -u games) gid=$(id -g games)
  diff "$T/calls" - <<EOF
job begin --job-id 33.head --uid $uid --timeout 30 --match-env PBS_JOBID=33.head --gid $gid --nodes 2 --node two --attempt 2
job end --job-id 33.head --deadline 10 --timeout 30
EOF
}

@test "PBS: the event is accepted without script, without user" {
  pbs_event EXECJOB_BEGIN games "$T/nothing"
  [[ $output == *"logged: "*"accepted" ]]
  pbs_event EXECJOB_BEGIN nobody-of-that-name "$SCRIPTS/pbs/job"
  [[ $output == *"logged: "*"accepted" ]]
  [ ! -e "$T/calls" ]
}

@test "Flux: prolog and epilog, the job's number in either spelling" {
  local id
  for id in ƒD7j8aT fD7j8aT; do
    run env -i PATH="$T:/usr/bin:/bin" IOSCRIBE_HOOKS_CONF="$T/hooks.conf" FLUX_JOB_ID=$id FLUX_JOB_USERID=5 "$SCRIPTS/flux/prolog"
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    run env -i PATH=/usr/bin:/bin IOSCRIBE_HOOKS_CONF="$T/hooks.conf" FLUX_JOB_ID=$id FLUX_JOB_USERID=5 "$SCRIPTS/flux/epilog"
    [ "$status" -eq 0 ]
    [ -z "$output" ]
  done
  diff "$T/calls" - <<EOF
job begin --job-id ƒD7j8aT --uid 5 --timeout 30 --match-env FLUX_JOB_ID=ƒD7j8aT --nodes 3 --node $(hostname)
job end --job-id ƒD7j8aT --deadline 10 --timeout 30
job begin --job-id ƒD7j8aT --uid 5 --timeout 30 --match-env FLUX_JOB_ID=ƒD7j8aT --nodes 3 --node $(hostname)
job end --job-id ƒD7j8aT --deadline 10 --timeout 30
EOF
}

@test "without a job nothing is called, and nothing fails" {
  local hook
  for hook in pbs/job flux/prolog flux/epilog; do
    run env -i IOSCRIBE_HOOKS_CONF="$T/hooks.conf" "$SCRIPTS/$hook"
    [ "$status" -eq 0 ]
    [ -z "$output" ]
  done
  [ ! -e "$T/calls" ]
}
