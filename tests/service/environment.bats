#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Settings by the environment: of a job's programs, of the command, of the service;
# Darshan's names and ours; who wins; what a user may not set.
load helper

# begin ID [KEY=VALUE...]
begin() {
  job begin --job-id "$1" --uid 65534 --match-env "JOBX=$1" "${@:2}"
}

# in_job ID [NAME=VALUE...] SCRIPT: a program of the job's, with this environment
in_job() {
  local id=$1
  user env "JOBX=$id" IOSCRIBE_ENABLE=1 "${@:2:$#-2}" sh -c "${*: -1}"
}

files='mkdir -p d$JOBX; for n in a.out a.tmp d$JOBX/x; do echo xyz >$n.$JOBX; done'

@test "Darshan's names in the environment of a job's programs" {
  serve
  begin 1
  in_job 1 'DARSHAN_NAME_EXCLUDE=\.tmp' "DARSHAN_EXCLUDE_DIRS=$T/w/d1,/usr,/lib,/etc" DARSHAN_LOGHINTS=cb_nodes=4 \
    DARSHAN_MODMEM=8 DARSHAN_NAMEMEM=junk DARSHAN_MAX_RECORDS=2000 DARSHAN_APP_EXCLUDE='(' "$files"
  log=$(job end 1)
  [ "$(value "$log" POSIX_BYTES_WRITTEN '/a\.out\.1$')" = 4 ]
  [ "$(value "$log" POSIX_OPENS '/a\.tmp|/x\.1$')" = 0 ]
  "$IOSCRIBE" parse "$log" | grep -x '# metadata: h = cb_nodes=4'
}

