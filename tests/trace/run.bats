#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# ioscribe run as a command: exit codes, who CMD is, where logs go, what it says
# and what happens when something of ours fails.
load helper

run_it() {
  status=0
  output=$("$IOSCRIBE" run "$@" 2>&1) || status=$?
  echo "$output"
}

@test "exit codes: CMD's own, 128+n, 127, 126, 2" {
  run_it -q --force --log "$LOG" -- sh -c 'exit 42'
  [ "$status" -eq 42 ]
  run_it -q --force --log "$LOG" -- sh -c 'kill -15 $$'
  [ "$status" -eq 143 ]
  run_it --force --log "$LOG" -- no-such-command
  [ "$status" -eq 127 ]
  [ "$output" = "ioscribe run: no-such-command: command not found" ]
  run_it --force --log "$LOG" -- /etc/passwd
  [ "$status" -eq 126 ]
  [ "$output" = "ioscribe run: /etc/passwd: cannot be executed: Permission denied" ]
  run_it --force --log "$LOG"
  [ "$status" -eq 2 ]
  run_it --log
  [ "$status" -eq 2 ]
  run_it --records many -- true
  [ "$status" -eq 2 ]
  [ "$output" = "ioscribe run: --records: 'many' is no number; see ioscribe run --help" ]
  run_it --records 15 -- true
  [ "$status" -eq 1 ]
  [[ "$output" == *"records: '15' is not a number from 16 to 16777216" ]]
}

@test "options of CMD are CMD's, with and without --" {
  run_it -q --force --log "$LOG" echo --quiet -x
  [ "$output" = "--quiet -x" ]
  run_it --force --log "$LOG" -q -- echo --log
  [ "$output" = "--log" ]
}

@test "library programs are loaded only where the command may come to use a library" {
  run_it -q --verbose --force --log "$LOG" -- true
  [ "$status" -eq 0 ]
  [[ "$output" == *scribe_sys_enter* ]]
  [[ "$output" != *scribe_lib* ]]
  # a shell may start anything
  run_it -q --verbose --force --log "$LOG" -- sh -c true
  [[ "$output" == *scribe_lib* ]]
  # so may what somebody preloads
  LD_PRELOAD=libm.so.6 run_it -q --verbose --force --log "$LOG" -- true
  [[ "$output" == *scribe_lib* ]]
}

@test "interrupted while it starts: gone at once, and nobody holds its output" {
  local begin
  begin=$(date +%s%N)
  # the reader of the pipe ends when the last that holds it has
  { timeout -s INT 0.1 "$IOSCRIBE" run --force --log "$LOG" -- sleep 10 2>&1 || echo "status $?"; } | cat >out
  [ "$(tail -n 1 out)" = "status 124" ]
  echo "$((($(date +%s%N) - begin) / 1000000)) ms"
  [ $((($(date +%s%N) - begin) / 1000000)) -lt 300 ]
  [ ! -e "$LOG" ]
}

@test "standard input, output and error are CMD's" {
  echo data | "$IOSCRIBE" run -q --force --log "$LOG" -- sh -c 'cat; echo oops >&2' >out 2>err
  [ "$(cat out)" = data ]
  [ "$(cat err)" = oops ]
}

