# SPDX-License-Identifier: BSD-3-Clause
# Running a hook of $HOOKS as Slurm does, with the settings $T/hooks.conf.

# hook NAME [ARGUMENT]: as Slurm runs it. Sets status, output and ms.
hook() {
  local name=$1 begin end
  shift
  begin=$(date +%s%N)
  run env -i IOSCRIBE_HOOKS_CONF="$T/hooks.conf" SLURMD_NODENAME=node1 SLURM_JOB_ID=42 SLURM_JOBID=42 SLURM_JOB_UID=5 \
    SLURM_UID=5 SLURM_JOB_GID=60 SLURM_JOB_NUM_NODES=1 SLURM_NODELIST=node1 SLURM_CONF=/nonexistent "${extra[@]}" \
    "$HOOKS/$name" "$@" 3>&-
  end=$(date +%s%N)
  ms=$(((end - begin) / 1000000))
}

# quiet_and_soon: each hook exits with 0, silent, and waits for nothing that hangs or that ioscribe leaves running
# (20 s and more).
quiet_and_soon() {
  local name
  for name in prolog epilog task-prolog "comment 42"; do
    # shellcheck disable=SC2086 # a name and its argument
    hook $name
    echo "$name: $ms ms, status $status, output '$output'"
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    [ "$ms" -lt 15000 ]
  done
}
