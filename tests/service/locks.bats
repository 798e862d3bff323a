#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What the daemon waits for is not in a user's hands: no file of the service's is to be opened by others, its main
# thread takes no lock of an inode that a user can reach, and who has logs in the spool waits for his own alone.
load helper

@test "nobody else can open, lock or list what is in the service's directory" {
  local file
  serve --pin
  job begin --job-id 1 --uid 65534 --match-env JOBX=1
  user env JOBX=1 IOSCRIBE_ENABLE=1 sh -c 'echo x >a; sleep 0.1'
  until_true test -e "$IOSCRIBE_DIR/attached"
  for file in pid log state attached; do
    [ -e "$IOSCRIBE_DIR/$file" ]
    run_it user flock --nonblock "$IOSCRIBE_DIR/$file" true
    [[ "$output" == *"Permission denied" ]]
  done
  run_it user ls "$IOSCRIBE_DIR"
  [[ "$output" == *"Permission denied" ]]
  job end 1
}

# fork() and munmap() wait for who reads it and has lost the processor.
@test "no user's read takes the lock of the daemon's address space: its command line is empty" {
  local pid
  serve
  for pid in "$DAEMON" $(pgrep -P "$DAEMON"); do
    [ "$(cat "/proc/$pid/comm")" != cat ]
    [ -z "$(tr -d '\0' <"/proc/$pid/cmdline")" ] || { tr '\0' ' ' <"/proc/$pid/cmdline"; return 1; }
  done
}

# The calls of the daemon's main thread that take the lock of a file or directory for themselves, and where: none but
# root may open what is there. Users read and write files of the service's (memory in which programs count streams,
# rings of publishers, records for ranks), and files of theirs; no such call is on one of them.
#   $IOSCRIBE_DIR   0711, what is in it 0600 or 0700, but the socket
#   $T/spool        0700
#   memfd:          before it is handed to anybody: made, given its size, sealed
#   /sys/fs/bpf     a folder of 0700
PLACES='^(DIR/(log|attached|loading|pid|state/[0-9]+)|SPOOL(/.*)?|/memfd:ioscribe-[a-z]+( \(deleted\))?|/sys/fs/bpf/ioscribe-[0-9a-f]+(/.*)?)$'
LOCKING=truncate,ftruncate,fallocate,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat,mknod,mknodat,chmod,fchmod,fchmodat,chown,fchown,lchown,fchownat,setxattr,fsetxattr,utimensat,fsync,fdatasync,flock,write,pwrite64,writev,pwritev,copy_file_range,sendfile,open,openat,openat2,creat

@test "the main thread's calls that take a file's lock are on files that no user can open" {
  printf 'write_deadline_ms = 1000\n' >>"$IOSCRIBE_CONFIG"
  serve --pin
  strace -q -y -o "$T/calls" -e "trace=$LOCKING" -p "$DAEMON" 3>&- &
  STRACE=$!
  echo "$STRACE" >>"$T/pids"
  until_true test -e "$T/calls"
  job begin --job-id 1 --uid 65534 --match-env JOBX=1
  job begin --job-id 2 --uid 65534 --match-env JOBX=2 "log_dir=$T/missing/logs"
  user env JOBX=1 IOSCRIBE_ENABLE=1 "LD_PRELOAD=$IOSCRIBE_BUILD/runtime/client/libioscribe.so" "IOSCRIBE_SOCKET=$IOSCRIBE_DIR/socket" \
    /usr/bin/python3 -c 'import os; open("a", "w").write("x"); os.symlink("a", "b"); open("b").read(); os.rename("a", "c"); os.unlink("c")' 3>&-
  user env JOBX=2 IOSCRIBE_ENABLE=1 sh -c 'echo x >d; sleep 1' 3>&- &
  user "$IOSCRIBE" trace --job 2 --seconds 0.5 --output "$T/w/window.darshan"
  wait $!
  user "$IOSCRIBE" run --log "$T/w/run.darshan" sh -c 'echo x >e'
  user "$IOSCRIBE" job list >/dev/null
  job end 1
  job end 2
  user mkdir -p "$T/w/missing"
  user "$IOSCRIBE" job list >/dev/null
  kill -INT "$STRACE"
  wait "$STRACE" || true
  python3 - "$T/calls" "$IOSCRIBE_DIR" "$T/spool" "$PLACES" <<'P'
import re
import sys
calls, folder, spool, places = sys.argv[1:]
bad, seen = [], set()
for line in open(calls, errors="replace"):
    name = line.split("(", 1)[0]
    if name in ("open", "openat", "openat2", "creat") and not re.search("O_CREAT|O_TRUNC", line):
        continue
    paths = re.findall(r'"([^"]*)"', line) if not name.endswith(("write", "writev", "write64", "writev2")) else []
    paths = paths or re.findall(r"^\w+\(\d+<([^>]*)>", line)
    for path in paths:
        if path.startswith(("socket:", "pipe:", "anon_inode:", "UNIX")):
            continue
        shown = path.replace(spool, "SPOOL").replace(folder, "DIR")
        seen.add(f"{name} {shown}")
        if not re.match(places, shown):
            bad.append(line.rstrip())
print("\n".join(sorted(seen)))
assert not bad, "\n".join(bad)
assert any(s.startswith("mkdir SPOOL") or s.startswith("mkdirat") for s in seen), "the spool was not used"
P
}

# log_in_spool: as the daemon leaves them there. Of a user, how many, and where they belong (%d: their number).
logs_in_spool() {
  python3 - "$T/spool/$1" "$1" "$2" "$3" <<'P'
import os
import sys
folder, uid, n, to = sys.argv[1:]
os.makedirs(folder, 0o700, exist_ok=True)
for i in range(int(n)):
    path = f"{folder}/{i:016x}.darshan"
    with open(path, "w") as f:
        f.write("a log")
    with open(path + ".to", "w") as f:
        f.write(f"uid={uid} gid={uid} replace=0 user=- shared=0 own=0\n{to.replace('%d', str(i))}\n")
P
}

@test "16,000 logs of a user that have no place, eight of another's in folders that do not answer: a third user's is moved" {
  mkdir -m 700 "$T/spool"
  late_fs
  logs_in_spool 60001 8 "$T/fs/folder%d/x.darshan"
  logs_in_spool 60002 16000 "$T/nowhere%d/x.darshan"
  logs_in_spool 65534 1 "$T/logs/mine.darshan"
  kill -STOP "$FS"
  serve
  until_true test -e "$T/logs/mine.darshan"
  [ "$(stat -c %u "$T/logs/mine.darshan")" = 65534 ]
  until_true test ! -e "$T/spool/65534/0000000000000000.darshan"
  [ "$(find "$T/spool/60001" -name '*.darshan' | wc -l)" -eq 8 ]
  [ "$(find "$T/spool/60002" -name '*.darshan' | wc -l)" -eq 16000 ]
  kill -KILL "$FS"
}
