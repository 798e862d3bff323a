# SPDX-License-Identifier: BSD-3-Clause
# What the Slurm tests share: one Slurm for a file (cluster.py), two users, jobs
# that are waited for. Functions here wait for conditions, never for times.

SRC=$IOSCRIBE_SOURCE
LIMIT=180

# Called first by setup_file: the scratch folder T, and two users' folders in it.
prepare() {
  [ "$(id -u)" -eq 0 ] || { echo "the Slurm tests need root"; return 1; }
  command -v slurmctld >/dev/null || { echo "no slurmctld: run scripts/install-deps"; return 1; }
  T=$(mktemp -d /tmp/ioscribe-slurm.XXXXXX)
  RUN=${RUN:-$T/run}
  export T RUN SLURM_CONF=$T/slurm/etc/slurm.conf
  chmod 755 "$T"
  mkdir -p "$T/hooks"
  local user
  for user in games news; do
    install -d -o "$user" -g "$user" -m 755 "$T/$user"
  done
  # users cannot look into every folder that holds a build
  mkdir "$T/bin"
  cp -r "$SRC/scripts/hooks" "$SRC/scripts/slurm" "$IOSCRIBE_BUILD/runtime/slurm/spank_ioscribe.so" \
    "$IOSCRIBE_BUILD/runtime/client/libioscribe.so" "$T/bin"
  chmod -R a+rX "$T/bin"
}

# start_slurm [KEY=VALUE...]: with our prolog and epilog, and the plugin with the
# library $LIBRARY and the daemon's folder $RUN; more for cluster.py.
start_slurm() {
  local hook
  for hook in prolog epilog task-prolog comment; do hook_script "$hook"; done
  echo "required $T/bin/spank_ioscribe.so comment=$T/hooks/comment library=$LIBRARY" \
    "dir=$RUN off=$T/off" >"$T/plugstack.conf"
  "$SRC/tests/slurm/cluster.py" start "$T/slurm" prolog="$T/hooks/prolog" epilog="$T/hooks/epilog" \
    plugstack="$T/plugstack.conf" "$@"
}

# Called by teardown_file.
end_slurm() {
  local bad=0
  cd /
  [ -n "${T:-}" ] || return 0
  "$SRC/tests/slurm/cluster.py" stop "$T/slurm" || bad=1
  if declare -F cleanup_file >/dev/null; then cleanup_file || bad=1; fi
  rm -rf "$T"
  return "$bad"
}

# A program in $T/hooks that runs our hook of that name with this test's settings:
# Slurm hands no environment of ours to a hook. Our virtual nodes have one daemon:
# to it they are one node (tests/zoo/nodes.bats has several).
hook_script() {
  printf '#!/bin/sh\nunset SLURM_JOB_NUM_NODES\nexport IOSCRIBE_HOOKS_CONF=%s\nexec %s "$@"\n' "$T/hooks.conf" "$T/bin/slurm/$1" >"$T/hooks/$1"
  chmod 755 "$T/hooks/$1"
}

# wait_for DESCRIPTION COMMAND...: until it succeeds, LIMIT seconds at most.
wait_for() {
  local what=$1 end=$((SECONDS + LIMIT))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || { echo "waited $LIMIT s for $what"; return 1; }
    sleep 0.1
  done
}

# as USER COMMAND...: with a plain environment, in the user's folder.
as() {
  local user=$1
  shift
  (cd "$T/$user" && exec setpriv --reuid="$user" --regid="$user" --init-groups \
    env -i PATH=/usr/bin:/bin HOME="$T/$user" SLURM_CONF="$SLURM_CONF" "$@" 3>&-)
}

# submit USER OPTIONS...: a batch job whose script is standard input. Sets JOB.
# A controller that is slow to answer is asked again: nothing was submitted then.
submit() {
  local user=$1 try
  shift
  { echo '#!/bin/bash'; cat; } >"$T/$user/script"
  for try in 1 2 3; do
    JOB=$(as "$user" sbatch --parsable -o "$T/$user/%j.out" "$@" script 2>"$T/sbatch.err") && return 0
    grep -q 'timed out' "$T/sbatch.err" || break
  done
  cat "$T/sbatch.err"
  return 1
}

job_ended() {
  grep -q "^JobId=$1 " "$T/slurm/log/jobcomp" 2>/dev/null
}

# ended JOB [STATE]: its script and steps are over, in that state.
ended() {
  wait_for "job $1 to end" job_ended "$1" || { scontrol show job "$1"; return 1; }
  grep -q "^JobId=$1 .* JobState=${2:-COMPLETED} " "$T/slurm/log/jobcomp" ||
    { grep "^JobId=$1 " "$T/slurm/log/jobcomp"; cat "$T"/*/"$1.out"; return 1; }
}

nodes_idle() {
  [ "$(sinfo -h -N -o %T | grep -c '^idle')" -eq 2 ]
}
