# SPDX-License-Identifier: BSD-3-Clause
# ioscribe dxt --file, --rank, --from and --to: the stock text of real logs, filtered here by awk.

load helper

# Lines of operations without their numbers, which filtered by time are counted anew.
operations() {
	awk '$1 == "X_POSIX" || $1 == "X_MPIIO" { print $1, $2, $3, $5, $6, $7, $8 }'
}

# Half a digit of the text behind the start in the middle: rounding moves no operation over it.
middle() { # TEXT
	zcat "$1" | awk '$1 ~ /^X_/ { print $7 }' | sort -g |
		awk '{ s[NR] = $1 } END { printf "%.5f", s[int((NR + 1) / 2)] + 0.00005 }'
}

@test "dxt --from and --to: what starts then, of every log with traces" {
	local want log t n=0
	for want in "$EXPECTED"/*.dxt.txt.gz; do
		log="$LOGS/$(basename "$want" .dxt.txt.gz).darshan"
		[ "$(zcat "$want" | operations | wc -l)" -gt 0 ] || continue
		n=$((n + 1))
		t=$(middle "$want")
		diff <(zcat "$want" | operations | awk -v t="$t" '$6 < t') \
			<("$IOSCRIBE" dxt --show-incomplete --to "$t" "$log" | operations)
		diff <(zcat "$want" | operations | awk -v t="$t" '$6 >= t') \
			<("$IOSCRIBE" dxt --show-incomplete --from "$t" "$log" | operations)
		[ "$("$IOSCRIBE" dxt --show-incomplete --from "$t" --to "$t" "$log" | operations | wc -l)" -eq 0 ]
		# counts in heads are those of the lines below them
		"$IOSCRIBE" dxt --show-incomplete --from "$t" "$log" | tr -d , | awk '
			/^# DXT write_count:/ { said += $4 + $6 } /^ X_/ { n++ } END { exit said != n }'
	done
	[ "$n" -ge 2 ]
}

@test "dxt --rank and --file: all of those records, and no head of another" {
	local name=runtime_and_dxt_heatmaps_diagonal_write_only
	local log="$LOGS/$name.darshan" want="$EXPECTED/$name.dxt.txt.gz"

	diff <(zcat "$want" | operations | awk '$2 == 3 || ($2 >= 7 && $2 <= 11)') \
		<("$IOSCRIBE" dxt --rank 3,7-11 "$log" | operations)
	[ "$("$IOSCRIBE" dxt --rank 3,7-11 "$log" | grep '^# DXT, rank:' | tr -d , | awk '{ print $4 }' | sort -nu | xargs)" = "3 7 8 9 10 11" ]
	[ "$("$IOSCRIBE" dxt --file '*/rank_1?_write*' "$log" | grep -c 'file_name: .*/rank_1[0-9]_write_1_bytes$')" -eq 10 ]
	[ "$("$IOSCRIBE" dxt --file '*/rank_1?_write*' "$log" | grep -c 'file_name: ')" -eq 10 ]
	[ "$("$IOSCRIBE" dxt --file 'rank_1?_write*' "$log" | grep -c 'file_name: ')" -eq 0 ]
	[ "$("$IOSCRIBE" dxt --file '*/rank_1?_write*' --rank 10 "$log" | grep -c 'file_name: ')" -eq 1 ]
}

@test "dxt: what is no list of ranks and no time is refused" {
	local log="$LOGS/runtime_and_dxt_heatmaps_diagonal_write_only.darshan" bad

	for bad in "" x 1, ,1 3-1 -1 1- 1-2-3 "1 2" 99999999999999999999; do
		run "$IOSCRIBE" dxt --rank="$bad" "$log"
		[ "$status" -eq 2 ]
		[[ "$output" == *"--rank: '$bad' is no list of ranks such as 0,4-7"* ]]
	done
	for bad in "" x 1s -1 nan inf; do
		run "$IOSCRIBE" dxt --from="$bad" "$log"
		[ "$status" -eq 2 ]
		[[ "$output" == *"--from: '$bad' is no number of seconds"* ]]
	done
}
