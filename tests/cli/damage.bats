#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Files that are no logs, and logs that mean harm: one line that says what and
# where, exit 1, bounded memory. Damage at every byte: tests/unit/util_damage.c.

load helper

GOOD="$LOGS/mpi-io-test-x86_64-3.5.0.darshan"

# Each tool on FILE refuses it with TEXT: refused TEXT FILE
refused() {
	local text=$1 file=$2 c
	for c in "parse" "parse --all" "dxt" "summary" "diff $GOOD" "export --json" "convert --bzip2"; do
		local out=
		[[ "$c" == convert* ]] && out="$BATS_TEST_TMPDIR/out.darshan"
		# shellcheck disable=SC2086 # a command line
		run_err 1 "$text" "$IOSCRIBE" $c "$file" $out
		[ ! -e "$BATS_TEST_TMPDIR/out.darshan" ]
	done
	run_err 1 "$text" "$IOSCRIBE" merge --output "$BATS_TEST_TMPDIR/out.darshan" "$file"
	[ ! -e "$BATS_TEST_TMPDIR/out.darshan" ]
}

@test "files that are no logs" {
	cd "$BATS_TEST_TMPDIR"
	: >empty
	refused "not a Darshan log: the file is empty" empty
	echo 'a text file, longer than eight bytes' >text
	refused "not a Darshan log: no log version in its first 8 bytes" text
	"$IOSCRIBE" parse "$GOOD" >parsed
	refused "text that darshan-parser printed" parsed
	refused "a directory, not a log" .
	refused "No such file or directory" none
	mkfifo fifo
	refused "a log must be a file, not a pipe" fifo
}

# patched OFFSET FORMAT VALUE: the good log with some header bytes changed, as x.darshan
patched() {
	cp "$GOOD" x.darshan
	chmod +w x.darshan
	python3 -c '
import struct, sys
with open("x.darshan", "r+b") as f:
    f.seek(int(sys.argv[1]))
    f.write(struct.pack(sys.argv[2], *map(int, sys.argv[3:])))' "$@"
}

@test "logs of the future" {
	cd "$BATS_TEST_TMPDIR"
	patched 0 '<8B' 57 46 57 57 0 0 0 0
	refused "header (offset 0): log version 9.99 is not one this program knows" x.darshan
	patched $((1072 + 4)) '<I' 99
	run_err 1 "POSIX region (file offset " "$IOSCRIBE" parse x.darshan
	grep -q 'record version 99, this program knows 1 to 4' err
	run_err 1 "record version 99" "$IOSCRIBE" convert --bzip2 x.darshan o.darshan
	[ ! -e o.darshan ]
	patched 16 '<B' 7
	refused "header: unknown compression 7 at offset 16" x.darshan
}

@test "regions beyond the file, over the header, over each other" {
	cd "$BATS_TEST_TMPDIR"
	patched $((48 + 16)) '<QQ' $((1 << 62)) 100
	refused "header: POSIX region of 100 bytes at offset 4611686018427387904 is not within the file" x.darshan
	patched $((48 + 16)) '<QQ' 0 500
	refused "header: POSIX region of 500 bytes at offset 0 is not within the file" x.darshan
	patched $((48 + 16)) '<Qq' 1400 -1
	refused "header: POSIX region of 18446744073709551615 bytes at offset 1400 is not within the file" x.darshan
	# names where the job is: the job's bytes are read as names, or refused, but end
	patched 32 '<QQ' 1328 200
	run timeout 60 "$IOSCRIBE" parse x.darshan
	[ "$status" -eq 1 ]
}

