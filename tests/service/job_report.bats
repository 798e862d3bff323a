#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# ioscribe job report: what the logs of a job say together.
load helper

# traced ID COMMAND: nobody's job of this number; its log is written.
traced() {
  job begin --job-id "$1" --uid 65534 --match-env "JOBX=$1"
  user env "JOBX=$1" IOSCRIBE_ENABLE=1 sh -c "$2"
  job end "$1" >>"$T/paths"
}

@test "two logs of a job, two mounts: bytes by mount are those of the logs; the line for accounting is the same" {
  serve
  mkdir "$T/w/m"
  truncate -s 8M "$T/image"
  mkfs.ext4 -q -F "$T/image"
  mount -o loop "$T/image" "$T/w/m"
  chmod 1777 "$T/w/m"
  traced 12 'dd if=/dev/zero of=m/a bs=1000 count=7 2>/dev/null; dd if=m/a of=/dev/null bs=3500 2>/dev/null'
  traced 12 'dd if=/dev/zero of=m/b bs=500 count=3 2>/dev/null; head -c 100 /dev/zero >>c; exit 3' || true
  traced 13 'head -c 5 /dev/zero >m/d'
  [ "$(wc -l <"$T/paths")" -eq 3 ]
  local line read written log
  line=$(user "$IOSCRIBE" job report --line 12)
  echo "$line"
  [[ $line == "ioscribe log=complete logs=2 processes="* ]]
  [[ " $line " == *" $T/w/m=7000:8500 "* ]]
  # POSIX and STDIO of both logs, from their text
  read=0 written=0
  for log in $(head -n 2 "$T/paths"); do
    read=$((read + $("$IOSCRIBE" parse --base "$log" | awk '$4 ~ /^(POSIX|STDIO)_BYTES_READ$/ { n += $5 } END { print n }')))
    written=$((written + $("$IOSCRIBE" parse --base "$log" | awk '$4 ~ /^(POSIX|STDIO)_BYTES_WRITTEN$/ { n += $5 } END { print n }')))
  done
  [[ " $line " == *" read=$read written=$written "* ]]
  # another user's file with such a name counts for nobody, a pipe is not opened
  mkfifo "$T/logs/z_z_id12-9_1-1-1-8.darshan"
  install -o 4321 "$(head -n 1 "$T/paths")" "$T/logs/z_z_id12-9_1-1-1-9.darshan"
  [ "$(user "$IOSCRIBE" job report --line 12)" = "$line" ]
  run_it "$IOSCRIBE" job report --line 12
  [ "$output" = "ioscribe job: logs of job 12 in $T/logs have several owners: ask as one of them" ]
  user "$IOSCRIBE" job report 12_0 >"$T/said"
  cat "$T/said"
  grep -qx 'job        12: 2 logs, complete' "$T/said"
  grep -q "^mounts  *$T/w/m (ext4): " "$T/said"
  [[ $(tr -s '\n ' ' ' <"$T/said") == *" $T/w/m (ext4): 6.8 KiB read, 8.3 KiB written, "* ]]
  [ "$(grep -c '^log  ' "$T/said")" -eq 2 ]
  umount "$T/w/m"
}

@test "of days the newest first; a week without a log of the job ends the search" {
  serve
  traced 12 'head -c 5 /dev/zero >d'
  local log at day=$T/logs/2026
  log=$(cat "$T/paths")
  for at in 11/30 11/24 11/16; do
    mkdir -p "$day/$at"
    cp "$log" "$day/$at/"
    cp "$log" "$day/$at/${log##*/}_partial"
  done
  for at in 12/1 11/23 11/22 11/21 11/20 11/19 11/18 11/17; do mkdir -p "$day/$at"; done
  rm "$log"
  # a user's and a part's names that look like the job's
  mkdir -p "$T/logs/parts" "$T/logs/x_id12.parts"
  cp "$day/11/30/${log##*/}" "$T/logs/parts"
  cp "$day/11/30/${log##*/}" "$T/logs/x_id12.parts"
  cp "$day/11/30/${log##*/}" "$T/logs/a_b_id12-c_id13-1_1-1-1-1.darshan"
  run_it "$IOSCRIBE" job report 12
  [ "$(grep -c '^log  ' <<<"$output")" -eq 2 ]
  [ "$("$IOSCRIBE" job report --line --log-dir "$T/logs/2026" 12 | cut -d ' ' -f 3)" = logs=2 ]
}

@test "what cannot be reported: one line, exit 1; of accounting log=none" {
  serve
  run_it "$IOSCRIBE" job report 12
  [ "$status" -eq 1 ]
  [ "$output" = "ioscribe job: no log of job 12 in $T/logs" ]
  run_it "$IOSCRIBE" job report --line 12
  [ "$output" = "ioscribe log=none
ioscribe job: no log of job 12 in $T/logs" ]
  run_it "$IOSCRIBE" job report --log-dir "$T/nowhere" 12
  [ "$output" = "ioscribe job: $T/nowhere: No such file or directory" ]
  run_it "$IOSCRIBE" job report x12
  [ "$status" -eq 2 ]
  [ "$output" = "ioscribe job: x12 is no number of a job" ]
  run_it "$IOSCRIBE" job report
  [ "$status" -eq 2 ]
  traced 12 'head -c 5 /dev/zero >d'
  USER_ID=4321 run_it user "$IOSCRIBE" job report --line 12
  [ "$status" -eq 1 ]
  [ "$output" = "ioscribe log=none
ioscribe job: no log of job 12 in $T/logs" ]
}
