# SPDX-License-Identifier: BSD-3-Clause
# ioscribe summary: figures that can be checked against the stock text.

load helper

@test "summary works on every sample log" {
	local log n=0
	for log in "$LOGS"/*.darshan; do
		n=$((n + 1))
		run "$IOSCRIBE" summary "$log"
		[ "$status" -eq 0 ]
		[[ "${lines[0]}" == "job "* ]]
		run "$IOSCRIBE" summary --brief "$log"
		[ "$status" -eq 0 ]
		[ "${#lines[@]}" -le 20 ]
	done
	[ "$n" -ge 22 ]
}

@test "bytes, calls and performance are those of the stock text" {
	run "$IOSCRIBE" summary "$LOGS/mpi-io-test-x86_64-3.5.0.darshan"
	[[ "$output" == *"job        3171794: 4 processes, uid 30146"* ]]
	grep -Ex 'POSIX +1 +64.0 MiB +4 +64.0 MiB +4 +3122.3 +0.041' <<<"$output"
	grep -Ex 'time       0.04417 s of I/O in the slowest rank, 86 % of the run; of all' <<<"$output"
	grep -Ex 'slowest    0.1295 s, 128.0 MiB: /home/wkliao/Darshan/TEST/mpi-io-test.tmp.dat' <<<"$output"
	grep -Ex 'findings   severe, one-stripe: .*' <<<"$output"
	zcat "$EXPECTED/mpi-io-test-x86_64-3.5.0.perf.txt.gz" | grep -q 'agg_perf_by_slowest: 3122.28'
	[[ "$output" == *"10M-100M                4"* ]]
	[[ "$output" == *"all ranks  /home/wkliao/Darshan/TEST/mpi-io-test.tmp.dat"* ]]
}

@test "a partial log is summarised and says so" {
	run "$IOSCRIBE" summary "$LOGS/partial_data_stdio.darshan"
	[ "$status" -eq 0 ]
	[[ "$output" == *"INCOMPLETE memory ran out in the job: records are missing of STDIO"* ]]
}

@test "--files: number of files listed; nonsense is refused" {
	run "$IOSCRIBE" summary --files 3 "$LOGS/partial_data_stdio.darshan"
	[ "$(grep -c ' STDIO  all ranks ' <<<"$output")" -eq 2 ]
	run_err 2 "--files takes a number" "$IOSCRIBE" summary --files many "$LOGS/skew-app.darshan"
}

@test "an empty log has no I/O" {
	run "$IOSCRIBE" summary "$LOGS/empty_log.darshan"
	[ "$status" -eq 0 ]
	[[ "$output" == *"no I/O recorded"* ]]
}

@test "no log: one line, exit 1" {
	run_err 1 "No such file or directory" "$IOSCRIBE" summary "$BATS_TEST_TMPDIR/absent"
}

@test "activity over time: the plot holds all bytes of the heatmaps" {
	run "$IOSCRIBE" summary "$LOGS/snyder_python3_id3116902-2110365_12-19-66957-188958432683465822_1.darshan"
	[[ "$output" == *"activity over 139.2 s, 2.9 s a column"* ]]
	[ "$(grep -Ec '^  (read|write)  +\|.{48}\| at most ' <<<"$output")" -eq 2 ]
	# the write of the last seconds is the highest column
	grep -Eq '^  write  \|.*#\| at most ' <<<"$output"
	run "$IOSCRIBE" summary "$LOGS/skew-app.darshan"
	[[ "$output" != *"activity over"* ]]
}

@test "counters near 2^63: sums stay at the largest number, also of shared records and in the parser's totals" {
	local most=9223372036854775807
	python3 "$BATS_TEST_DIRNAME/big_log.py" "$BATS_TEST_TMPDIR/huge.darshan" huge 1
	"$IOSCRIBE" summary "$BATS_TEST_TMPDIR/huge.darshan" >"$BATS_TEST_TMPDIR/out"
	grep -qE '^POSIX +1 +8.0 EiB 9,223,372,036,854,775,807 +8.0 EiB 9,223,372,036,854,775,807 ' "$BATS_TEST_TMPDIR/out"
	none -e ' -[0-9]' "$BATS_TEST_TMPDIR/out"
	[ "$("$IOSCRIBE" parse --total "$BATS_TEST_TMPDIR/huge.darshan" | grep -c "^total_POSIX_\(READS\|BYTES_WRITTEN\): $most$")" -eq 2 ]
	"$IOSCRIBE" merge --shared-redux --output "$BATS_TEST_TMPDIR/one.darshan" "$BATS_TEST_TMPDIR/huge.darshan"
	[ "$("$IOSCRIBE" parse "$BATS_TEST_TMPDIR/one.darshan" | grep -cE "^POSIX	-1	7	POSIX_(READS|BYTES_WRITTEN|SLOWEST_RANK_BYTES)	$most	")" -eq 3 ]
	"$IOSCRIBE" diff "$BATS_TEST_TMPDIR/huge.darshan" "$BATS_TEST_TMPDIR/one.darshan" | grep -q "^+ POSIX	-1	7	POSIX_READS	$most	"
}

@test "lines of at most 80 columns, but for names at their end" {
	local log
	for log in "$LOGS"/*.darshan; do
		for how in "" --brief; do
			"$IOSCRIBE" summary $how "$log" | grep -E '.{81}' | grep -vE '^(command|slowest|busiest|  +read)  ' || continue
			echo "$log $how"
			return 1
		done
	done
}

@test "--json: by its schema, and the figures are those of parse --total and --perf" {
	local log n=0
	"$(built cli/make_modules)" "$BATS_TEST_TMPDIR/names.darshan" names
	for log in "$LOGS"/*.darshan "$BATS_TEST_TMPDIR/names.darshan"; do
		"$IOSCRIBE" summary --json "$log" >"$BATS_TEST_TMPDIR/json"
		"$IOSCRIBE" parse --show-incomplete --total --perf --file "$log" >"$BATS_TEST_TMPDIR/text"
		n=$((n + $(/usr/bin/python3 "$BATS_TEST_DIRNAME/summary_json.py" \
			"$BATS_TEST_DIRNAME/../../docs/summary.schema.json" "$BATS_TEST_TMPDIR/json" "$BATS_TEST_TMPDIR/text")))
	done
	[ "$n" -gt 200 ]
}

@test "two logs: what changed and by how much; nothing of a log and itself" {
	local a="$LOGS/mpi-io-test-x86_64-3.4.4.darshan" b="$LOGS/mpi-io-test-x86_64-3.5.0.darshan"
	"$IOSCRIBE" summary "$a" "$b" >"$BATS_TEST_TMPDIR/out"
	grep -Ex 'new +severe, one-stripe: .*' "$BATS_TEST_TMPDIR/out"
	grep -Ex 'POSIX time +0.03403 s +0.041 s +\+20.5 %' "$BATS_TEST_TMPDIR/out"
	grep -Ex 'POSIX read +64.0 MiB +64.0 MiB' "$BATS_TEST_TMPDIR/out"
	grep -Ex ' +0.1042 s +0 s  /tmp/test/mpi-io-test.tmp.dat' "$BATS_TEST_TMPDIR/out"
	none -E '^gone' "$BATS_TEST_TMPDIR/out"
	! grep -vE '^(first|second) ' "$BATS_TEST_TMPDIR/out" | grep -E '.{81}' || return 1
	"$IOSCRIBE" summary "$b" "$a" | grep -Ex 'gone +severe, one-stripe: .*'
	"$IOSCRIBE" summary "$a" "$a" >"$BATS_TEST_TMPDIR/out"
	none -E '%|^new|^gone|files whose' "$BATS_TEST_TMPDIR/out"
	run_err 2 "--json and --brief take one log" "$IOSCRIBE" summary --json "$a" "$b"
	run_err 1 "No such file or directory" "$IOSCRIBE" summary "$a" "$BATS_TEST_TMPDIR/absent"
}