bomb() {
	python3 - "$1" "$2" <<'PY'
import bz2, struct, sys, zlib
kind, compression = sys.argv[1:]
squeeze = (lambda b: zlib.compress(b, 9)) if compression == "zlib" else (lambda b: bz2.compress(b))
job = squeeze(struct.pack("<7q1024s", 0, 1, 0, 2, 0, 4, 1, b"") + b"x\n\0")
plain = {"names": b"n" * (8 << 20), "records": b"\0" * 704 * 11915,
         # one trace that says it has 2^40 segments
         "counts": struct.pack("<QqQ64sqq", 7, 0, 0, b"node", 1 << 40, 0) + b"\0" * (8 << 20)}[kind]
piece = squeeze(plain) * (32 if compression == "zlib" else 2000)
names, module = (piece, b"") if kind == "names" else (squeeze(b"\7" * 8 + b"f\0"), piece)
at, index = 1328 + len(job) + len(names), 10 if kind == "counts" else 1
maps, versions = [(0, 0)] * 64, [0] * 64
if module:
    maps[index], versions[index] = (at, len(module)), 1 if index == 10 else 4
with open("bomb.darshan", "wb") as f:
    f.write(struct.pack("<8sqB7xQ2Q", b"3.41", 6567223, compression == "bzip2", 0, 1328 + len(job), len(names)))
    for m in maps:
        f.write(struct.pack("<2Q", *m))
    f.write(struct.pack("<64I", *versions) + job + names + module)
PY
}

# peak COMMAND...: exit status of the command, its peak memory below 100 MB
peak() {
	python3 -c '
import os, sys
pid = os.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(pid, 0)
sanitized = bool(os.environ.get("SANITIZED"))
if usage.ru_maxrss >= (1000000 if sanitized else 100000):
    sys.exit("%s: %d KB" % (sys.argv[1:], usage.ru_maxrss))
sys.exit(os.waitstatus_to_exitcode(status))' "$@"
}

@test "bombs: little memory, and one line where they cannot be true" {
	cd "$BATS_TEST_TMPDIR"
	grep -q '^IOSCRIBE_SANITIZE:STRING=.' "${IOSCRIBE_BUILD:-.}/CMakeCache.txt" 2>/dev/null && export SANITIZED=1
	for compression in zlib bzip2; do
		bomb names "$compression"
		run_err 1 "name region (file offset " peak "$IOSCRIBE" parse bomb.darshan
		grep -q 'a name of more than 1048576 bytes' err
		bomb counts "$compression"
		run_err 1 "DXT_POSIX region (file offset " peak "$IOSCRIBE" dxt bomb.darshan
	done
	bomb records zlib # 256 MiB of records that are all alike: true, if odd
	peak "$IOSCRIBE" parse --total bomb.darshan >out
	bomb records bzip2
	run_err 1 "not a plausible log" peak "$IOSCRIBE" parse --total bomb.darshan
}

@test "names that are there twice, and many of one id" {
	cd "$BATS_TEST_TMPDIR"
	python3 - <<'PY'
import struct, zlib
job = zlib.compress(struct.pack("<7q1024s", 0, 1, 0, 2, 0, 4, 1, b"") + b"x\n\0")
name = lambda i, b: struct.pack("<Q", i) + b + b"\0"
names = zlib.compress(name(1, b"") + name(1, b"/first") + name(1, b"/second") + name(2, b"/first") * 100000)
records = zlib.compress(b"".join(struct.pack("<Qq", i, 0) + bytes(688) for i in (1, 2, 3)))
maps, versions = [(0, 0)] * 64, [0] * 64
maps[1], versions[1] = (1328 + len(job) + len(names), len(records)), 4
with open("twice.darshan", "wb") as f:
    f.write(struct.pack("<8sqB7xQ2Q", b"3.41", 6567223, 0, 0, 1328 + len(job), len(names)))
    for m in maps:
        f.write(struct.pack("<2Q", *m))
    f.write(struct.pack("<64I", *versions) + job + names + records)
PY
	"$IOSCRIBE" parse twice.darshan | awk -F'\t' '$4 == "POSIX_OPENS" { print $3, $6 }' >names
	diff - names <<-'TEXT'
		1 /first
		2 /first
		3 (null)
	TEXT
	"$IOSCRIBE" convert --bzip2 twice.darshan once.darshan
	run "$IOSCRIBE" diff twice.darshan once.darshan
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}