@test "under sudo CMD and the log are the invoking user's" {
  chmod 755 "$T" && chmod 777 "$T/w"
  SUDO_UID=65534 SUDO_GID=65534 "$IOSCRIBE" run -q --log-dir "$T/w/logs" -- \
    sh -c 'id -u; id -G; echo "$USER"; echo x >mine' >out
  [ "$(cat out)" = "65534
65534
nobody" ]
  [ "$(stat -c %u mine)" -eq 65534 ]
  log=$(find "$T/w/logs" -name '*.darshan')
  [ "$(stat -c '%u %a' "$log")" = "65534 400" ]
  [[ "$log" =~ /logs/[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}/nobody_sh_id[0-9]+-[0-9]+_[0-9]+-[0-9]+-[0-9]+-[0-9]+_1.darshan$ ]]
  "$IOSCRIBE" parse "$log" | grep -x '# uid: 65534'
}

@test "--log onto a file that is there: not without --force; nothing is run, and the file stays" {
  echo before >"$LOG"
  for way in "" --best-effort --require-trace; do
    run_it $way --log "$LOG" -- touch started
    [ "$status" -eq 1 ]
    [ "$output" = "ioscribe run: --log $LOG: File exists (--force replaces it)" ]
  done
  ln -s nowhere "$T/link.darshan"
  run_it --log "$T/link.darshan" -- touch started
  [ "$status" -eq 1 ]
  [ ! -e started ]
  [ "$(cat "$LOG")" = before ]
  run_it -q --force --log "$LOG" -- sh -c 'echo 1 >f'
  [ "$status" -eq 0 ]
  "$IOSCRIBE" parse "$LOG" | grep -q POSIX_OPENS
}

@test "a beginning of an option's name that is its alone: what follows is its argument, not CMD" {
  run_it -q --forc --log "$LOG" --exc "$T/w/a/" -- echo hi
  [ "$status" -eq 0 ]
  [ "$output" = hi ]
  run_it -q --force --log "$LOG" --exc "$T/w/a/" echo hi
  [ "$output" = hi ]
}

@test "without --log the log is in the current directory" {
  run_it -q -- true
  [ "$(ls -1 "$T/w" | wc -l)" -eq 1 ]
  [[ "$(ls "$T/w")" == *_true_id*_1.darshan ]]
}

@test "the summary names the log and what is in it" {
  run_it --force --log "$LOG" -- dd if=/dev/zero of=big bs=1000 count=7
  [[ "$output" == *"ioscribe: log $LOG"* ]]
  grep -E '^  POSIX +1 +0 B +0 +6.8 KiB +7 ' <<<"$output"
  [ "$(grep -c '^  ' <<<"$output")" -le 16 ]
}

@test "a place where nothing can be written: one line, CMD is not started" {
  run_it --log /proc/x.darshan -- touch started
  [ "$status" -eq 1 ]
  [[ "$output" == "ioscribe run: no log can be written to /proc/: "* ]]
  run_it --log-dir /proc/logs -- touch started
  [ "$status" -eq 1 ]
  [ "$(wc -l <<<"$output")" -eq 1 ]
  run_it --force --log "$T/w" -- touch started
  [ "$status" -eq 2 ]
  [ ! -e started ]
}

@test "a place that vanishes meanwhile: the log goes to /tmp" {
  mkdir gone
  name=vanished.$$.darshan
  run_it --force --log "gone/$name" -- rmdir gone
  [ "$status" -eq 0 ]
  [[ "$output" == *"ioscribe: log /tmp/$name"* ]]
  "$IOSCRIBE" parse "/tmp/$name" | grep -q '^# exe: rmdir gone'
  rm -f "/tmp/$name"
}

@test "without the privileges: one line, and only --best-effort starts CMD" {
  command -v capsh >/dev/null || { echo "capsh is missing (libcap2-bin)"; return 1; }
  drop=cap_bpf,cap_perfmon,cap_sys_admin
  status=0
  output=$(capsh --drop=$drop -- -c "'$IOSCRIBE' run --force --log '$LOG' -- echo hi" 2>&1) || status=$?
  [ "$status" -eq 1 ]
  [ "$(wc -l <<<"$output")" -eq 1 ]
  [[ "$output" == "ioscribe run: "*"root"* ]]
  status=0
  output=$(capsh --drop=$drop -- -c "'$IOSCRIBE' run --best-effort --force --log '$LOG' -- sh -c 'echo hi; exit 6'" 2>&1) || status=$?
  [ "$status" -eq 6 ]
  [[ "$output" == *$'\nhi' ]]
  [ ! -e "$LOG" ]
}

@test "CAP_BPF and CAP_PERFMON are enough, as README says" {
  chmod 711 "$T"
  mkdir -m 777 "$T/caps"
  (cd "$T/caps" && setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=+bpf,+perfmon --ambient-caps=+bpf,+perfmon \
    env HOME="$T/caps" "$IOSCRIBE" run --private --force --log "$T/caps/log.darshan" -- dd if=/dev/zero of="$T/caps/x" bs=1000 count=3)
  "$IOSCRIBE" parse --base "$T/caps/log.darshan" |
    awk -F '\t' '$4 == "POSIX_BYTES_WRITTEN" && $6 ~ /caps\/x$/ { print $5 }' >"$T/bytes"
  [ "$(cat "$T/bytes")" = 3000 ]
}

@test "not root: one line" {
  cp "$IOSCRIBE" "$T/ioscribe" && chmod 755 "$T" "$T/ioscribe"
  status=0
  output=$(setpriv --reuid 65534 --clear-groups "$T/ioscribe" run -- true 2>&1) || status=$?
  [ "$status" -eq 1 ]
  [ "$output" = "ioscribe run: needs root to trace: sudo ioscribe run -- CMD" ]
}

@test "signals sent to run reach CMD" {
  "$IOSCRIBE" run -q --force --log "$LOG" -- sh -c 'trap "echo got; exit 9" USR1; echo ready; while :; do sleep 0.05; done' >out &
  pid=$!
  for _ in $(seq 100); do grep -q ready out && break; sleep 0.1; done
  kill -USR1 "$pid"
  status=0
  wait "$pid" || status=$?
  [ "$status" -eq 9 ]
  grep -x got out
}

# The daemon that serves the `ioscribe run` of process $1.
daemon_of() {
  pgrep -x -P "$1" ioscribed
}

@test "the daemon is killed: CMD goes on, its exit code is its own, nothing is left" {
  "$IOSCRIBE" run --force --log "$LOG" -- sh -c 'echo ready; sleep 1; echo done; exit 4' >out 2>err &
  pid=$!
  for _ in $(seq 100); do grep -q ready out && break; sleep 0.1; done
  kill -KILL "$(daemon_of "$pid")"
  status=0
  wait "$pid" || status=$?
  [ "$status" -eq 4 ]
  grep -x done out
  [ "$(cat err)" = "ioscribe run: the daemon is gone: no log was written" ]
}

@test "the daemon is told to end: it writes what there is" {
  "$IOSCRIBE" run --force --log "$LOG" -- sh -c 'echo early >file; echo ready; sleep 1; exit 4' >out 2>err &
  pid=$!
  for _ in $(seq 100); do grep -q ready out && break; sleep 0.1; done
  kill -TERM "$(daemon_of "$pid")"
  status=0
  wait "$pid" || status=$?
  [ "$status" -eq 4 ]
  grep -q 'still running' err
  "$IOSCRIBE" parse "$LOG" | grep -P '\tPOSIX_WRITES\t1\t.*/file\t'
}

@test "the daemon hangs: CMD goes on, run ends in bounded time" {
  "$IOSCRIBE" run --force --log "$LOG" -- sh -c 'echo ready; sleep 0.5; exit 4' >out 2>err &
  pid=$!
  for _ in $(seq 100); do grep -q ready out && break; sleep 0.1; done
  daemon=$(daemon_of "$pid")
  kill -STOP "$daemon"
  sleep 1.5
  kill -CONT "$daemon"
  status=0
  wait "$pid" || status=$?
  [ "$status" -eq 4 ]
  [ -s "$LOG" ]
}

@test "a straggler: waited for briefly, then it stands in the log as running" {
  trace_options=()
  "$IOSCRIBE" run --force --log "$LOG" -- sh -c 'setsid sh -c "sleep 30" >/dev/null 2>&1 & echo $! >straggler' 2>err
  grep -q 'still running' err
  "$IOSCRIBE" parse "$LOG" | grep -P '\tPROCESS_END_KIND\t0\t'
  pkill -KILL -P "$(cat straggler)" || true
  kill -KILL "$(cat straggler)" || true
}

@test "IOSCRIBE_DISABLE=1: that process and its children are not recorded" {
  run_it -q --force --log "$LOG" -- sh -c 'echo 1 >seen; IOSCRIBE_DISABLE=1 sh -c "sleep 0.2; echo 1 >unseen; cat seen >too"; echo 1 >after'
  "$IOSCRIBE" parse "$LOG" >"$T/parsed"
  grep -q "POSIX_WRITES.1.$T/w/seen" "$T/parsed"
  grep -q "POSIX_WRITES.1.$T/w/after" "$T/parsed"
  [ "$(grep -c "$T/w/unseen\|$T/w/too" "$T/parsed")" -eq 0 ]
}

@test "--exclude and --include" {
  mkdir -p a/b c
  run_it -q --force --log "$LOG" --exclude "$T/w/a/" --include "$T/w/a/b/" -- sh -c 'echo 1 >a/x; echo 1 >a/b/y; echo 1 >c/z'
  "$IOSCRIBE" parse "$LOG" >"$T/parsed"
  ! grep -q "$T/w/a/x" "$T/parsed" || return 1
  grep -q "POSIX_WRITES.1.$T/w/a/b/y" "$T/parsed"
  grep -q "POSIX_WRITES.1.$T/w/c/z" "$T/parsed"
}

@test "--config" {
  printf '# mine\nexclude = %s/\nlog_file = %s\n' "$T/w/out" "$LOG" >conf
  mkdir out
  run_it -q --config conf -- sh -c 'echo 1 >out/x; echo 1 >y'
  "$IOSCRIBE" parse "$LOG" >"$T/parsed"
  ! grep -q "$T/w/out/x" "$T/parsed" || return 1
  grep -q "POSIX_WRITES.1.$T/w/y" "$T/parsed"
  echo 'wrong = 1' >conf
  run_it --config conf -- touch started
  [ "$status" -eq 1 ]
  [[ "$output" == *"unknown key 'wrong'" ]]
  [ ! -e started ]
}

@test "records run out: totals stay exact, the ledger says so, the log is not partial" {
  run_it -q --force --log "$LOG" --records 500 -- sh -c 'for i in $(seq 2000); do echo $i >f$i; done'
  "$IOSCRIBE" parse "$LOG" >"$T/parsed"
  [ "$(awk -F'\t' '$4 == "POSIX_WRITES" { n += $5 } END { print n }' "$T/parsed")" -eq 2000 ]
  [ "$(awk -F'\t' '$4 == "POSIX_EXT_CREATES" { n += $5 } END { print n }' "$T/parsed")" -eq 2000 ]
  grep -P '\tPOSIX_WRITES\t\d+\t<folded:\d+>' "$T/parsed"
  [ "$(awk -F'\t' '$4 == "LEDGER_OVERFLOWED_FILES" { print $5 }' "$T/parsed")" -gt 1000 ]
  "$IOSCRIBE" parse --total "$LOG" >/dev/null
}

@test "doctor: every line is ok, a note, or what to do" {
  status=0
  output=$("$IOSCRIBE" doctor) || status=$?
  echo "$output"
  [ "$status" -eq 0 ]
  ! grep -vE '^(ok|note) ' <<<"$output" || return 1
  grep -qE '^ok +tracing programs ' <<<"$output"
  cp "$IOSCRIBE" "$T/ioscribe" && chmod 755 "$T" "$T/ioscribe"
  status=0
  output=$(setpriv --reuid 65534 --clear-groups "$T/ioscribe" doctor) || status=$?
  [ "$status" -eq 1 ]
  grep -E '^FIX +privileges +not root: use sudo' <<<"$output"
}
