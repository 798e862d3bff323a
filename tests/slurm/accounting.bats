#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What a job's logs say, in its record in a real slurmdbd.

load helper
load service

setup_file() {
  prepare
  start_service
  # users cannot look into every folder that holds a build
  install "$IOSCRIBE" "$T/bin/ioscribe"
  sed -i "s|^ioscribe .*|ioscribe = $T/bin/ioscribe|" "$T/hooks.conf"
  sed -i '/^comment/d' "$T/hooks.conf"
  echo 'accounting = AdminComment' >>"$T/hooks.conf"
  start_slurm accounting=yes
}

teardown_file() {
  cleanup_file() { stop_service; }
  end_slurm
}

# noted JOB FIELD TEXT: that part of its record is this.
noted() {
  sacct -nPX -j "$1" -o "$2" >"$T/sacct" && grep -qx "$3" "$T/sacct"
}

@test "bytes, operations and the log's state stand in AdminComment after the job, as its log has them" {
  submit games -n1 --ioscribe <<'EOF'
dd if=/dev/zero of=data bs=1000 count=9
dd if=data of=/dev/null bs=3000
EOF
  finished "$JOB"
  wait_for "the record of $JOB" noted "$JOB" AdminComment 'ioscribe log=complete logs=1 .*' || { cat "$T/sacct"; return 1; }
  local line log
  line=$(cat "$T/sacct")
  log=$(logs_of "$JOB")
  [ "$line" = "$(as games "$T/bin/ioscribe" job report --log-dir "$T/logs" --line "$JOB")" ]
  [[ $line == *" failed=0 "* ]]
  # beside this file the script's output
  [ "$(sum "$log" POSIX_BYTES_WRITTEN /data)" -eq 9000 ]
  [[ $line == *" written=$(($(sum "$log" POSIX_BYTES_WRITTEN "") + $(sum "$log" STDIO_BYTES_WRITTEN ""))) "* ]]
}

@test "a job without a log has no line; another field by the site's choice" {
  sed -i 's/^accounting.*/accounting = Comment/' "$T/hooks.conf"
  submit games -n1 <<<true
  local plain=$JOB
  ended "$plain"
  submit games -N2 --ioscribe <<<'srun true'
  finished "$JOB"
  wait_for "the record of $JOB" noted "$JOB" Comment 'ioscribe log=complete logs=.*'
  noted "$JOB" AdminComment ''
  noted "$plain" Comment ''
  ! pgrep -f "slurm/account $plain" || return 1
}
