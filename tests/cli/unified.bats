# SPDX-License-Identifier: BSD-3-Clause
# The single-region layout: converted to and back, and read by every tool.

load helper

all_logs() {
	ls "$LOGS"/*.darshan "$BATS_TEST_DIRNAME"/../data/own/*.darshan
}

@test "every log, there and back and there again: the same bytes" {
	local log how n=0
	cd "$BATS_TEST_TMPDIR"
	for log in $(all_logs); do
		for how in --zlib --bzip2 --uncompressed "--zlib --rows" --zstd; do
			# shellcheck disable=SC2086
			set -- $how
			rm -f [abcd]
			"$IOSCRIBE" convert "$@" --layout unified "$log" a
			"$IOSCRIBE" convert "${1/zstd/zlib}" --layout default a b
			"$IOSCRIBE" convert "$@" --layout unified b c
			cmp a c
			"$IOSCRIBE" convert "$@" --layout unified a d
			cmp a d
			[ "$(head -c 7 a)" = IOSCRIB ]
			[ "$(head -c 4 b)" = 3.41 ]
		done
		n=$((n + 1))
	done
	[ "$n" -ge 24 ]
}

# What tools say of a log, without its bytes and its name; shared records come first in the one layout.
said() { # TOOL [OPTION...] LOG
	"$IOSCRIBE" "$@" 2>&1 | grep -Ev '^# (header|compression method|layout|job data|record table|records of all modules)|^# .* module: ' |
		sed 's/[^ "]*\/[ab]\.darshan/LOG/g' | sort
}

@test "tools say the same of both layouts" {
	local log n=0
	cd "$BATS_TEST_TMPDIR"
	for log in $(all_logs); do
		rm -f [ab].darshan
		"$IOSCRIBE" convert "$log" "$PWD/a.darshan"
		"$IOSCRIBE" convert --layout unified "$log" "$PWD/b.darshan"
		for tool in "parse --all --show-incomplete" "dxt --show-incomplete" "export --csv" summary \
			"analyze --json"; do
			# shellcheck disable=SC2086
			diff <(said $tool "$PWD/a.darshan") <(said $tool "$PWD/b.darshan")
		done
		"$IOSCRIBE" diff "$PWD/a.darshan" "$PWD/b.darshan" >d
		none '^[-+<>]' d
		n=$((n + 1))
	done
	[ "$n" -ge 24 ]
	said parse "$PWD/b.darshan" | grep -q POSIX_BYTES_READ
}

@test "merge takes logs in the single-region layout" {
	local part
	cd "$BATS_TEST_TMPDIR"
	"$(built cli/make_split)" 7 .
	mkdir there back
	for part in part-*.darshan; do
		"$IOSCRIBE" convert --layout unified "$part" "there/$part"
		"$IOSCRIBE" convert "there/$part" "back/$part"
	done
	"$IOSCRIBE" merge --shared-redux --output there.log there/*
	"$IOSCRIBE" merge --shared-redux --output back.log back/*
	cmp there.log back.log
	[ "$(head -c 4 there.log)" = 3.41 ]
}

@test "a module that the library does not know is named, printed and carried over" {
	cd "$BATS_TEST_TMPDIR"
	for how in none zlib; do
		rm -f [abc].darshan
		"$(built cli/make_unified)" a.darshan "$how"
		"$IOSCRIBE" parse a.darshan >text 2>err
		[ ! -s err ]
		grep -qx '# DEMO module: ver=1' text
		grep -qxP 'DEMO\t3\t7\tDEMO_BYTES\t4096\tobject\tUNKNOWN\tUNKNOWN' text
		grep -qxP 'DEMO\t3\t7\tDEMO_F_TIME\t0.250000\tobject\tUNKNOWN\tUNKNOWN' text
		"$IOSCRIBE" convert --layout unified a.darshan b.darshan
		"$IOSCRIBE" parse b.darshan | grep -qP '^DEMO\t3\t7\tDEMO_CALLS\t2\t'
		# Darshan's layout has no place for what it is: its records go along as bytes
		"$IOSCRIBE" convert a.darshan c.darshan
		"$IOSCRIBE" parse c.darshan >text 2>err
		grep -q 'module id 40 is unknown' err
		grep -qP '^NULL\t-1\t8012015261227253218\tNULL_FOOS\t258\t/a\t' text
	done
}

@test "the bytes that docs/format.md shows are such a log" {
	local doc="$BATS_TEST_DIRNAME/../../docs/format.md"
	cd "$BATS_TEST_TMPDIR"
	# lines of the dump: offset, bytes; '*': lines as the one before; notes begin with ';'
	grep -E '^    ([0-9a-f]{6}( |$)|\*$)' "$doc" | cut -c 5- >dump
	[ "$(wc -l <dump)" -gt 30 ]
	python3 - dump made.darshan <<'PY'
import sys
data, last, again = bytearray(), b"", False
for line in open(sys.argv[1]):
    if line.strip() == "*":
        again = True
        continue
    offset, *octets = line.split()
    offset = int(offset, 16)
    while again and len(data) < offset:
        data += last
    again = False
    assert len(data) == offset, line
    last = bytes.fromhex("".join(octets))
    data += last
open(sys.argv[2], "wb").write(data)
PY
	"$(built cli/make_unified)" want.darshan
	cmp made.darshan want.darshan
	"$IOSCRIBE" parse made.darshan | grep -qP '^DEMO\t3\t7\tDEMO_CALLS\t2\tobject\t'
}

@test "what is refused" {
	local log="$LOGS/skew-app.darshan"
	cd "$BATS_TEST_TMPDIR"
	run_err 2 "--layout takes default or unified, not 'odd'" "$IOSCRIBE" convert --layout odd "$log" a
	run_err 1 "Darshan's layout has no zstd: zlib, bzip2 or none" "$IOSCRIBE" convert --zstd "$log" a
	[ ! -e a ]
	"$IOSCRIBE" convert --layout unified "$log" u
	"$IOSCRIBE" parse u | grep -qx '# compression method: ZSTD'
	# the first byte of the first block of the names, behind the frame's magic number and header
	python3 -c 'import sys; b = bytearray(open("u", "rb").read()); b[54] ^= 255; open("bad", "wb").write(b)'
	run_err 1 'zstd data are damaged' "$IOSCRIBE" parse bad
	head -c 1000 u >cut
	run_err 1 'cut: header: regions of' "$IOSCRIBE" parse cut
	{
		cat u
		echo more
	} >long
	run_err 1 '5 bytes behind the last region, which belong to nothing' "$IOSCRIBE" parse long
	head -c 30 u >short
	run_err 1 'short: header: 30 of 48 bytes: the file is cut short' "$IOSCRIBE" parse short
}
