#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Jobs of a real Slurm with a real daemon: who is recorded, as whom, in which log.

load helper
load service

setup_file() {
  prepare
  local mpi
  for mpi in mpich openmpi; do cp "$IOSCRIBE_BUILD/tests/mpi/$mpi/mpi_demo" "$T/bin/$mpi"; done
  install -m 644 "$SRC/tests/launchers/worker.py" "$T/bin"
  install "$SRC/tests/launchers/launch.py" "$T/bin/torchrun"
  start_service
  start_slurm
  # Slurm enforces a limit of one minute up to half a minute late: begun first, looked at last.
  submit news -n1 --time=1 --ioscribe <<'EOF'
head -c 5000 /dev/zero >limit
sleep 600
EOF
  echo "$JOB" >"$T/limit"
}

teardown_file() {
  cleanup_file() { stop_service; }
  end_slurm
}

setup() {
  DEMO=$T/bin/mpich
}

@test "only jobs that opted in have a log; its job, user and ranks are right" {
  local plain flagged log
  submit games -n2 <<<"srun --mpi=pmi2 $DEMO"
  plain=$JOB
  finished "$plain"
  submit games -n2 --ioscribe <<<"srun --mpi=pmi2 $DEMO"
  flagged=$JOB
  finished "$flagged"
  diff "$T/games/$plain.out" "$T/games/$flagged.out"
  [ -z "$(logs_of "$plain")" ]
  log=$(ranked "$flagged")
  one "$log"
  demo "$log" 2
  [ "$(header "$log" jobid)" = "$flagged" ]
  [ "$(header "$log" uid)" = "$(id -u games)" ]
  [ "$(stat -c '%U %a' "$log")" = "games 400" ]
  scontrol show job "$flagged" | grep -E 'AdminComment=ioscribe: [0-9]+ processes, 1 MPI worlds, [0-9]+ records of files'
  # script and launcher are the one log beside it
  [ "$(logs_of "$flagged" | wc -l)" -eq 2 ]
}

@test "IOSCRIBE_ENABLE=1 alone does, and IOSCRIBE_DISABLE=1 wins" {
  submit games -n1 <<'EOF'
head -c 700 /dev/zero >quiet
IOSCRIBE_ENABLE=1 sh -c 'head -c 800 /dev/zero >loud'
IOSCRIBE_ENABLE=1 IOSCRIBE_DISABLE=1 sh -c 'head -c 900 /dev/zero >denied'
EOF
  finished "$JOB"
  local log
  log=$(logs_of "$JOB")
  one "$log"
  [ "$(sum "$log" POSIX_BYTES_WRITTEN /loud)" -eq 800 ]
  [ -z "$(names "$log" | grep -e /denied -e /quiet)" ]
}

@test "launchers: mpiexec over two nodes, two sruns in a script, Open MPI by srun and mpirun" {
  local log
  submit games -N2 -n3 --ioscribe <<<"mpiexec.mpich -n 3 $DEMO"
  finished "$JOB"
  log=$(ranked "$JOB")
  [ -f "$log" ] || logs_of "$JOB"
  demo "$log" 3

  submit games -N2 -n2 --ioscribe <<EOF
srun --mpi=pmi2 $DEMO
srun --mpi=pmi2 $DEMO
EOF
  finished "$JOB"
  [ "$(ranked "$JOB" | wc -l)" -eq 2 ]
  for log in $(ranked "$JOB"); do demo "$log" 2; done

  submit games -N1 -n2 --ioscribe <<EOF
srun --mpi=pmix $T/bin/openmpi
mpirun.openmpi -n 2 $T/bin/openmpi
EOF
  finished "$JOB"
  [ "$(ranked "$JOB" | wc -l)" -eq 2 ]
  for log in $(ranked "$JOB"); do demo "$log" 2; done
}

@test "torchrun below srun on two nodes: its workers are the ranks, not the step's tasks; a restart is another world" {
  submit games -N2 --ntasks-per-node=1 --ioscribe <<EOF
mkdir torch
srun sh -c '$T/bin/torchrun --world a --folder $T/games/torch --nodes 2 --node \$SLURM_PROCID --restarts 1'
EOF
  finished "$JOB"
  # shellcheck disable=SC2046 # paths without blanks
  python3 "$SRC/tests/launchers/launchers.py" "$IOSCRIBE_BUILD" --worlds a:0:4 a:1:4 --logs $(logs_of "$JOB")
}

@test "arrays: a log for each element, under its own number" {
  submit games -n1 -o "$T/games/element.%a" --array=1-3 --ioscribe <<'EOF'
head -c $((SLURM_ARRAY_TASK_ID * 1000)) /dev/zero >"part.$SLURM_ARRAY_TASK_ID"
echo "$SLURM_JOB_ID"
EOF
  local element job log
  for element in 1 2 3; do
    wait_for "element $element" test -s "$T/games/element.$element"
    job=$(cat "$T/games/element.$element")
    finished "$job"
    log=$(logs_of "$job")
    [ -f "$log" ]
    [ "$(header "$log" jobid)" = "$job" ]
    [ "$(sum "$log" POSIX_BYTES_WRITTEN "/part.$element")" -eq $((element * 1000)) ]
    [ "$(names "$log" | grep -c /part)" -eq 1 ]
  done
}

