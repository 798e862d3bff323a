#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Traces of single operations (DXT). Against strace, by file, operation and place: tests/oracle.
load helper

# Lines of the log's trace, without their times: "rank write|read number offset length".
segments() {
  "$IOSCRIBE" dxt --show-incomplete "$LOG" | awk -v file="${1:-}" '
    /^# DXT, file_id/ { on = file == "" || $0 ~ file }
    on && $1 == "X_POSIX" { print $2, $3, $4, $5, $6 }'
}

ledger() {
  counter "LEDGER_$1"
}

@test "MOD_DISABLE of Darshan switches it off again" {
  trace_options=(--set dxt=yes --set MOD_DISABLE=DXT_POSIX)
  trace dd if=/dev/zero of=f bs=100 count=3
  one_log
  "$IOSCRIBE" dxt "$LOG" | grep -q 'no DXT module data'
}

@test "off by default; the option, the key, our variable and Darshan's switch it on" {
  trace_options=()
  trace dd if=/dev/zero of=f bs=100 count=3
  one_log
  "$IOSCRIBE" dxt "$LOG" | grep -q 'no DXT module data'
  for way in --dxt IOSCRIBE_DXT=1 DXT_ENABLE_IO_TRACE= DARSHAN_MOD_ENABLE=DXT_POSIX,DXT_MPIIO; do
    trace_options=()
    case $way in
    -*) trace_options=("$way") ;;
    *) export "${way?}" ;;
    esac
    trace dd if=/dev/zero of=f bs=100 count=3
    unset "${way%%=*}" 2>/dev/null || true
    one_log
    echo "$way"
    diff - <(segments '/f$') <<X
0 write 0 0 100
0 write 1 100 100
0 write 2 200 100
X
  done
}

@test "each has a start and an end within the run, the host's name stands with the file" {
  trace_options=(--dxt)
  local before after
  before=$(date +%s.%N)
  trace sh -c 'dd if=/dev/zero of=f bs=100 count=1; sleep 0.3; dd if=/dev/zero of=f bs=100 seek=1 count=1 conv=notrunc'
  after=$(date +%s.%N)
  one_log
  "$IOSCRIBE" export --json-lines --table dxt_posix --table job "$LOG" |
    /usr/bin/python3 -c '
import json, sys, os
rows = [json.loads(line) for line in sys.stdin]
start = next(r for r in rows if r["table"] == "job")
start = start["start_time"] + start["start_time_nsec"] / 1e9
f = [r for r in rows if r["table"] == "dxt_posix" and r["name"].endswith("/f")]
assert [(r["offset"], r["length"]) for r in f] == [(0, 100), (100, 100)], f
assert all(r["host"] == os.uname().nodename for r in f)
assert all(float(sys.argv[1]) - 0.01 < start + r["start"] <= start + r["end"] < float(sys.argv[2]) + 0.01 for r in f), f
assert f[1]["start"] - f[0]["end"] > 0.29, f' "$before" "$after"
}

@test "eight threads on one file: a segment for each operation" {
  trace_options=(--dxt)
  for mode in positioned append; do
    trace "$PROG/threads8" $mode 1
    one_log
    read -r reads writes _ _ <<<"${lines[0]}"
    [ "$(segments | grep -c ' read ')" -eq "$reads" ]
    [ "$(segments | grep -c ' write ')" -eq "$writes" ]
    [ "$(ledger SEGMENTS_NO_LEAF)" -eq 0 ]
  done
}

