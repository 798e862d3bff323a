#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The unit as a real systemd runs it, sandbox and all: that is process 1 of
# namespaces of its own. Only the times of watchdog and stopping are shortened.

load helper

setup() {
  scratch
  mkdir -m 777 "$T/w"
  # not below /tmp, which the unit has one of its own of
  DESTDIR=$T cmake --install "$IOSCRIBE_BUILD" --prefix /run/usr --component daemon >"$T/install.log"
  mkdir -p "$T/run/units/ioscribed.service.d"
  cp "$T"/run/usr/lib/systemd/system/ioscribed.* "$T/run/units"
  printf '[Unit]\nDefaultDependencies=no\nWants=ioscribed.socket\n' >"$T/run/units/booted.target"
  for target in sysinit basic shutdown sockets local-fs remote-fs; do
    printf '[Unit]\nDefaultDependencies=no\n' >"$T/run/units/$target.target"
  done
  printf '[Service]\nWatchdogSec=12\nTimeoutStopSec=4\nTimeoutAbortSec=1\nStandardError=append:/run/said\nExecStart=\nExecStart=/run/usr/sbin/ioscribed --service --foreground --pin --config /run/ioscribed.conf\n' >"$T/run/units/ioscribed.service.d/short.conf"
  # the file system at hand stands in for Lustre, as in tests/trace/lustre.bats
  echo "layout_source = $(findmnt -no FSTYPE -T "$T"),user.lov" >"$T/run/ioscribed.conf"
  boot "$IOSCRIBE_SOURCE/tests/package/boot.sh" "$T/run"
}

job() {
  in_it "$IOSCRIBE" job "$@" --timeout 30
}

property() {
  in_it systemctl show -P "$1" ioscribed.service
}

# Two writes of 100 bytes by a process that joins.
work() {
  in_it env JOBX=5 IOSCRIBE_ENABLE=1 dd if=/dev/zero of="$T/w/$1" bs=100 count=2 2>/dev/null
}

restarted() {
  [ "$(property NRestarts)" -ge "$1" ] && [ "$(property ActiveState)" = active ]
}

@test "started by its socket, ready, restarted, killed, hung: it goes on with its jobs; stopped it leaves nothing" {
  [ "$(property ActiveState)" = inactive ]
  job begin --job-id 5 --uid 0 --match-env JOBX=5 || { in_it cat /run/said; false; }
  job ready 5
  [ "$(property ActiveState)" = active ]
  main=$(property MainPID)
  work a
  # files are where the programs see them: the unit has another /tmp
  echo x >"$T/w/striped"
  setfattr -n user.lov -v "0s$(base64 -w0 <"$IOSCRIBE_SOURCE/tests/data/lov/plain.lov")" "$T/w/striped"
  in_it env JOBX=5 IOSCRIBE_ENABLE=1 cat "$T/w/striped" >"$T/out"
  # what the sandbox leaves it: the capabilities that docs and tests list, a read-only system
  in_it grep -q '^NoNewPrivs:.1' "/proc/$main/status"
  in_it sh -c "grep -q ' / / ro' /proc/$main/mountinfo"
  in_it test -e /sys/fs/bpf/ioscribe/maps/scribe_slots
  # an upgrade's restart
  in_it systemctl restart ioscribed.service
  [ "$(property MainPID)" != "$main" ]
  job list | grep -q '^5 .*running'
  work b
  # killed
  in_it systemctl kill --kill-whom=main --signal=KILL ioscribed.service
  work c
  until_true restarted 1
  job list | grep -q '^5 .*running'
  # it hangs: the watchdog ends it
  in_it systemctl kill --kill-whom=main --signal=STOP ioscribed.service
  work d
  until_true restarted 2
  work e
  [ "$(property NRestarts)" = 2 ]
  run job end 5
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == /var/log/ioscribe/20* ]] # its place, not the spool
  in_it cat "$output" >"$T/job.darshan"
  "$IOSCRIBE" parse --base "$T/job.darshan" | awk -F '\t' -v at="$T/w/" '
    $4 == "POSIX_BYTES_WRITTEN" && index($6, at) == 1 { print substr($6, length(at) + 1), $5 }' >"$T/have"
  printf '%s 200\n' a b c d e | diff - <(grep -v striped "$T/have" | sort)
  "$IOSCRIBE" parse --all "$T/job.darshan" >"$T/parsed"
  grep -P "^LUSTRE\t0\t.*\t(LUSTRE_)?NUM_STRIPES\t2\t$T/w/striped\t" "$T/parsed" || { grep -P '^LUSTRE|^# mount' "$T/parsed"; cat "$T/run/said"; false; }
  # stopped without jobs: nothing is pinned, and the socket starts it again
  in_it systemctl stop ioscribed.service
  [ -z "$(in_it ls /sys/fs/bpf/ioscribe)" ]
  [ "$(property Result)" = success ]
  job begin --job-id 6 --uid 0
  job end 6 >/dev/null
}

# As an ordinary user.
as_nobody() {
  in_it setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

@test "a user's logs are where the user sees the place: /tmp, a mount namespace of his own, after a restart" {
  as_nobody sh -c "cd $T/w && $IOSCRIBE run --log own.darshan -- dd if=/dev/zero of=$T/w/one bs=100 count=2 2>/dev/null"
  "$IOSCRIBE" parse --base "$T/w/own.darshan" | grep -P "POSIX_BYTES_WRITTEN\t200\t$T/w/one\t"
  # the daemon ends between a command's begin and its end
  mkfifo "$T/w/go"
  as_nobody sh -c "cd $T/w && $IOSCRIBE run --log over.darshan -- sh -c 'echo began >two; read line <go; echo ends >>two'" &
  until_true [ -s "$T/w/two" ]
  in_it systemctl restart ioscribed.service
  echo >"$T/w/go"
  wait $!
  "$IOSCRIBE" parse --base "$T/w/over.darshan" | grep -P "POSIX_BYTES_WRITTEN\t11\t$T/w/two\t"
  # a scheduler's job
  mkdir -m 755 "$T/w/logs" && chown 65534 "$T/w/logs"
  job begin --job-id 5 --uid 65534 --match-env JOBX=5 log_dir="$T/w/logs" log_layout=flat
  job ready 5
  as_nobody env JOBX=5 IOSCRIBE_ENABLE=1 dd if=/dev/zero of="$T/w/three" bs=100 count=2 2>/dev/null
  run job end 5
  echo "$output"
  [[ $output == "$T/w/logs/"*.darshan ]]
  "$IOSCRIBE" parse --base "$output" | grep -P "POSIX_BYTES_WRITTEN\t200\t$T/w/three\t"
  # what others see there is another file system
  mkdir "$T/w/private"
  in_it unshare -m sh -c "mount -t tmpfs -o mode=777 tmpfs $T/w/private &&
    setpriv --reuid 65534 --regid 65534 --clear-groups $IOSCRIBE run --log $T/w/private/x.darshan -- touch $T/w/private/four &&
    cp $T/w/private/x.darshan $T/private.darshan"
  "$IOSCRIBE" parse --base "$T/private.darshan" >"$T/parsed"
  grep -P "POSIX_OPENS\\t2\\t$T/w/private/four\\t" "$T/parsed" || { cat "$T/parsed"; false; }
  [ -z "$(ls "$T/w/private")" ]
  ! in_it find /var/spool/ioscribe -name '*.darshan' | grep . || return 1
}