@test "two users on one node at once: each log holds its own alone" {
  local user job log
  mkdir -m 1777 -p "$T/meet"
  for user in games news; do
    submit "$user" -n1 -w "$(head -n 1 "$T/slurm/etc/nodes")" --ioscribe <<EOF
head -c 2000 /dev/zero >before
touch $T/meet/$user
for try in \$(seq 600); do
  [ -e $T/meet/games ] && [ -e $T/meet/news ] && break
  sleep 0.2
done
head -c 3000 /dev/zero >after
test -e $T/meet/games && test -e $T/meet/news
EOF
    echo "$JOB" >"$T/job.$user"
  done
  for user in games news; do
    job=$(cat "$T/job.$user")
    finished "$job"
    log=$(logs_of "$job")
    [ -f "$log" ]
    [ "$(stat -c '%U %a' "$log")" = "$user 400" ]
    [ "$(header "$log" uid)" = "$(id -u "$user")" ]
    [ "$(sum "$log" POSIX_BYTES_WRITTEN "/$user/before")" -eq 2000 ]
    [ "$(sum "$log" POSIX_BYTES_WRITTEN "/$user/after")" -eq 3000 ]
    [ "$(names "$log" | grep -c -e /before -e /after)" -eq 2 ]
  done
}

@test "a shell script, a step and a Python pool are one log" {
  submit games -n1 --ioscribe <<'EOF'
head -c 1000 /dev/zero >from-shell
srun -n1 sh -c 'head -c 2000 /dev/zero >from-step'
python3 - <<PYTHON
import multiprocessing
def work(n):
    with open(f"from-pool.{n}", "wb") as f:
        f.write(bytes(3000))
with multiprocessing.get_context("fork").Pool(3) as pool:
    pool.map(work, range(6))
PYTHON
EOF
  finished "$JOB"
  local log
  log=$(logs_of "$JOB")
  [ -f "$log" ] || { for log in $(logs_of "$JOB"); do echo "$log"; names "$log"; done; return 1; }
  [ "$(sum "$log" POSIX_BYTES_WRITTEN /from-shell)" -eq 1000 ]
  [ "$(sum "$log" POSIX_BYTES_WRITTEN /from-step)" -eq 2000 ]
  [ "$(sum "$log" POSIX_BYTES_WRITTEN '/from-pool\..')" -eq 18000 ]
}

@test "--ioscribe-stream: the stream outlives the prolog, is the user's, and ends with the job" {
  submit games -n1 "--ioscribe-stream=json:$T/games/stream" <<'EOF'
srun -n1 sh -c 'head -c 4000 /dev/zero >streamed'
EOF
  finished "$JOB"
  none_left() { ! pgrep -f -- "--job $JOB --notify" >/dev/null; }
  wait_for "the publisher" none_left
  [ "$(stat -c %U "$T/games/stream")" = games ]
  /usr/bin/python3 - "$T/games/stream" "$JOB" <<'X'
import json, sys
messages = [json.loads(line) for line in open(sys.argv[1])]
mine = {m["record_id"] for m in messages if m["file"].endswith("/streamed")}
assert (messages[-1]["op"], messages[-1]["cnt"]) == ("end", len(messages) - 1)
assert {m["job_id"] for m in messages} == {int(sys.argv[2])}
assert sum(m["seg"][0]["len"] for m in messages if m["record_id"] in mine and m["op"] == "write") == 4000
X
}

@test "scancel: what was done until then" {
  submit games -n1 --ioscribe <<'EOF'
head -c 4000 /dev/zero >cancelled
sleep 600
EOF
  wait_for "the job to write" test -s "$T/games/cancelled"
  as games scancel "$JOB"
  finished "$JOB" CANCELLED
  local log
  log=$(logs_of "$JOB")
  one "$log"
  [ "$(sum "$log" POSIX_BYTES_WRITTEN /cancelled)" -eq 4000 ]
}

@test "a process that is killed for its memory" {
  submit games -n1 --mem=100 --ioscribe <<'EOF'
python3 -c '
with open("memory", "wb") as f:
    f.write(bytes(6000))
    f.flush()
    eaten = bytearray(300 << 20)'
echo "status $?"
EOF
  finished "$JOB" OUT_OF_MEMORY
  grep -qx 'status 137' "$T/games/$JOB.out"
  local log
  log=$(logs_of "$JOB")
  one "$log"
  [ "$(sum "$log" POSIX_BYTES_WRITTEN /memory)" -eq 6000 ]
}

@test "the time limit" {
  local job log
  job=$(cat "$T/limit")
  finished "$job" TIMEOUT
  log=$(logs_of "$job")
  one "$log"
  [ "$(sum "$log" POSIX_BYTES_WRITTEN /limit)" -eq 5000 ]
  # the node's first process: the plugin has waited until it was recorded
  parse "$log" | grep -qP '\tLEDGER_F_LATE_PROCS\t0(\.0*)?\t'
}

@test "no node was drained" {
  wait_for "both nodes to be idle" nodes_idle
}
