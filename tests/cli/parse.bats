# SPDX-License-Identifier: BSD-3-Clause
# ioscribe parse and dxt against the stock text of every sample log.

load helper

compare_option() { # OPTION KIND
	local log n=0 failed=0
	for log in "$LOGS"/*.darshan; do
		n=$((n + 1))
		same "$IOSCRIBE" parse "$1" --show-incomplete "$log" -- \
			"$EXPECTED/$(basename "$log" .darshan).$2.txt.gz" || failed=$((failed + 1))
	done
	echo "$n logs, $failed differ"
	[ "$n" -ge 22 ] && [ "$failed" -eq 0 ]
}

@test "parse --all equals the stock text for every log" {
	compare_option --all all
}

@test "parse --total equals the stock text for every log" {
	compare_option --total total
}

@test "parse --perf equals the stock text for every log" {
	compare_option --perf perf
}

@test "parse --file equals the stock text for every log" {
	compare_option --file file
}

@test "dxt equals the stock text for every log with traces" {
	local want n=0 failed=0
	for want in "$EXPECTED"/*.dxt.txt.gz; do
		n=$((n + 1))
		same "$IOSCRIBE" dxt --show-incomplete "$LOGS/$(basename "$want" .dxt.txt.gz).darshan" -- "$want" ||
			failed=$((failed + 1))
	done
	echo "$n logs, $failed differ"
	[ "$n" -ge 6 ] && [ "$failed" -eq 0 ]
}

@test "parse without options prints what --base prints" {
	local log="$LOGS/mpi-io-test-x86_64-3.5.0.darshan"
	diff <("$IOSCRIBE" parse "$log") <("$IOSCRIBE" parse --base "$log")
	"$IOSCRIBE" parse "$log" | grep -q '^POSIX	-1	.*	POSIX_OPENS	'
	"$IOSCRIBE" parse "$log" | none -q '^# performance'
}

@test "options add up: --total --perf prints both" {
	local log="$LOGS/skew-app.darshan"
	"$IOSCRIBE" parse --total --perf "$log" >"$BATS_TEST_TMPDIR/both"
	grep -q '^total_POSIX_OPENS: ' "$BATS_TEST_TMPDIR/both"
	grep -q '^# agg_perf_by_slowest: ' "$BATS_TEST_TMPDIR/both"
	none -q '^POSIX	' "$BATS_TEST_TMPDIR/both"
}

@test "the program answers to the stock names" {
	local log="$LOGS/hdf5_diagonal_write_1_byte_dxt.darshan" name
	ln -s "$(command -v "$IOSCRIBE")" "$BATS_TEST_TMPDIR/darshan-parser"
	ln -s "$(command -v "$IOSCRIBE")" "$BATS_TEST_TMPDIR/darshan-dxt-parser"
	name=$(basename "$log" .darshan)
	same "$BATS_TEST_TMPDIR/darshan-parser" --all --show-incomplete "$log" -- "$EXPECTED/$name.all.txt.gz"
	same "$BATS_TEST_TMPDIR/darshan-dxt-parser" --show-incomplete "$log" -- "$EXPECTED/$name.dxt.txt.gz"
	[[ "$("$BATS_TEST_TMPDIR/darshan-parser" --version)" =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]]
}

@test "a partial log is refused without --show-incomplete" {
	run_err 1 "STDIO module's data are incomplete" "$IOSCRIBE" parse "$LOGS/partial_data_stdio.darshan"
	grep -q -- '--show-incomplete' "$BATS_TEST_TMPDIR/err"
	# what comes before the partial module has been printed
	grep -q '^POSIX	' "$BATS_TEST_TMPDIR/out"
	none -q '^STDIO	' "$BATS_TEST_TMPDIR/out"
	"$IOSCRIBE" parse --show-incomplete "$LOGS/partial_data_stdio.darshan" | grep -q '^STDIO	'
}

@test "a log without traces: dxt says so and succeeds" {
	run "$IOSCRIBE" dxt "$LOGS/mpi-io-test-x86_64-3.5.0.darshan"
	[ "$status" -eq 0 ]
	[[ "$output" == *"no DXT module data available"* ]]
}

@test "modules that are not printed are named on standard error" {
	"$IOSCRIBE" parse "$LOGS/mpi-io-test-x86_64-3.4.4.darshan" 2>"$BATS_TEST_TMPDIR/err" >/dev/null
	grep -q 'module APMPI' "$BATS_TEST_TMPDIR/err"
}

@test "no log, no such file, a directory, a text file, an empty file" {
	run_err 1 "No such file or directory" "$IOSCRIBE" parse "$BATS_TEST_TMPDIR/absent"
	run_err 1 "$BATS_TEST_TMPDIR" "$IOSCRIBE" parse "$BATS_TEST_TMPDIR"
	echo "no log at all" >"$BATS_TEST_TMPDIR/text"
	run_err 1 "$BATS_TEST_TMPDIR/text" "$IOSCRIBE" parse "$BATS_TEST_TMPDIR/text"
	: >"$BATS_TEST_TMPDIR/empty"
	run_err 1 "$BATS_TEST_TMPDIR/empty" "$IOSCRIBE" parse "$BATS_TEST_TMPDIR/empty"
}

@test "a truncated log: one line, exit 1, at every 97th byte" {
	local log="$LOGS/mpi-io-test-x86_64-3.5.0.darshan" size at
	size=$(stat -c %s "$log")
	for at in $(seq 0 97 $((size - 1))); do
		head -c "$at" "$log" >"$BATS_TEST_TMPDIR/cut.darshan"
		run_err 1 cut.darshan "$IOSCRIBE" parse --all "$BATS_TEST_TMPDIR/cut.darshan"
	done
}

@test "output that cannot be written is an error" {
	[ -e /dev/full ]
	"$IOSCRIBE" parse "$LOGS/skew-app.darshan" >/dev/full 2>"$BATS_TEST_TMPDIR/err" && return 1
	grep -q 'cannot write the output: No space left on device' "$BATS_TEST_TMPDIR/err"
}

@test "wrong usage: exit 2 and one line" {
	local log="$LOGS/skew-app.darshan"
	run_err 2 "unknown option '--nonsense'" "$IOSCRIBE" parse --nonsense "$log"
	run_err 2 "LOG expected" "$IOSCRIBE" parse
	run_err 2 "unexpected argument 'second'" "$IOSCRIBE" parse "$log" second
	run_err 2 "no command 'nonsense'" "$IOSCRIBE" nonsense
}

@test "names with odd bytes are escaped on request" {
	"$IOSCRIBE" parse --escape "$LOGS/skew-app.darshan" >"$BATS_TEST_TMPDIR/escaped"
	cmp "$BATS_TEST_TMPDIR/escaped" <("$IOSCRIBE" parse "$LOGS/skew-app.darshan")
}

@test "parse --apmpi equals the text of a stock parser with that module" {
	local want n=0
	for want in "$BATS_TEST_DIRNAME"/../data/apmpi/*.base.txt.gz; do
		n=$((n + 1))
		same "$IOSCRIBE" parse --apmpi "$LOGS/$(basename "$want" .base.txt.gz).darshan" -- "$want"
	done
	[ "$n" -ge 2 ]
}