@test "dxt_threads: each with its thread, as the program knows it; convert and merge keep that" {
  local c
  trace_options=(--dxt --set dxt_threads=yes)
  trace /usr/bin/python3 -c '
import os, threading
fd = os.open("f", os.O_RDWR | os.O_CREAT)
at = threading.Barrier(3)
def work(n):
    os.write(1, b"%d %d\n" % (threading.get_ident(), n))
    if n:
        at.wait()
    for i in range(200):
        os.pwrite(fd, b"x", n * 1000 + i)
        os.pread(fd, 1, n * 1000 + i)
work(0)
threads = [threading.Thread(target=work, args=(n,)) for n in (1, 2, 3)]
[t.start() for t in threads]
[t.join() for t in threads]'
  one_log
  [ "$(printf '%s\n' "${lines[@]}" | cut -d' ' -f1 | sort -u | wc -l)" -eq 4 ]
  mapfile -t lines < <(printf '%s\n' "${lines[@]}" | sort -k2n)
  mkdir "$T/kept"
  "$IOSCRIBE" convert "$LOG" "$T/kept/convert.darshan"
  "$IOSCRIBE" merge --output "$T/kept/merge.darshan" "$LOG"
  for c in "$LOG" "$T/kept/convert.darshan" "$T/kept/merge.darshan"; do
    # of each thread, in order, both kinds
    diff <(for n in 0 1 2 3; do for op in write read; do seq $((n * 1000)) $((n * 1000 + 199)) | sed "s/^/${lines[n]% *} $op /"; done; done | sort -s -k1,2) \
      <("$IOSCRIBE" dxt --csv "$c" | awk -F, '$3 ~ /\/f"?$/ { print $11, $5, $7 }' | sort -s -k1,2)
    "$IOSCRIBE" parse "$c" | grep -q '^# DXT_POSIX module: .*ver=2$'
  done
  [ "$("$IOSCRIBE" diff "$LOG" "$T/kept/convert.darshan")" = "" ]
  # another program of the same process is another thread; without the key nobody is named, as in Darshan 3.5.0
  trace sh -c 'echo a >f; exec dd if=/dev/zero of=f bs=10 count=3 2>/dev/null'
  one_log
  [ "$("$IOSCRIBE" dxt --csv "$LOG" | awk -F, '$3 ~ /\/f"?$/ { print $11 }' | uniq -c | awk '{ print $1, ($2 > 4096) }' | xargs)" = "1 1 3 1" ]
  trace_options=(--dxt)
  trace dd if=/dev/zero of=f bs=10 count=3
  one_log
  [ "$("$IOSCRIBE" dxt --csv "$LOG" | awk -F, 'NR > 1 { print $11 }' | sort -u)" = "" ]
  "$IOSCRIBE" parse "$LOG" | grep -q '^# DXT_POSIX module: .*ver=1$'
}

@test "diff compares operations one by one" {
  trace_options=(--dxt)
  trace dd if=/dev/zero of=f bs=100 count=3
  mkdir "$T/kept"
  cp "$LOG" "$T/kept/three.darshan"
  trace dd if=/dev/zero of=f bs=100 count=4
  one_log
  "$IOSCRIBE" diff "$T/kept/three.darshan" "$LOG" | tr '\t' ' ' | sed -n 's/^\(. DXT_POSIX 0\) [0-9]* \(write . offset [0-9]* length 100\) start .*\/f$/\1 \2/p' >"$T/rows"
  diff - "$T/rows" <<X
- DXT_POSIX 0 write 0 offset 0 length 100
+ DXT_POSIX 0 write 0 offset 0 length 100
- DXT_POSIX 0 write 1 offset 100 length 100
+ DXT_POSIX 0 write 1 offset 100 length 100
- DXT_POSIX 0 write 2 offset 200 length 100
+ DXT_POSIX 0 write 2 offset 200 length 100
+ DXT_POSIX 0 write 3 offset 300 length 100
X
  ln -s "$IOSCRIBE" "$T/darshan-diff"
  ! "$T/darshan-diff" "$T/kept/three.darshan" "$LOG" | grep -q DXT
}

@test "a process that is killed has its segments up to the last call" {
  trace_options=(--dxt)
  trace /usr/bin/python3 -c '
import os, signal
fd = os.open("f", os.O_WRONLY | os.O_CREAT)
for i in range(250):
    os.pwrite(fd, b"x" * (i + 1), i * 1000)
os.kill(os.getpid(), signal.SIGKILL)'
  [ "$status" -eq 137 ]
  one_log
  diff <(seq 0 249 | awk '{ print 0, "write", $1, $1 * 1000, $1 + 1 }') <(segments '/f$')
}

@test "what a forked child does is its own, under the same file" {
  trace_options=(--dxt)
  trace sh -c 'for i in 0 1 2 3; do (dd if=/dev/zero of=f bs=10 seek=$i count=1 conv=notrunc 2>/dev/null); done; cat f f >/dev/null'
  one_log
  [ "$(segments '/f$' | grep -c ' write ')" -eq 4 ]
  [ "$(segments '/f$' | awk '$2 == "write" { print $4 }' | tr '\n' ' ')" = "0 10 20 30 " ]
  [ "$("$IOSCRIBE" dxt "$LOG" | grep -c '^# DXT, file_id: .*/f$')" -eq 1 ]
}

@test "an excluded path has none" {
  trace_options=(--dxt --exclude "$T/w/no/")
  mkdir no
  trace sh -c 'echo a >no/f; echo b >g'
  one_log
  [ "$(segments '/no/f')" = "" ]
  [ "$(segments '/g$')" = "0 write 0 0 2" ]
}

@test "a million segments: beyond dxt_memory they go to a file, and none is lost" {
  trace_options=(--dxt --set dxt_memory=1 --set dxt_dir="$T/w")
  trace sh -c 'dd if=/dev/zero of=f bs=1 count=500000 2>/dev/null; dd if=f of=/dev/null bs=1 2>/dev/null'
  one_log
  [ "$(ledger SEGMENTS_NO_LEAF)" -eq 0 ]
  [ "$(ledger SEGMENTS_NO_ROOM)" -eq 0 ]
  [ "$(ledger SEGMENTS)" -ge 1000000 ]
  # the last read is that of the end
  segments '/f$' | awk '{ if ($4 != n[$2] || $3 != n[$2]++ || $5 != (n[$2] <= 500000)) { print "wrong: " $0; exit 1 } }
    END { if (n["write"] != 500000 || n["read"] != 500001) exit 1 }'
  [ "$(find . -type f | sort | tr '\n' ' ')" = "./f " ]
}

@test "more than dxt_memory and dxt_spool hold is counted, and the module is incomplete" {
  trace_options=(--dxt --set dxt_memory=1 --set dxt_spool=0)
  trace dd if=/dev/zero of=f bs=1 count=500000
  [ "$(ledger SEGMENTS_NO_ROOM)" -gt 0 ]
  [ $(($(ledger SEGMENTS) + $(ledger SEGMENTS_NO_ROOM))) -eq "$(counter POSIX_WRITES)" ]
  [ "$(segments | wc -l)" -eq "$(ledger SEGMENTS)" ]
  run "$IOSCRIBE" dxt "$LOG"
  [ "$status" -eq 1 ]
  [[ $output == *"DXT_POSIX module's data are incomplete"* ]]
  expect POSIX_WRITES 500000 '/f$'
}

@test "a daemon that does not come in time: what found no room in the kernel is counted" {
  trace_options=(--dxt --no-runtime) # which would wait for the daemon, and say that it did not come
  trace sh -c 'daemon=$(pgrep -P $PPID -x ioscribed); kill -STOP $daemon
    dd if=/dev/zero of=f bs=1 count=200000 2>/dev/null; kill -CONT $daemon'
  [ "$(ledger SEGMENTS_NO_LEAF)" -gt 0 ]
  [ $(($(ledger SEGMENTS) + $(ledger SEGMENTS_NO_LEAF))) -eq "$(counter POSIX_WRITES)" ]
  expect POSIX_WRITES 200000 '/f$'
  run "$IOSCRIBE" dxt "$LOG"
  [ "$status" -eq 1 ]
}

# Files of which Darshan 3.5.0 (a build without MPI) keeps the traces of this program: recorded with
# DARSHAN_CONFIG_PATH of `MOD_ENABLE DXT_POSIX` and the settings, on a file system of 4 KiB blocks.
@test "triggers keep and drop what Darshan 3.5.0 keeps and drops" {
  local small unaligned kept
  cat >"$T/ways.py" <<'X'
import os
def write(name, ops):
    fd = os.open(name, os.O_RDWR | os.O_CREAT)
    for offset, n in ops:
        os.pwrite(fd, b"x" * n, offset)
    os.close(fd)
write("small", [(4096 * i, 100) for i in range(10)])
write("large", [(65536 * i, 65536) for i in range(10)])
write("mixed", [(65536 * i, 65536) for i in range(5)] + [(65536 * i, 100) for i in range(5)])
write("odd", [(65536 * i + 1, 65536) for i in range(10)])
write("smallodd", [(4096 * i + 1, 100) for i in range(10)])
write("some", [(65536 * i + (i < 3), 65536) for i in range(10)])
X
  while read -r small unaligned kept; do
    [ -z "${IOSCRIBE_GATE:-}" ] || [[ $small$unaligned =~ ^(0.5.*|-0.31)$ ]] || continue # each trigger, and both
    rm -f ./*
    trace_options=(--dxt)
    [ "$small" = - ] || trace_options+=(--set "DXT_SMALL_IO_TRIGGER=$small")
    [ "$unaligned" = - ] || trace_options+=(--set "DXT_UNALIGNED_IO_TRIGGER=$unaligned")
    trace /usr/bin/python3 "$T/ways.py"
    one_log
    echo "$small $unaligned"
    [ "$("$IOSCRIBE" dxt "$LOG" | sed -n "s|^# DXT, file_id: .*file_name: $T/w/||p" | sort | tr '\n' ' ')" = "$kept " ]
    [ "$(ledger SEGMENTS)" -eq "$(segments | wc -l)" ]
    expect POSIX_WRITES 60 "^$T/w/"
  done <<'X'
- - large mixed odd small smallodd some
0.5 - mixed small smallodd
0.51 - small smallodd
- 0.3 odd smallodd
- 0.31 odd smallodd
- 0.299 odd smallodd some
0.5 0.3 smallodd
0 0 large mixed odd small smallodd some
X
  trace_options=(--dxt)
  rm -f ./*
  DARSHAN_DXT_SMALL_IO_TRIGGER=1 trace /usr/bin/python3 "$T/ways.py"
  [ "$(segments "$T/w/" | wc -l)" -eq 20 ]
}
