#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Every kind of refusal that can be made on this kernel, really made: each has a line
# of its own that names the cause. Those of other kernels: guests.bats, and as a table
# of facts unit.bpf_refusal.
load helper

# ---- not privileges, though errno says so ----

@test "the verifier refuses a program: its own words, and no word of root" {
  mkdir bin
  cp "$IOSCRIBE" bin/ioscribe
  cp "$IOSCRIBE_BUILD/tests/refusals/ioscribed_verifier" bin/ioscribed
  IOSCRIBE=$T/bin/ioscribe
  run_options=(--set bpf_attach_mode=tp_btf_probe)
  refused "program scribe_sys_enter: the verifier of Linux $RELEASE refuses it: R* invalid mem access 'scalar' (not a matter of privileges; ioscribe doctor --features shows which ways are left)" env
  # the other ways are left
  run_it "$IOSCRIBE" doctor
  grep '^ok *tracing programs *all load and attach, by tp_btf' <<<"$output"
  run_it "$IOSCRIBE" doctor --features
  [ "$status" -eq 0 ]
  grep '^tp_btf *ok ' <<<"$output"
  grep '^tp_btf_probe *refused' <<<"$output"
  grep "why: program scribe_sys_enter: the verifier of Linux" <<<"$output"
}

@test "a kernel function that this kernel does not have" {
  mkdir bin
  cp "$IOSCRIBE" bin/ioscribe
  cp "$IOSCRIBE_BUILD/tests/refusals/ioscribed_function" bin/ioscribed
  IOSCRIBE=$T/bin/ioscribe
  run_options=(--set bpf_attach_mode=tp_btf_probe)
  refused "loading the programs: *: Linux $RELEASE does not take it: libbpf: extern (func ksym) 'scribe_no_such': not found in kernel or module BTFs" env
}

@test "a seccomp filter: bpf() is denied with EPERM, with ENOSYS, by death" {
  line="*: a seccomp filter forbids the system call bpf here: allow it (container: --security-opt seccomp=FILE)"
  refused "$line" "$PROG/deny" 1 bpf
  refused "$line" "$PROG/deny" 38 bpf
  diagnosed "$line" "$PROG/deny" 1 bpf
  no_privileges
  refused "the daemon was ended by signal 31 (Bad system call): a seccomp filter that is over this command kills whoever traces: run it outside of that" \
    "$PROG/deny" kill bpf
}

@test "a seccomp filter denies perf_event_open: ways are gone, and the table says by what" {
  run_it "$PROG/deny" 1 perf_event_open "$IOSCRIBE" doctor --features
  [ "$status" -eq 0 ]
  for way in tracepoint uprobe_events; do
    grep -A2 "^$way *refused" <<<"$output" |
      grep 'why: .*: a seccomp filter forbids the system call perf_event_open here'
    grep -A2 "^$way *refused" <<<"$output" | grep 'without it: '
  done
}

@test "no trace file system: ways are gone, and the table says so" {
  run_it unshare -m sh -c 'while umount -l /sys/kernel/tracing 2>/dev/null; do :; done; exec "$@"' sh "$IOSCRIBE" doctor --features
  [ "$status" -eq 0 ]
  for way in tracepoint uprobe_events; do
    grep -A1 "^$way *refused" <<<"$output" |
      grep 'why: .*: mount -t tracefs tracefs /sys/kernel/tracing'
  done
}

@test "a user namespace, with and without root's number in it" {
  line="not possible in a user namespace (a rootless container, unshare -U): trace from outside, as the machine's root"
  refused "$line" unshare -U
  refused "$line" unshare -Ur
  run_it unshare -Ur "$IOSCRIBE" doctor
  grep "^FIX *privileges *this is a user namespace" <<<"$output"
  no_privileges
  # the daemon itself
  run_it unshare -Ur "$IOSCRIBED" --features
  [ "$status" -eq 1 ]
  grep -P '^tp_btf_probe\trefused\t[^\t]*\t.*: not possible in a user namespace' <<<"$output"
}

# ---- privileges ----

@test "CAP_BPF, CAP_PERFMON, both: each is named" {
  line="*: not permitted for user 0 without CAP_BPF: run as root (sudo), or add it (container: --cap-add)"
  refused "$line" without bpf,sys_admin
  diagnosed "$line" without bpf,sys_admin
  no_privileges
  line="program scribe_*: not permitted for user 0 without CAP_PERFMON: run as root (sudo), or add it (container: --cap-add)"
  refused "$line" without perfmon,sys_admin
  diagnosed "$line" without perfmon,sys_admin
  no_privileges
  line="*: not permitted for user 0 without CAP_BPF and CAP_PERFMON: run as root (sudo), or add both (container: --cap-add)"
  refused "$line" without bpf,perfmon,sys_admin
  diagnosed "$line" without bpf,perfmon,sys_admin
  no_privileges
}

