# SPDX-License-Identifier: BSD-3-Clause
# ioscribe convert and diff.

load helper

# Text of a log without what a rewrite may change: versions and sizes of
# regions, and the descriptions, which depend on the record version.
body() {
	"$IOSCRIBE" "$@" 2>/dev/null |
		grep -Ev '^# (darshan log version|compression method|job data|record table)|^# .* module: [0-9]+ bytes'
}

# In POSIX records before version 4 the stock text has wrong values (see the
# manual page of parse); a rewritten log has the right ones.
old_posix() {
	"$IOSCRIBE" parse "$1" | grep -Eq '^# POSIX module: .*ver=[123]$'
}

compare_rewritten() { # OPTION
	local log out="$BATS_TEST_TMPDIR/out.darshan" n=0
	for log in "$LOGS"/*.darshan; do
		n=$((n + 1))
		rm -f "$out"
		"$IOSCRIBE" convert "$1" "$log" "$out"
		if old_posix "$log" 2>/dev/null; then
			diff <(body parse --base "$log" | grep '^[A-Z]' | grep -Ev '_F_(META|MAX_READ|MAX_WRITE)_TIME|VARIANCE') \
				<(body parse --base "$out" | grep '^[A-Z]' | grep -Ev '_F_(META|MAX_READ|MAX_WRITE)_TIME|VARIANCE')
		else
			diff <(body parse --all "$log") <(body parse --all "$out")
		fi
		diff <(body parse --show-incomplete "$log" | grep '^# [a-z]') \
			<(body parse --show-incomplete "$out" | grep '^# [a-z]')
		diff <(body dxt --show-incomplete "$log") <(body dxt --show-incomplete "$out")
	done
	[ "$n" -ge 22 ]
}

@test "every log survives convert with zlib" {
	compare_rewritten --zlib
}

@test "every log survives convert with bzip2" {
	compare_rewritten --bzip2
	"$IOSCRIBE" convert --bzip2 "$LOGS/skew-app.darshan" "$BATS_TEST_TMPDIR/b.darshan"
	"$IOSCRIBE" parse "$BATS_TEST_TMPDIR/b.darshan" | grep -q '^# compression method: BZIP2'
}

@test "every log survives convert without compression" {
	compare_rewritten --uncompressed
}

@test "all records survive two conversions byte for byte" {
	local log
	for log in "$LOGS"/*.darshan; do
		rm -f "$BATS_TEST_TMPDIR"/[abc].darshan
		"$IOSCRIBE" convert "$log" "$BATS_TEST_TMPDIR/a.darshan"
		"$IOSCRIBE" convert --bzip2 "$BATS_TEST_TMPDIR/a.darshan" "$BATS_TEST_TMPDIR/b.darshan"
		"$IOSCRIBE" convert "$BATS_TEST_TMPDIR/b.darshan" "$BATS_TEST_TMPDIR/c.darshan"
		cmp "$BATS_TEST_TMPDIR/a.darshan" "$BATS_TEST_TMPDIR/c.darshan"
	done
}

@test "convert --obfuscate: the numbers are Darshan's" {
	local log="$LOGS/mpi-io-test-x86_64-3.5.0.darshan" out="$BATS_TEST_TMPDIR/o.darshan"
	"$IOSCRIBE" convert --obfuscate --key 77 "$log" "$out"
	"$IOSCRIBE" parse "$out" >"$BATS_TEST_TMPDIR/text"
	none -q wkliao "$BATS_TEST_TMPDIR/text"
	# recorded from darshan-convert --obfuscate --key 77 of the same log
	grep -qx '# exe: 1439678124' "$BATS_TEST_TMPDIR/text"
	grep -qx '# uid: 2604111867' "$BATS_TEST_TMPDIR/text"
	grep -qx '# jobid: 4176717222' "$BATS_TEST_TMPDIR/text"
	grep -q '	/home/4137302057	' "$BATS_TEST_TMPDIR/text"
	grep -q '<STDOUT>' "$BATS_TEST_TMPDIR/text"
}

@test "convert --obfuscate_uid hides the user alone" {
	local log="$LOGS/skew-app.darshan" out="$BATS_TEST_TMPDIR/o.darshan"
	"$IOSCRIBE" convert --obfuscate_uid "$log" "$out"
	run diff <(body parse "$log") <(body parse "$out")
	[ "$(grep -c '^[<>]' <<<"$output")" -eq 2 ]
	[[ "$output" == *"# uid:"* ]]
}

@test "convert --annotate, --reset-md" {
	local log="$LOGS/skew-app.darshan" out="$BATS_TEST_TMPDIR/o.darshan"
	"$IOSCRIBE" convert --annotate $'site=here\twhat=a = b' "$log" "$out"
	"$IOSCRIBE" parse "$out" | grep -qx '# metadata: site = here'
	"$IOSCRIBE" parse "$out" | grep -qx '# metadata: what = a = b'
	"$IOSCRIBE" parse "$out" | grep -q '^# metadata: lib_ver'
	rm -f "$out"
	"$IOSCRIBE" convert --reset-md "$log" "$out"
	"$IOSCRIBE" parse "$out" | none -q '^# metadata'
	run_err 1 "no room" "$IOSCRIBE" convert --annotate "$(head -c 2000 /dev/zero | tr '\0' x)" "$log" \
		"$BATS_TEST_TMPDIR/p.darshan"
	[ ! -e "$BATS_TEST_TMPDIR/p.darshan" ]
}

@test "convert --file keeps one file" {
	local log="$LOGS/mpi-io-test-x86_64-3.5.0.darshan" out="$BATS_TEST_TMPDIR/o.darshan"
	"$IOSCRIBE" convert --file 15920181672442173319 "$log" "$out"
	[ "$("$IOSCRIBE" parse "$out" | grep -v '^#' | cut -f3 | sort -u | grep -c .)" -eq 1 ]
	"$IOSCRIBE" parse "$out" | grep -q '<STDOUT>'
}

@test "convert --file with an id that is not there: no log, but under the stock name" {
	local log="$LOGS/skew-app.darshan"
	cd "$BATS_TEST_TMPDIR"
	run_err 1 "no record 77 to keep" "$IOSCRIBE" convert --file 77 "$log" o.darshan
	[ "$(ls)" = $'err\nout' ]
	ln -s "$(command -v "$IOSCRIBE")" darshan-convert
	./darshan-convert --file 77 "$log" o.darshan
	"$IOSCRIBE" parse o.darshan | grep -qx '# no module data available.'
}

@test "convert --key takes the negative numbers that darshan-convert takes" {
	local log="$LOGS/skew-app.darshan"
	cd "$BATS_TEST_TMPDIR"
	"$IOSCRIBE" convert --obfuscate --key -5 "$log" a.darshan
	"$IOSCRIBE" convert --obfuscate --key 4294967291 "$log" b.darshan
	cmp a.darshan b.darshan
	# recorded from darshan-convert --obfuscate --key -5 of the same log
	"$IOSCRIBE" parse a.darshan | grep -qx '# uid: 2847538556'
}

@test "convert refuses: existing output, bad numbers, missing operand, damaged input" {
	local log="$LOGS/skew-app.darshan"
	: >"$BATS_TEST_TMPDIR/there"
	run_err 1 "File exists" "$IOSCRIBE" convert "$log" "$BATS_TEST_TMPDIR/there"
	run_err 2 "--key takes a number" "$IOSCRIBE" convert --key x "$log" "$BATS_TEST_TMPDIR/n"
	run_err 2 "--key takes a number" "$IOSCRIBE" convert --key 4294967296 "$log" "$BATS_TEST_TMPDIR/n"
	run_err 2 "--level takes a number" "$IOSCRIBE" convert --level 10 "$log" "$BATS_TEST_TMPDIR/n"
	run_err 2 "--level takes 1 to 9" "$IOSCRIBE" convert --level 0 "$log" "$BATS_TEST_TMPDIR/n"
	run_err 2 "IN OUT expected" "$IOSCRIBE" convert "$log"
	head -c 1200 "$log" >"$BATS_TEST_TMPDIR/cut"
	run_err 1 cut "$IOSCRIBE" convert "$BATS_TEST_TMPDIR/cut" "$BATS_TEST_TMPDIR/n"
	[ ! -e "$BATS_TEST_TMPDIR/n" ]
}

@test "--force replaces a file, at the end, and nothing else; darshan-convert replaces what it may write" {
	local log="$LOGS/skew-app.darshan"
	cd "$BATS_TEST_TMPDIR"
	cp "$log" a.darshan
	"$IOSCRIBE" convert "$log" want.darshan
	"$IOSCRIBE" convert --force a.darshan a.darshan # its own input
	cmp a.darshan want.darshan
	"$IOSCRIBE" merge --force --output a.darshan a.darshan
	cmp a.darshan want.darshan
	# a failure leaves what was there, and nothing beside it
	head -c 1200 "$log" >cut
	run_err 1 cut "$IOSCRIBE" convert --force cut a.darshan
	cmp a.darshan want.darshan
	run_err 1 "File exists (--force replaces it)" "$IOSCRIBE" convert "$log" a.darshan
	ln -s a.darshan link
	mkdir folder
	run_err 1 "File exists" "$IOSCRIBE" convert --force "$log" link
	run_err 1 "File exists" "$IOSCRIBE" convert --force "$log" folder
	run_err 1 "File exists" "$IOSCRIBE" convert --force "$log" /dev/null
	[ -c /dev/null ]
	ln -s "$(command -v "$IOSCRIBE")" darshan-convert
	: >made-by-mktemp
	./darshan-convert "$log" made-by-mktemp
	cmp made-by-mktemp want.darshan
	[ "$(ls | tr '\n' ' ')" = "a.darshan cut darshan-convert err folder link made-by-mktemp out want.darshan " ]
}

@test "diff of a log with itself is empty" {
	local log
	for log in "$LOGS"/*.darshan; do
		run "$IOSCRIBE" diff "$log" "$log"
		[ "$status" -eq 0 ]
		[ -z "$output" ]
	done
}

@test "diff shows a changed user id and nothing else" {
	"$IOSCRIBE" convert --obfuscate_uid "$LOGS/skew-app.darshan" "$BATS_TEST_TMPDIR/o.darshan"
	run "$IOSCRIBE" diff "$LOGS/skew-app.darshan" "$BATS_TEST_TMPDIR/o.darshan"
	[ "$status" -eq 0 ]
	[ "$(grep -c '^- # uid:' <<<"$output")" -eq 1 ]
	[ "$(grep -c '^+ # uid:' <<<"$output")" -eq 1 ]
	none -v '^[-+] # ' <<<"$output"
}

@test "diff of two logs: records of one log only are printed whole" {
	"$IOSCRIBE" diff "$LOGS/mpi-io-test-x86_64-3.3.0.darshan" "$LOGS/mpi-io-test-x86_64-3.2.1.darshan" >"$BATS_TEST_TMPDIR/d"
	# same file in both: the counters that differ come in pairs
	[ "$(grep -c '^- POSIX' "$BATS_TEST_TMPDIR/d")" -eq "$(grep -c '^+ POSIX' "$BATS_TEST_TMPDIR/d")" ]
	"$IOSCRIBE" diff "$LOGS/mpi-io-test-x86_64-3.3.0.darshan" "$LOGS/empty_log.darshan" >"$BATS_TEST_TMPDIR/d"
	[ "$(grep -c '^- POSIX' "$BATS_TEST_TMPDIR/d")" -eq 86 ]
	none -q '^+ POSIX' "$BATS_TEST_TMPDIR/d"
	"$IOSCRIBE" diff "$LOGS/empty_log.darshan" "$LOGS/mpi-io-test-x86_64-3.3.0.darshan" >"$BATS_TEST_TMPDIR/d"
	[ "$(grep -c '^+ POSIX' "$BATS_TEST_TMPDIR/d")" -eq 86 ]
}

@test "under the name darshan-diff: an empty line a file" {
	ln -s "$(command -v "$IOSCRIBE")" "$BATS_TEST_TMPDIR/darshan-diff"
	run "$BATS_TEST_TMPDIR/darshan-diff" "$LOGS/skew-app.darshan" "$LOGS/skew-app.darshan"
	[ "$status" -eq 0 ]
	[ "$("$BATS_TEST_TMPDIR/darshan-diff" "$LOGS/skew-app.darshan" "$LOGS/skew-app.darshan" | wc -l)" -eq 1 ]
}

@test "under the name darshan-diff: a file of which a log has the Lustre layout alone is a file, too" {
	cd "$BATS_TEST_TMPDIR"
	ln -s "$(command -v "$IOSCRIBE")" darshan-diff
	"$(built cli/make_modules)" m.darshan
	chmod u+w m.darshan
	python3 - m.darshan <<'END' # all modules but LUSTRE out of the header
import sys
f = open(sys.argv[1], "r+b")
for i in set(range(64)) - {8}:
    f.seek(48 + 16 * i)
    f.write(bytes(16))
    f.seek(48 + 16 * 64 + 4 * i)
    f.write(bytes(4))
END
	"$IOSCRIBE" parse m.darshan | grep -q '^LUSTRE'
	"$IOSCRIBE" parse m.darshan | none -q '^POSIX'
	# as recorded from darshan-diff: one empty line, and no layout where they differ
	[ "$(./darshan-diff m.darshan m.darshan | od -An -c | tr -d ' ')" = '\n' ]
	./darshan-diff m.darshan "$LOGS/empty_log.darshan" >text
	[ "$(grep -c '^$' text)" -eq 1 ]
	none -q LUSTRE text
}
