#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What ioscribe doctor says of the node's service, its places and its scheduler.
load helper

# says VERDICT WHAT TEXT: the one line about it, and the exit code that belongs to a FIX.
says() {
  status=0
  output=$("$IOSCRIBE" doctor --service) || status=$?
  grep -F "$2" <<<"$output"
  grep -qxF "$(printf '%-5s %-22s %s' "$1" "$2" "$3")" <<<"$output"
  [ "$status" -eq "$(grep -q '^FIX' <<<"$output" && echo 1 || echo 0)" ]
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
  says FIX configuration "$IOSCRIBE_CONFIG, line 6: records: '3' is not a number from 16 to 16777216"
  sed -i '$d' "$IOSCRIBE_CONFIG"
  says ok configuration "$IOSCRIBE_CONFIG"
  chmod 755 "$T/logs"
  says FIX "log directory" "$T/logs: mode 0755, users cannot write there: chmod 1777"
  sed -i "s|^log_dir.*|log_dir = $T/none|" "$IOSCRIBE_CONFIG"
  says FIX "log directory" "$T/none: missing: make it with ioscribe logdir"
  export IOSCRIBE_HOOKS_CONF=$T/hooks.conf
  echo "options = records=100 log_dir=$T/users/%u log_layout=flat" >"$IOSCRIBE_HOOKS_CONF"
  mkdir -m 1777 "$T/users"
  says ok "log directory" "$T/users/, users"
  mkdir -m 755 "$T/spool"
  says FIX spool "$T/spool must be root's, mode 0700: the service refuses it"
  chmod 700 "$T/spool"
  says ok spool "$T/spool, empty"
  : >"$T/spool/1-0123456789abcdef.darshan"
  says note spool "1 logs in $T/spool wait for their place; the .to beside each names it: ioscribe logdir --check says what is wrong there"
  export SLURM_CONF=$T/slurm.conf
  printf 'Prolog=/usr/libexec/ioscribe/slurm/prolog\n' >"$SLURM_CONF"
  says note "Slurm's hooks" "Epilog of $SLURM_CONF is not ours by its name: a site's own must call ours (docs/site-guide.md)"
  printf 'Epilog=/usr/libexec/ioscribe/slurm/epilog\n' >>"$SLURM_CONF"
  says ok "Slurm's hooks" "Prolog and Epilog of $SLURM_CONF"
  says note "Slurm's plugin" "not in $T/plugstack.conf: no --ioscribe for sbatch; add: optional spank_ioscribe.so"
  echo 'optional /usr/lib/slurm/spank_ioscribe.so' >"$T/plugstack.conf"
  says ok "Slurm's plugin" "in $T/plugstack.conf"
}