@test "CAP_SETGID: logs cannot be written as the user" {
  refused "cannot become user 0: Operation not permitted: CAP_SETUID and CAP_SETGID are needed" without setgid
  run_it without setgid "$IOSCRIBE" doctor
  [ "$status" -eq 1 ]
  no_privileges
}

@test "not root: nothing to try; with CAP_BPF and CAP_PERFMON it is traced" {
  refused "needs root to trace: sudo ioscribe run -- CMD" setpriv --reuid 65534 --regid 65534 --clear-groups
  run_it setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps +bpf,+perfmon --ambient-caps +bpf,+perfmon \
    "$IOSCRIBE" run --quiet --force --log "$LOG" -- dd if=/dev/zero of="$T/logs/out" bs=1000 count=7 status=none
  [ "$status" -eq 0 ]
  "$IOSCRIBE" parse --base "$LOG" | grep -P '\tPOSIX_WRITES\t7\t'
}

@test "CAP_SYS_ADMIN in place of CAP_BPF and CAP_PERFMON, as containers of old have it: traced, and so by a service" {
  run_it without bpf,perfmon "$IOSCRIBE" run --quiet --force --log "$LOG" -- dd if=/dev/zero of="$T/logs/out" bs=1000 count=7 status=none
  [ "$status" -eq 0 ]
  "$IOSCRIBE" parse --base "$LOG" | grep -P '\tPOSIX_WRITES\t7\t'
  without bpf,perfmon "$IOSCRIBED" --service --stay
  rm "$LOG" "$T/logs/out"
  "$IOSCRIBE" job begin --job-id 1 --uid 65534 --match-env JOBX=1
  "$IOSCRIBE" job ready 1
  setpriv --reuid 65534 --regid 65534 --clear-groups env JOBX=1 IOSCRIBE_ENABLE=1 dd if=/dev/zero of="$T/logs/out" bs=1000 count=9 status=none
  "$IOSCRIBE" job end 1
  "$IOSCRIBE" parse --base "$T"/logs/*.darshan | grep -P '\tPOSIX_WRITES\t9\t'
}

# ---- what the machine or container lacks ----

@test "no types (BTF): hidden, without /sys, unreadable" {
  mkdir empty
  : >secret
  chmod 000 secret
  chown 65534 secret
  line="/sys/kernel/btf/vmlinux: Linux $RELEASE offers no types (BTF) here: use a kernel built with CONFIG_DEBUG_INFO_BTF, and give a container the machine's /sys (read-only is enough)"
  refused "$line" unshare -m sh -c 'mount --bind '"$T"'/empty /sys/kernel/btf && exec "$@"' sh
  diagnosed "$line" unshare -m sh -c 'mount --bind '"$T"'/empty /sys/kernel/btf && exec "$@"' sh
  refused "$line" unshare -m sh -c 'mount -t tmpfs none /sys && exec "$@"' sh
  refused "/sys/kernel/btf/vmlinux: the kernel's types (BTF) may not be read: a rule of this system or container forbids it: allow reading that file" \
    unshare -m sh -c 'mount --bind '"$T"'/secret /sys/kernel/btf/vmlinux && exec setpriv --bounding-set -dac_override,-dac_read_search "$@"' sh
}

@test "no BPF file system: a service that shall pin says so and serves without; the table says so" {
  # with CAP_SYS_ADMIN it would mount one
  hidden=(unshare -m sh -c 'while umount -l /sys/fs/bpf 2>/dev/null; do :; done; exec setpriv --bounding-set -sys_admin "$@"' sh)
  "${hidden[@]}" "$IOSCRIBED" --service --stay --pin
  grep -x "ioscribed: no BPF file system at /sys/fs/bpf: jobs will not survive this daemon: mount -t bpf bpf /sys/fs/bpf before it starts" "$IOSCRIBE_DIR/log"
  "$IOSCRIBE" job begin --job-id 1 --uid 65534 --match-env JOBX=1
  "$IOSCRIBE" job end 1
  run_it "${hidden[@]}" "$IOSCRIBE" doctor --features
  [ "$status" -eq 0 ]
  grep -A1 '^pins *refused' <<<"$output" | grep 'why: cannot pin below /sys/fs/bpf/[^ ]*, which must be on a BPF file system'
}

@test "a service that is refused tells every job and every run, and names the cause once" {
  without perfmon,sys_admin "$IOSCRIBED" --service --stay
  line="program scribe_*: not permitted for user 0 without CAP_PERFMON: run as root (sudo), or add it (container: --cap-add)"
  run_it "$IOSCRIBE" job begin --job-id 1 --uid 0 --match-env JOBX=1
  [ "$status" -eq 1 ]
  # shellcheck disable=SC2053
  [[ $output == "ioscribe job: "$line ]]
  # root has a daemon of its own then; others' commands run untraced
  run_it "$IOSCRIBE" run --quiet --force --log "$LOG" -- sh -c 'echo hi; exit 6'
  [ "$status" -eq 6 ]
  # shellcheck disable=SC2053
  [[ $output == "ioscribe run: "$line"; a daemon of its own is started"$'\n'hi ]]
  [ -s "$LOG" ]
  chmod 755 "$T"
  mkdir -m 1777 "$T/theirs"
  run_it setpriv --reuid 65534 --regid 65534 --clear-groups \
    "$IOSCRIBE" run --force --log "$T/theirs/run.darshan" -- sh -c 'echo hi; exit 6'
  [ "$status" -eq 6 ]
  # shellcheck disable=SC2053
  [[ $output == "ioscribe run: "$line"; CMD runs untraced"$'\n'hi ]]
}

@test "no daemon beside the command, one that cannot be executed" {
  mkdir bin
  cp "$IOSCRIBE" bin/ioscribe
  IOSCRIBE=$T/bin/ioscribe
  refused "ioscribed not found beside this program or in its sbin" env
  : >bin/ioscribed
  refused "$T/bin/ioscribed cannot be executed" env
}

# ---- limits of the caller ----

@test "open files, address space, processor time: the limit is named with its number" {
  refused "the limit of open files is 12 here (ulimit -n): raise it to 256 or more" without sys_resource prlimit --nofile=12
  refused "the limit of open files is 100 here (ulimit -n): raise it to 256 or more" without sys_resource prlimit --nofile=100
  diagnosed "the limit of open files is 12 here (ulimit -n): raise it to 256 or more" without sys_resource prlimit --nofile=12
  refused "mapping the records: no memory: the limit of address space is 57 MiB here (ulimit -v), and the records are mapped: raise it" \
    without sys_resource prlimit --as=60000000
  refused "the limit of data is 20000 KiB here (ulimit -d): raise it to 65536 or more" \
    without sys_resource prlimit --data=20480000
  refused "the daemon was ended by the limit of data, 1171 KiB here (ulimit -d): raise it" \
    without sys_resource prlimit --data=1200000
  # one that may be raised is, for the daemon; CMD keeps it
  run_it prlimit --data=20480000:unlimited "$IOSCRIBE" run --quiet --force --log "$LOG" -- sh -c 'ulimit -d; exit 6'
  [ "$status" -eq 6 ]
  [ "$output" = 20000 ]
}

@test "a limit of file sizes: the log is not there, and why; CMD keeps its own limits" {
  run_it without sys_resource prlimit --fsize=100 "$IOSCRIBE" run --quiet --force --log "$LOG" -- sh -c 'ulimit -f; exit 6'
  [ "$status" -eq 6 ]
  grep -x "ioscribe run: no log: the log is beyond the limit of file sizes here (ulimit -f): raise it" <<<"$output"
  run_it prlimit --nofile=300:20000 "$IOSCRIBE" run --quiet --force --log "$LOG" -- sh -c 'ulimit -n; exit 6'
  [ "$output" = 300 ]
}

# A control group with a limit of memory, either version; its folder.
memory_group() {
  local root=/sys/fs/cgroup/memory file=memory.limit_in_bytes
  if [ ! -e $root/$file ]; then
    root=/sys/fs/cgroup file=memory.max
    echo +memory >$root/cgroup.subtree_control
  fi
  GROUP=$root/ioscribe-refusal.$$
  mkdir "$GROUP"
  echo "$1" >"$GROUP/$file"
}

cleanup() {
  [ -z "${GROUP:-}" ] || rmdir "$GROUP"
}

@test "a control group's limit of memory" {
  memory_group $((28 << 20))
  refused "*: no memory: the control group /${GROUP##*/} may have 28 MiB, and the records count there: raise that, or ask for fewer (--records, or records= of the service)" \
    sh -c 'echo $$ >'"$GROUP"'/cgroup.procs && exec "$@"' sh
}
