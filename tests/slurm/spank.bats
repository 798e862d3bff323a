#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The hooks and the plugin in a real Slurm, with a stand-in for `ioscribe` that
# writes down what it is called with.

load helper

setup_file() {
  prepare
  printf '#!/bin/sh\necho "$*" >>%s\n[ "$2" != show ] || printf "job_id=%%s\\nprocesses=4\\nworlds=1\\nrecords=7\\n" "$3"\n' "$T/calls" >"$T/ioscribe"
  chmod 755 "$T/ioscribe"
  touch "$T/calls"
  cp "$(readlink -f /lib/x86_64-linux-gnu/libz.so.1)" "$T/libfake.so" # something that can be preloaded
  LIBRARY=$T/libfake.so
  cat >"$T/hooks.conf" <<EOF
ioscribe = $T/ioscribe
dir      = $T/run
seconds  = 30
comment  = yes
options  = records=500 processes=50
EOF
  start_slurm
}

teardown_file() {
  end_slurm
}

# called COUNT ARGUMENTS: the stand-in was called so that many times.
called() {
  [ "$(grep -cx -- "$2" "$T/calls")" -eq "$1" ] || { echo "not $1 times: $2"; cat "$T/calls"; return 1; }
}

# What the environment of a batch script and of its first step says of us.
environment() {
  submit games -n1 "$@" <<'EOF'
env | grep -E '^(IOSCRIBE|LD_PRELOAD|SPANK_IOSCRIBE)' | sort
echo step
srun -n1 env | grep -E '^(IOSCRIBE|LD_PRELOAD)' | sort
EOF
  ended "$JOB"
  cat "$T/games/$JOB.out"
  echo "$JOB" >"$T/job"
}

@test "sbatch, srun and salloc offer the options, and refuse other values" {
  local tool
  for tool in sbatch srun salloc; do
    as games "$tool" --help >"$T/help"
    grep -qF -- '--ioscribe=[on|off]' "$T/help"
    grep -qF -- '--ioscribe-dxt' "$T/help"
  done
  run as games sbatch --ioscribe=perhaps --wrap true
  echo "$output"
  [ "$status" -ne 0 ]
  [[ $output == *"--ioscribe: 'perhaps' is neither on nor off"* ]]
}

@test "without the option: the daemon is told of the job, its tasks are left alone" {
  run environment
  echo "$output"
  [ "$output" = step ]
  local job uid gid
  job=$(cat "$T/job") uid=$(id -u games) gid=$(id -g games)
  called 1 "job begin --job-id $job --uid $uid --timeout 30 --match-env SLURM_JOB_ID=$job --gid $gid records=500 processes=50"
  wait_for "the epilog" called 1 "job end --job-id $job --deadline 10 --timeout 30"
}

