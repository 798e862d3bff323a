#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What ioscribe doctor says of the node's service, its places and its scheduler.
load helper

teardown() {
  [ -z "${FS:-}" ] || kill -CONT "$FS" 2>/dev/null || true
  ! grep -q " $T/fs " /proc/self/mounts || until_true umount "$T/fs"
  helper_teardown
}

# says VERDICT WHAT TEXT: the one line about it, and the exit code that belongs to a FIX.
says() {
  status=0
  output=$("$IOSCRIBE" doctor --service) || status=$?
  grep -F "$2" <<<"$output"
  grep -qxF "$(printf '%-5s %-22s %s' "$1" "$2" "$3")" <<<"$output"
  [ "$status" -eq "$(grep -q '^FIX' <<<"$output" && echo 1 || echo 0)" ]
}

setup() {
  helper_setup
  export IOSCRIBE_HOOKS_CONF=$T/hooks.conf SLURM_CONF=$T/slurm.conf
}

@test "no service, a service, one whose socket is closed to users, one that is stopped" {
  says note service "none at $IOSCRIBE_DIR: the first job of a prolog starts one, or systemctl enable --now ioscribed"
  serve
  job begin --job-id 1 --uid 65534 --match-env JOBX=1
  says ok service "answers at $IOSCRIBE_DIR/socket, 1 jobs"
  says ok "service's build" "process $DAEMON, $IOSCRIBED"
  says ok configuration "$IOSCRIBE_CONFIG"
  says ok "log directory" "$T/logs, flat"
  says ok spool "$T/spool, made when it is needed"
  chmod 600 "$IOSCRIBE_DIR/socket"
  says FIX "service's socket" "mode 0600, users cannot connect: chmod 0666 $IOSCRIBE_DIR/socket"
  chmod 666 "$IOSCRIBE_DIR/socket"
  kill -STOP "$DAEMON"
  says FIX service "the daemon at $IOSCRIBE_DIR does not answer: it is stopped, hangs, or is busy; systemctl restart ioscribed, jobs go on"
  kill -CONT "$DAEMON"
  job end 1
}

@test "configuration, log directory, spool, Slurm: what is wrong and what to do" {
  echo 'records = 3' >>"$IOSCRIBE_CONFIG"
  says FIX configuration "$IOSCRIBE_CONFIG, line 7: records: '3' is not a number from 16 to 16777216"
  sed -i '$d' "$IOSCRIBE_CONFIG"
  says ok configuration "$IOSCRIBE_CONFIG"
  chmod 755 "$T/logs"
  says FIX "log directory" "$T/logs: mode 0755, users cannot write there: chmod 1777"
  sed -i "s|^log_dir.*|log_dir = $T/none|" "$IOSCRIBE_CONFIG"
  says FIX "log directory" "$T/none: missing: make it with ioscribe logdir"
  echo "options = records=100 log_dir=$T/users/%u log_layout=flat" >"$IOSCRIBE_HOOKS_CONF"
  mkdir -m 1777 "$T/users"
  says ok "log directory" "$T/users/, users"
  mkdir -m 755 "$T/spool"
  says FIX spool "$T/spool must be root's, mode 0700: the service refuses it"
  chmod 700 "$T/spool"
  says ok spool "$T/spool, empty"
  mkdir "$T/spool/1"
  : >"$T/spool/1/0123456789abcdef.darshan"
  says note spool "1 logs in $T/spool wait for their place (ioscribe job list names each): ioscribe logdir --check says what is wrong there"
  mkdir "$T/ioscribe"
  cp "$IOSCRIBE_SOURCE/scripts/slurm/prolog" "$T/ioscribe/prolog"
  printf 'Prolog=%s/ioscribe/prolog\n' "$T" >"$SLURM_CONF"
  says note "Slurm's hooks" "Epilog of $SLURM_CONF is not ours by its name: a site's own must call ours (docs/site-guide.md)"
  printf 'Epilog=%s/ioscribe/epilog  # ours\n' "$T" >>"$SLURM_CONF"
  says FIX "Slurm's hooks" "$SLURM_CONF: Epilog=$T/ioscribe/epilog: No such file or directory; Slurm drains the node"
  cp "$IOSCRIBE_SOURCE/scripts/slurm/epilog" "$T/ioscribe/epilog"
  says ok "Slurm's hooks" "Prolog and Epilog of $SLURM_CONF"
  says note "Slurm's plugin" "not in $T/plugstack.conf: no --ioscribe for sbatch; add: optional $(realpath "$IOSCRIBE_BUILD/runtime/slurm/spank_ioscribe.so")"
  echo 'optional /usr/lib/slurm/spank_ioscribe.so' >"$T/plugstack.conf"
  says ok "Slurm's plugin" "in $T/plugstack.conf"
}