@test "where the log goes: the user's place, by the user's helper" {
  serve
  mkdir "$T/mine"
  chown 65534 "$T/mine"
  begin 1
  in_job 1 "DARSHAN_LOGPATH=$T/mine" "$files"
  log=$(job end 1)
  [[ "$log" =~ ^$T/mine/[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}/nobody_sh_id1- ]]
  [ "$(stat -c %u "${log%/*}")" = 65534 ]
  begin 2
  in_job 2 "DARSHAN_LOGFILE=$T/mine/named.darshan" "$files"
  [ "$(job end 2)" = "$T/mine/named.darshan" ]
  # not where the user may not write: that one waits in the spool
  mkdir "$T/roots"
  begin 3
  in_job 3 "IOSCRIBE_LOG_DIR=$T/roots" "$files"
  [[ "$(job end 3)" == "$T/spool/"* ]]
  [ -z "$(ls "$T/roots")" ]
}

@test "programs, ranks and modules that are left out, and back in" {
  serve
  begin 1
  in_job 1 DARSHAN_APP_EXCLUDE='dd$,cp$' DARSHAN_APP_INCLUDE='/cp$' \
    'dd if=/dev/zero of=by.dd bs=10 count=1 2>/dev/null; echo abc >by.sh; /bin/cp by.sh by.cp'
  log=$(job end 1)
  [ "$(value "$log" POSIX_OPENS '/by.dd$')" = 0 ]
  [ "$(value "$log" POSIX_BYTES_WRITTEN '/by.cp$')" = 4 ]
  begin 2
  in_job 2 DARSHAN_RANK_EXCLUDE=1: DARSHAN_RANK_INCLUDE=3 \
    'for r in 0 1 2 3; do PMI_RANK=$r PMI_SIZE=4 PMI_JOBID=x dd if=/dev/zero of=rank.$r bs=10 count=1 2>/dev/null; done'
  log=$(job end 2 | grep -v _sh_)
  for r in 0 3; do [ "$(value "$log" POSIX_BYTES_WRITTEN "/rank.$r\$")" = 10 ]; done
  for r in 1 2; do [ "$(value "$log" POSIX_OPENS "/rank.$r\$")" = 0 ]; done
  begin 3
  in_job 3 DARSHAN_MOD_DISABLE=POSIX,STDIO "$files"
  log=$(job end 3)
  [ "$(value "$log" POSIX_OPENS)" = 0 ]
  begin 4 MOD_DISABLE=POSIX
  in_job 4 DARSHAN_MOD_ENABLE=POSIX "$files"
  log=$(job end 4)
  [ "$(value "$log" POSIX_BYTES_WRITTEN '/a\.out\.4$')" = 4 ]
}

# heard_then ID [NAME=VALUE...] SCRIPT: as in_job, but the script runs when the daemon has read the process's
# environment: its settings come before its rank.
heard_then() {
  local id=$1 pid
  in_job "${@:1:$#-1}" PMI_RANK=0 PMI_SIZE=1 PMI_JOBID=x "until [ -e $T/go.$id ]; do sleep 0.05; done; ${*: -1}" 3>&- &
  pid=$!
  until_true sh -c "\"\$IOSCRIBE\" job show $id --timeout 60 | grep -q '^worlds=1'"
  : >"$T/go.$id"
  wait "$pid"
}

# Records of the file that two ranks write: their ranks.
shared_ranks() {
  "$IOSCRIBE" parse --base "$1" | awk -F '\t' '$4 == "POSIX_OPENS" && $6 ~ /\/both$/ { print $2 }' | sort -n | xargs
}

@test "DISABLE_SHARED_REDUCTION: records stay one a rank" {
  local work='for r in 0 1; do PMI_RANK=$r PMI_SIZE=2 PMI_JOBID=x dd if=/dev/zero of=both bs=10 count=1 2>/dev/null; done'
  serve
  begin 1
  in_job 1 "$work"
  [ "$(shared_ranks "$(job end 1 | grep -v _sh_)")" = "-1" ]
  begin 2
  in_job 2 DARSHAN_DISABLE_SHARED_REDUCTION=1 "$work"
  [ "$(shared_ranks "$(job end 2 | grep -v _sh_)")" = "0 1" ]
  DARSHAN_DISABLE_SHARED_REDUCTION=1 "$IOSCRIBE" run -q --private --no-runtime --force --log "$T/logs/r.darshan" -- sh -c "$work"
  [ "$(shared_ranks "$T/logs/r.darshan")" = "0 1" ]
}

@test "alignment: from the first operation on, or not at all" {
  serve
  begin 1
  heard_then 1 DARSHAN_MEM_ALIGNMENT_OVERRIDE=64 'echo x >f.1'
  [ "$(value "$(job end 1)" POSIX_MEM_ALIGNMENT '/f.1$')" = 64 ]
  begin 2
  user env JOBX=2 IOSCRIBE_ENABLE=1 sh -c 'echo x >e.2; IOSCRIBE_MEM_ALIGNMENT=64 sh -c "echo x >f.2"'
  log=$(job end 2)
  [ "$(value "$log" POSIX_MEM_ALIGNMENT '/f.2$')" = 8 ]
  [ "$(value "$log" POSIX_MEM_ALIGNMENT '/e.2$')" = 8 ]
}

@test "Darshan's older names: of a command, each alone" {
  run_old() {
    env "$@" "$IOSCRIBE" run -q --private --force --log "$T/logs/o.darshan" -- sh -c 'echo x >f'
  }
  run_old DARSHAN_MEM_ALIGNMENT_OVERRIDE=128
  [ "$(value "$T/logs/o.darshan" POSIX_MEM_ALIGNMENT '/f$')" = 128 ]
  run_old DARSHAN_JOBID_OVERRIDE=MYJOB MYJOB=815
  "$IOSCRIBE" parse "$T/logs/o.darshan" | grep -x '# jobid: 815'
  # limits of Darshan's memory cut nothing off here
  DARSHAN_MOD_MEM_OVERRIDE=1 DARSHAN_MODMEM=1 "$IOSCRIBE" run -q --private --force --log "$T/logs/o.darshan" -- \
    sh -c 'for i in $(seq 3000); do : >n.$i; done'
  [ "$("$IOSCRIBE" parse --base "$T/logs/o.darshan" | grep -c 'POSIX_OPENS.*/n\.')" -eq 3000 ]
}

@test "who wins: the service's file, its environment, the beginning, DARSHAN_, IOSCRIBE_" {
  alignment() { value "$(job end "$1")" POSIX_MEM_ALIGNMENT "/f.$1\$"; }
  echo 'mem_alignment = 16' >>"$IOSCRIBE_CONFIG"
  IOSCRIBE_MEM_ALIGNMENT=32 serve
  local write='echo x >f.$JOBX'
  begin 1
  heard_then 1 "$write"
  [ "$(alignment 1)" = 32 ]
  begin 2 mem_alignment=64
  heard_then 2 "$write"
  [ "$(alignment 2)" = 64 ]
  begin 3 mem_alignment=64
  heard_then 3 DARSHAN_MEM_ALIGNMENT=128 "$write"
  [ "$(alignment 3)" = 128 ]
  begin 4 mem_alignment=64
  heard_then 4 IOSCRIBE_MEM_ALIGNMENT=256 DARSHAN_MEM_ALIGNMENT=128 "$write"
  [ "$(alignment 4)" = 256 ]
  # a command: file, DARSHAN_, IOSCRIBE_, option
  echo 'mem_alignment = 16' >"$T/run.conf"
  run_with() {
    env "${@:2}" "$IOSCRIBE" run -q --private --config "$T/run.conf" $1 --force --log "$T/logs/r.darshan" -- sh -c 'echo x >f'
    value "$T/logs/r.darshan" POSIX_MEM_ALIGNMENT '/f$'
  }
  [ "$(run_with '')" = 16 ]
  [ "$(run_with '' DARSHAN_MEM_ALIGNMENT=32)" = 32 ]
  [ "$(run_with '' DARSHAN_MEM_ALIGNMENT=32 IOSCRIBE_MEM_ALIGNMENT=64)" = 64 ]
  [ "$(run_with '--set mem_alignment=128' IOSCRIBE_MEM_ALIGNMENT=64)" = 128 ]
}

@test "the first process that says anything speaks for the job; what comes later is not heard" {
  serve
  begin 1
  user env JOBX=1 IOSCRIBE_ENABLE=1 sh -c '
    echo x >one.1
    DARSHAN_NAME_EXCLUDE=two IOSCRIBE_ENABLE=1 sh -c "echo x >two.1; echo x >three.1"
    DARSHAN_NAME_EXCLUDE=four sh -c "echo x >four.1"'
  log=$(job end 1)
  for n in one three four; do [ "$(value "$log" POSIX_BYTES_WRITTEN "/$n.1\$")" = 2 ]; done
  [ "$(value "$log" POSIX_OPENS '/two.1$')" = 0 ]
}

@test "a user cannot set what is the site's, nor who he is, nor what counts at the beginning alone" {
  serve
  begin 1
  in_job 1 IOSCRIBE_OPT_OUT=yes IOSCRIBE_SHOW_PRIVILEGED=yes IOSCRIBE_UID=0 IOSCRIBE_GID=0 IOSCRIBE_USER=root \
    "IOSCRIBE_SPOOL_DIR=$T/w" IOSCRIBE_RECORDS=16 IOSCRIBE_LISTED_PROCESSES=7 IOSCRIBE_NONSENSE=1 "$files; echo >in.1"
  user env JOBX=1 sh -c 'echo x >out.1' # has not opted in
  log=$(job end 1)
  [ "$(stat -c '%u %a' "$log")" = "65534 400" ]
  [[ "$log" == "$T/logs/nobody_"* ]]
  [ "$(value "$log" POSIX_OPENS '/out.1$')" = 0 ]
  [ "$(value "$log" POSIX_BYTES_WRITTEN '/in.1$')" = 1 ]
}

@test "a variable of the service that is wrong: it is named, nothing is started" {
  run_it env IOSCRIBE_EXIT_GRACE_MS=soon "$IOSCRIBED" --service
  [ "$status" -eq 1 ]
  [ "$output" = "ioscribed: environment, IOSCRIBE_EXIT_GRACE_MS: exit_grace_ms: 'soon' is not a number from 0 to 3600000" ]
  run_it env IOSCRIBE_MEM_ALIGNMENT=odd "$IOSCRIBE" run -q --private -- touch "$T/w/never"
  [ "$status" -ne 0 ]
  [[ "$output" == *"mem_alignment: 'odd' is not a number"* ]]
  [ ! -e "$T/w/never" ]
}

@test "what a job was told survives the daemon" {
  serve --pin
  begin 1
  in_job 1 'DARSHAN_NAME_EXCLUDE=\.tmp' "$files"
  until_true sh -c '"$IOSCRIBE" job show 1 --timeout 60 | grep -qx living=0'
  kill -KILL "$DAEMON"
  gone "$DAEMON"
  serve --pin
  in_job 1 "echo x >later.tmp; echo x >later.out"
  log=$(job end 1)
  [ "$(value "$log" POSIX_OPENS '\.tmp')" = 0 ]
  [ "$(value "$log" POSIX_BYTES_WRITTEN '/later.out$')" = 2 ]
  [ "$(value "$log" POSIX_BYTES_WRITTEN '/a.out.1$')" = 4 ]
}

@test "a library that moves data past the kernel is named, though the daemon was killed since it was loaded" {
  cc -shared -o "$T/libcufile.so.0" -xc /dev/null
  serve --pin
  begin 1
  in_job 1 "python3 -c 'import ctypes; ctypes.CDLL(\"$T/libcufile.so.0\")'"
  until_true sh -c '"$IOSCRIBE" job show 1 --timeout 60 | grep -qx living=0'
  kill -KILL "$DAEMON"
  gone "$DAEMON"
  serve --pin
  log=$(job end 1)
  "$IOSCRIBE" summary "$log" | grep '^bypass     libcufile.so in 1 rank'
}