@test "--ioscribe reaches the script and its steps, the library before what was preloaded" {
  run environment --ioscribe --export="ALL,LD_PRELOAD=$T/other.so"
  echo "$output"
  local want="IOSCRIBE_ENABLE=1
IOSCRIBE_SOCKET=$T/run/socket
LD_PRELOAD=$T/libfake.so:$T/other.so"
  [ "$(grep -v 'ERROR: ld.so' <<<"$output")" = "$want
step
$want" ]
}

@test "the task prolog does the same for a job that asks by its environment" {
  echo "library = $T/libfake.so" >>"$T/hooks.conf"
  cat >"$T/hooks/tasks" <<EOF
#!/bin/sh
exec "$T/hooks/task-prolog"
EOF
  chmod 755 "$T/hooks/tasks"
  submit games -n1 --export=ALL,IOSCRIBE_ENABLE=1 <<EOF
srun --task-prolog=$T/hooks/tasks env | grep -E '^(IOSCRIBE|LD_PRELOAD)' | sort
EOF
  ended "$JOB"
  cat "$T/games/$JOB.out"
  [ "$(cat "$T/games/$JOB.out")" = "IOSCRIBE_ENABLE=1
IOSCRIBE_SOCKET=$T/run/socket
LD_PRELOAD=$T/libfake.so" ]
}

@test "--ioscribe-dxt asks for both; the job begins with dxt=yes, nothing is refused" {
  run environment --ioscribe-dxt
  echo "$output"
  [ "${lines[0]}" = IOSCRIBE_DXT=1 ]
  [ "${lines[1]}" = IOSCRIBE_ENABLE=1 ]
  run ! grep ioscribe "$T/sbatch.err"
  local job uid gid
  job=$(cat "$T/job") uid=$(id -u games) gid=$(id -g games)
  called 1 "job begin --job-id $job --uid $uid --timeout 30 --match-env SLURM_JOB_ID=$job --gid $gid dxt=yes records=500 processes=50"
}

@test "--ioscribe-stream asks for both; the prolog hands the sink on as it is" {
  local job uid gid sink="every=10,json:/scratch/a b;\$(x)"
  run environment --ioscribe-stream="$sink"
  echo "$output"
  [ "${lines[0]}" = IOSCRIBE_ENABLE=1 ]
  job=$(cat "$T/job") uid=$(id -u games) gid=$(id -g games)
  grep -qxF "job begin --job-id $job --uid $uid --timeout 30 --match-env SLURM_JOB_ID=$job --stream $sink --gid $gid records=500 processes=50" "$T/calls"
  run as games sbatch --ioscribe-stream=f --wrap true
  echo "$output"
  [ "$status" -ne 0 ]
  [[ $output == *"--ioscribe-stream: 'f' is none of json:, csv:"* ]]
}

@test "--ioscribe=off: the daemon is not told, the tasks say no" {
  run environment --ioscribe=off --export=ALL,IOSCRIBE_ENABLE=1
  echo "$output"
  [ "$output" = "IOSCRIBE_DISABLE=1
IOSCRIBE_ENABLE=1
step
IOSCRIBE_DISABLE=1
IOSCRIBE_ENABLE=1" ]
  [ "$(grep -c "^job begin --job-id $(cat "$T/job") " "$T/calls")" -eq 0 ]
}

@test "switched off by a file: the option is accepted and does nothing, at once" {
  touch "$T/off"
  run environment --ioscribe
  rm "$T/off"
  echo "$output"
  [ "$output" = step ]
  [ "$(grep -c "^job begin --job-id $(cat "$T/job") " "$T/calls")" -eq 0 ]
}

@test "#SBATCH --ioscribe does as well, and the flag of a job that asks is kept" {
  sed -i 's/^jobs.*//; $a jobs = asked' "$T/hooks.conf"
  submit games -n1 <<'EOF'
#SBATCH --ioscribe
echo "$IOSCRIBE_ENABLE"
EOF
  ended "$JOB"
  [ "$(cat "$T/games/$JOB.out")" = 1 ]
  [ "$(grep -c "^job begin --job-id $JOB " "$T/calls")" -eq 1 ]
  submit games -n1 <<<'echo "${IOSCRIBE_ENABLE-none}"'
  ended "$JOB"
  [ "$(cat "$T/games/$JOB.out")" = none ]
  [ "$(grep -c "^job begin --job-id $JOB " "$T/calls")" -eq 0 ]
  sed -i '/^jobs = asked/d' "$T/hooks.conf"
}

@test "a batch job's summary stands in its AdminComment" {
  submit games -n1 --ioscribe <<<true
  ended "$JOB"
  run scontrol show job "$JOB"
  echo "$output"
  [[ $output == *"AdminComment=ioscribe: 4 processes, 1 MPI worlds, 7 records of files"* ]]
}

@test "two nodes: each tells its daemon, begin and end" {
  submit games -N2 -n2 --ioscribe <<<'srun true'
  ended "$JOB"
  [ "$(grep -c "^job begin --job-id $JOB " "$T/calls")" -eq 2 ]
  both_ended() { [ "$(grep -c "^job end --job-id $JOB " "$T/calls")" -eq 2 ]; }
  wait_for "both epilogs" both_ended
}

@test "every element of an array is a job of its own" {
  submit games -n1 -o "$T/games/element.%a" --array=1-3 <<<'echo "$SLURM_JOB_ID"'
  local element
  for element in 1 2 3; do
    wait_for "element $element" test -s "$T/games/element.$element"
    ended "$(cat "$T/games/element.$element")"
    [ "$(grep -c "^job begin --job-id $(cat "$T/games/element.$element") " "$T/calls")" -eq 1 ]
  done
  [ "$(sort -u "$T"/games/element.? | wc -l)" -eq 3 ]
}