@test "hooks.conf: read as the hooks read it, each useless line named" {
  : >"$T/libfake.so"
  printf 'options = log_layout=flat\tlog_dir=%s/logs # where all nodes see it\nlibrary = %s/libfake.so\t# ours\nstreams = yes\n' \
    "$T" "$T" >"$IOSCRIBE_HOOKS_CONF"
  says FIX hooks "$IOSCRIBE_HOOKS_CONF: streams = yes, but $T/libioscribe-inside.so: No such file or directory"
  : >"$T/libioscribe-inside.so"
  says ok hooks "$IOSCRIBE_HOOKS_CONF"
  says ok "log directory" "$T/logs, flat"
  printf 'option = log_dir=/x\nseconds = soon\njobs = some\njust a line\nioscribe = %s/none\n' "$T" >"$IOSCRIBE_HOOKS_CONF"
  says FIX hooks "$IOSCRIBE_HOOKS_CONF, line 1: option = log_dir=/x is no key of the hooks"
  says FIX hooks "$IOSCRIBE_HOOKS_CONF, line 2: seconds = soon is not a number; the default is used"
  says FIX hooks "$IOSCRIBE_HOOKS_CONF, line 3: jobs = some is neither all nor asked"
  says FIX hooks "$IOSCRIBE_HOOKS_CONF, line 4: 'just a line' is not KEY = VALUE"
  says FIX hooks "$IOSCRIBE_HOOKS_CONF: ioscribe = $T/none: No such file or directory"
  echo 'jobs = all' >"$IOSCRIBE_HOOKS_CONF"
  touch "$T/off"
  says note "switched off" "$T/off is there: hooks and plugin do nothing; remove it to record jobs again"
}

@test "a job's log: the running daemon writes and removes one, with the hooks' options, as a user" {
  serve
  says ok "a job's log" "$T/logs: the service wrote one of user nobody there and removed it"
  [ -z "$(ls -A "$T/logs")" ]
  # what each prolog would be refused
  echo 'options = log_dir=/scratch in hooks.conf' >"$IOSCRIBE_HOOKS_CONF"
  says FIX "a job's log" "'in' is not KEY=VALUE"
  echo 'options = logdir=/scratch' >"$IOSCRIBE_HOOKS_CONF"
  says FIX "a job's log" "unknown key 'logdir'"
  echo 'options = NAME_EXCLUDE=^/tmp/(a' >"$IOSCRIBE_HOOKS_CONF"
  says FIX "a job's log" "NAME_EXCLUDE: '^/tmp/(a' is no extended regular expression: Unmatched ( or \\("
  # a directory that is there and that only root may write to
  mkdir -m 755 "$T/closed"
  echo "options = log_dir=$T/closed log_layout=flat" >"$IOSCRIBE_HOOKS_CONF"
  says FIX "a job's log" "$T/closed: user nobody (65534) cannot write a log there: Permission denied"
  # users' own directories: nobody's is made for the try, and taken away
  mkdir -m 1777 "$T/users"
  echo "options = log_dir=$T/users/%u log_layout=flat" >"$IOSCRIBE_HOOKS_CONF"
  says ok "a job's log" "$T/users/nobody: the service wrote one of user nobody there and removed it"
  [ -z "$(ls -A "$T/users")" ]
  install -d -o games -m 700 "$T/users/games"
  : >"$T/users/games/log"
  "$IOSCRIBE" doctor --service --user games | grep -F "$T/users/games: the service wrote one of user games there and removed it"
  [ "$(ls -A "$T/users/games")" = log ]
  # directories of the date
  mkdir -m 755 "$T/dated"
  echo "options = log_dir=$T/dated log_layout=dated" >"$IOSCRIBE_HOOKS_CONF"
  says ok "a job's log" "$T/dated/$(date +%Y/%-m/%-d): the service wrote one of user nobody there and removed it"
  # the daemon's own configuration counts, as it has read it
  rm "$IOSCRIBE_HOOKS_CONF"
  sed -i "s|^log_dir.*|log_dir = $T/none|" "$IOSCRIBE_CONFIG"
  touch -d '+2 seconds' "$IOSCRIBE_CONFIG"
  says note configuration "$IOSCRIBE_CONFIG has changed since the service started: systemctl restart ioscribed, jobs go on"
  says ok "a job's log" "$T/logs: the service wrote one of user nobody there and removed it"
  # nobody else may have the daemon write anywhere
  run user env IOSCRIBE_DIR="$IOSCRIBE_DIR" "$IOSCRIBE" doctor --service
  [[ $output == *"not tried: the service does it for root alone"* ]]
}

@test "a job's log: a directory that does not answer keeps the service from nothing" {
  serve
  late_fs
  kill -STOP "$FS"
  echo "options = log_dir=$T/fs/logs log_layout=flat" >"$IOSCRIBE_HOOKS_CONF"
  "$IOSCRIBE" doctor --service >"$T/said" 3>&- &
  local doctor=$! longest=0 from
  echo "$doctor" >>"$T/pids"
  while kill -0 "$doctor" 2>/dev/null; do
    from=$(date +%s%N)
    job list >/dev/null
    from=$(($(date +%s%N) - from))
    [ "$from" -le "$longest" ] || longest=$from
  done
  kill -CONT "$FS"
  grep log "$T/said"
  echo "longest answer: $((longest / 1000000)) ms"
  grep -qxF "FIX   log directory          $T/fs/logs: its file system does not answer" "$T/said"
  grep -qxF "FIX   a job's log            $T/fs/logs: its file system does not answer" "$T/said"
  [ "$longest" -lt 1900000000 ] # a service that waited itself would take all of its three steps
}
