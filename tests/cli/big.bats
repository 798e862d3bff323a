#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Memory does not follow the size of a log: 2 GiB of records through the reader,
# and more than the limit through each tool that goes through a log once.

load helper

LIMIT_KB=200000
GIB2=2147483648
MIB256=268435456

make_log() {
	python3 "$BATS_TEST_DIRNAME/big_log.py" "$@" >/dev/null
}

# within COMMAND...: its standard output goes on; its peak memory stays below the limit.
within() {
	# sanitizers keep what was freed for a while, and shadows of all
	local limit=$LIMIT_KB
	grep -q '^IOSCRIBE_SANITIZE:STRING=.' "${IOSCRIBE_BUILD:-.}/CMakeCache.txt" 2>/dev/null && limit=1000000
	python3 -c '
import os, sys
pid = os.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
_, status, usage = os.wait4(pid, 0)
if status:
    sys.exit("%s: wait status %d" % (sys.argv[2:], status))
if usage.ru_maxrss >= int(sys.argv[1]):
    sys.exit("%s: %d KB, at most %s" % (sys.argv[2:], usage.ru_maxrss, sys.argv[1]))
' "$limit" "$@"
}

# counted N PATTERN COMMAND...: N lines of its output match, and it stays within.
counted() {
	local got want=$1 pattern=$2
	shift 2
	got=$(set -o pipefail; within "$@" | grep -c -- "$pattern")
	[ "$got" -eq "$want" ] || {
		echo "$got lines, not $want: $*"
		return 1
	}
}

@test "2 GiB of records: sums, summary, many logs" {
	cd "$BATS_TEST_TMPDIR"
	make_log p.darshan posix $GIB2
	# 2049 streams of 1489 records: each opened its file once and read a byte
	within "$IOSCRIBE" parse --total --file --perf p.darshan >text
	grep -qx 'total_POSIX_OPENS: 3050961' text
	grep -qx 'total_POSIX_BYTES_READ: 3050961' text
	grep -qx '# total: 1489 6101922 1' text
	within "$IOSCRIBE" summary p.darshan >text
	grep -q '/scratch/big' text
	within "$IOSCRIBE" analyze --quiet p.darshan >text
	grep -qx 'total logs: 1' text
}

@test "256 MiB of records: every line printed, converted, merged, exported" {
	cd "$BATS_TEST_TMPDIR"
	make_log p.darshan posix $MIB256
	counted $((86 * 257 * 1489)) '^POSIX' "$IOSCRIBE" parse --base p.darshan
	within "$IOSCRIBE" convert --level 1 p.darshan c.darshan
	within "$IOSCRIBE" merge --output m.darshan c.darshan
	"$IOSCRIBE" parse --total m.darshan | grep -qx "total_POSIX_OPENS: $((257 * 1489))"
	counted $((1 + 257 * 1489)) '' "$IOSCRIBE" export --csv --table posix p.darshan
}

@test "two logs of 256 MiB compared" {
	cd "$BATS_TEST_TMPDIR"
	make_log p.darshan posix $MIB256
	make_log q.darshan posix $((MIB256 - 3000000))
	[ -z "$(within "$IOSCRIBE" diff p.darshan p.darshan)" ]
	# three streams of 1489 records that only the first has, each of 86 counters
	counted $((3 * 1489 * 86)) '^- POSIX' "$IOSCRIBE" diff p.darshan q.darshan
	counted $((3 * 1489 * 86)) '' "$IOSCRIBE" diff q.darshan p.darshan
	mkdir none
	TMPDIR=$PWD/none/none run "$IOSCRIBE" diff p.darshan q.darshan
	[ "$status" -eq 1 ]
	[ "$output" = "ioscribe diff: a temporary file in $PWD/none/none (TMPDIR): No such file or directory" ]
}

@test "256 MiB of traced operations" {
	cd "$BATS_TEST_TMPDIR"
	make_log d.darshan dxt $MIB256
	counted $((257 * 32764)) '^ X_POSIX' "$IOSCRIBE" dxt d.darshan
	within "$IOSCRIBE" convert --level 1 d.darshan c.darshan
	within "$IOSCRIBE" merge --output m.darshan c.darshan
	counted 257 '^# DXT, write_count: 32764, read_count: 0$' "$IOSCRIBE" dxt m.darshan
}

@test "one record of 64 MiB of traced operations takes no more memory than a short one" {
	cd "$BATS_TEST_TMPDIR"
	make_log one.darshan one 67108864
	LIMIT_KB=16000
	counted $((2 * 1048576)) '^ X_POSIX' "$IOSCRIBE" dxt one.darshan
	# numbers go on where a piece ends, and begin again with the reads
	"$IOSCRIBE" dxt one.darshan | awk '/^ X_POSIX/ { if ($4 != n[$3]++) exit 1 } END { exit n["write"] != 1048576 }'
}

@test "one record of 5,242,880 traced operations is read" {
	cd "$BATS_TEST_TMPDIR"
	make_log one.darshan one 167772160
	LIMIT_KB=16000
	counted $((5 * 1048576)) '^ X_POSIX' "$IOSCRIBE" dxt one.darshan
}
