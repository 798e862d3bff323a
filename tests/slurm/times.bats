#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# How long prolog and epilog take, in jobs one after the other and in an array that begins and ends as it likes: the
# figures are printed. Every job's log is complete.

load helper
load service

setup_file() {
  prepare
  start_service
  start_slurm
  local hook
  for hook in prolog epilog; do
    mv "$T/hooks/$hook" "$T/hooks/$hook.ours"
    cat >"$T/hooks/$hook" <<EOF
#!/bin/bash
from=\$(date +%s%N)
$T/hooks/$hook.ours "\$@"
status=\$?
echo \$(((\$(date +%s%N) - from) / 1000000)) >>$T/$hook.ms
exit \$status
EOF
    chmod 755 "$T/hooks/$hook"
  done
}

teardown_file() {
  cleanup_file() { stop_service; }
  end_slurm
}

# times OF: median and longest of both hooks since the last time, in ms; there were so many calls.
times() {
  local hook
  for hook in prolog epilog; do
    sort -n "$T/$hook.ms" | awk -v what="$1 $hook" '{ ms[NR] = $1 } END { print "# " what ": median " ms[int((NR + 1) / 2)] " ms, longest " ms[NR] " ms, of " NR }' >&3
    rm "$T/$hook.ms"
  done
}

# wrote JOB BYTES: it has a log, which is complete and has them.
wrote() {
  local log n=0
  for log in $(logs_of "$1"); do
    ! "$IOSCRIBE" summary "$log" | grep 'NOT complete' || return 1
    n=$((n + $(sum "$log" POSIX_BYTES_WRITTEN /data)))
  done
  [ "$n" -eq "$2" ] || { echo "job $1: $n bytes of $2"; return 1; }
}

@test "20 jobs one after the other" {
  for i in {1..20}; do
    submit games -n1 --ioscribe <<<'head -c 7000 /dev/zero >data'
    finished "$JOB"
    wrote "$JOB" 7000
  done
  times 'one after the other:'
}

@test "an array of 16" {
  submit games -n1 --ioscribe --array=1-16 <<<'mkdir $SLURM_ARRAY_TASK_ID && head -c 3000 /dev/zero >$SLURM_ARRAY_TASK_ID/data'
  all_logs() { [ "$(find "$T/logs" -name '*.darshan' | wc -l)" -ge 36 ] && nodes_idle; }
  wait_for "the logs of the array" all_logs
  local log n=0
  for log in $(find "$T/logs" -name '*.darshan' -newer "$T/games/script"); do
    ! "$IOSCRIBE" summary "$log" | grep "NOT complete" || return 1
    n=$((n + $(sum "$log" POSIX_BYTES_WRITTEN /data)))
  done
  [ "$n" -eq 48000 ]
  times 'an array of 16:'
}
