# SPDX-License-Identifier: BSD-3-Clause
# ioscribe merge: logs of single ranks, made by tests/bench/make_log.

load helper

make_log() {
	"$(built bench/make_log)" "$@"
}

# Five ranks with seven files in common; rank 2 has three more.
make_ranks() {
	local r
	cd "$BATS_TEST_TMPDIR"
	for r in 0 1 2 3 4; do
		make_log "r$r.darshan" 7 5 /data $r
	done
	make_log extra.darshan 3 5 /other 2
}

value() { # LOG RANK NAME COUNTER
	"$IOSCRIBE" parse "$1" | awk -F'\t' -v r="$2" -v n="$3" -v c="$4" '$2 == r && $6 ~ n && $4 == c { print $5 }'
}

@test "merge keeps every record as it is" {
	make_ranks
	"$IOSCRIBE" merge --output all.darshan r?.darshan extra.darshan
	diff <(for f in r?.darshan extra.darshan; do "$IOSCRIBE" parse "$f" | grep '^POSIX'; done | sort) \
		<("$IOSCRIBE" parse all.darshan | grep '^POSIX' | sort)
	"$IOSCRIBE" parse all.darshan | grep -qx '# nprocs: 5'
}

@test "merge --shared-redux: sums, fastest and slowest rank, variance" {
	make_ranks
	"$IOSCRIBE" merge --shared-redux --output red.darshan r?.darshan extra.darshan
	# seven shared records, three of rank 2, nothing else
	[ "$("$IOSCRIBE" parse red.darshan | grep '	POSIX_OPENS	' | cut -f2 | sort | uniq -c | tr -s ' \n' ' ')" = " 7 -1 3 2 " ]
	local file
	for file in 000000 000003 000006; do
		for r in 0 1 2 3 4; do
			echo "$r $(value r$r.darshan $r "$file" POSIX_BYTES_WRITTEN) $(value r$r.darshan $r "$file" POSIX_F_WRITE_TIME)"
		done >one
		[ "$(value red.darshan -1 "$file" POSIX_BYTES_WRITTEN)" = "$(awk '{ s += $2 } END { print s }' one)" ]
		# metadata time is the same in every rank: the write time decides
		[ "$(value red.darshan -1 "$file" POSIX_SLOWEST_RANK)" = "$(sort -k3,3nr -k1,1n one | awk 'NR == 1 { print $1 }')" ]
		[ "$(value red.darshan -1 "$file" POSIX_FASTEST_RANK)" = "$(sort -k3,3n -k1,1n one | awk 'NR == 1 { print $1 }')" ]
		awk -v got="$(value red.darshan -1 "$file" POSIX_F_VARIANCE_RANK_BYTES)" '
			{ n++; s += $2; q += $2 * $2 }
			END { want = q / n - (s / n) ^ 2; d = got - want; if (d < 0) d = -d; exit !(d <= 1e-9 * want + 1e-6) }' one
	done
}

@test "merge does not depend on the order of the logs, nor on merging in steps" {
	make_ranks
	"$IOSCRIBE" merge --shared-redux --output a.darshan r0.darshan r1.darshan r2.darshan r3.darshan r4.darshan
	"$IOSCRIBE" merge --shared-redux --output b.darshan r4.darshan r2.darshan r0.darshan r3.darshan r1.darshan
	"$IOSCRIBE" merge --output c1.darshan r3.darshan r1.darshan
	"$IOSCRIBE" merge --output c2.darshan c1.darshan r0.darshan r4.darshan
	"$IOSCRIBE" merge --shared-redux --output c.darshan r2.darshan c2.darshan
	local f
	for f in a b c; do
		"$IOSCRIBE" parse $f.darshan | grep '^POSIX' | grep -v VARIANCE | sort >$f
	done
	[ -s a ]
	diff a b
	diff a c
}

@test "partial flags: those of the inputs, and no others" {
	cd "$BATS_TEST_TMPDIR"
	"$IOSCRIBE" merge --output m.darshan "$LOGS/skew-app.darshan"
	"$IOSCRIBE" parse m.darshan >/dev/null # not flagged: not refused
	"$IOSCRIBE" merge --output p.darshan "$LOGS/partial_data_stdio.darshan" 2>/dev/null
	run_err 1 "STDIO module's data are incomplete" "$IOSCRIBE" parse p.darshan
}

@test "merge of one log keeps every sample log" {
	local log
	cd "$BATS_TEST_TMPDIR"
	for log in "$LOGS"/*.darshan; do
		rm -f a.darshan b.darshan
		"$IOSCRIBE" merge --output a.darshan "$log"
		"$IOSCRIBE" convert "$log" b.darshan
		cmp a.darshan b.darshan
	done
}

@test "logs of two jobs are merged with a warning" {
	cd "$BATS_TEST_TMPDIR"
	run "$IOSCRIBE" merge --output m.darshan "$LOGS/skew-app.darshan" "$LOGS/mpi-io-test-x86_64-3.5.0.darshan"
	[ "$status" -eq 0 ]
	[[ "$output" == *"warning: the logs are of different jobs"* ]]
}

@test "--job-end-time sets the end" {
	cd "$BATS_TEST_TMPDIR"
	"$IOSCRIBE" merge --job-end-time 2000000000 --output m.darshan "$LOGS/skew-app.darshan"
	"$IOSCRIBE" parse m.darshan | grep -qx '# end_time: 2000000000'
	run_err 2 "--job-end-time takes seconds" "$IOSCRIBE" merge --job-end-time soon --output n.darshan m.darshan
}

@test "merge refuses: no output, existing output, no log, damaged log" {
	cd "$BATS_TEST_TMPDIR"
	run_err 2 "--output FILE is missing" "$IOSCRIBE" merge "$LOGS/skew-app.darshan"
	run_err 2 "LOG... expected" "$IOSCRIBE" merge --output x.darshan
	: >there
	run_err 1 "File exists" "$IOSCRIBE" merge --output there "$LOGS/skew-app.darshan"
	head -c 1200 "$LOGS/skew-app.darshan" >cut
	run_err 1 cut "$IOSCRIBE" merge --output x.darshan "$LOGS/skew-app.darshan" cut
	[ ! -e x.darshan ]
}

@test "times of a log that starts later are moved to the merged start" {
	cd "$BATS_TEST_TMPDIR"
	local early="$LOGS/snyder_python3_id3116902-2110365_12-19-66957-188958432683465822_1.darshan"
	local late="$LOGS/snyder_python3_id3116902-2110484_12-19-66980-9799170114715598281_1.darshan"
	"$IOSCRIBE" merge --output m.darshan "$late" "$early"
	"$IOSCRIBE" export --json-lines --table job --table posix "$early" "$late" m.darshan | python3 -c '
import json, sys
rows = [json.loads(l) for l in sys.stdin]
start = {r["log"]: r["start_time"] + r["start_time_nsec"] / 1e9 for r in rows if r["table"] == "job"}
early, late, merged = sorted(start, key=lambda k: (k == "m.darshan", start[k]))
assert start[merged] == start[early] < start[late]
lag = start[late] - start[early]
key = "POSIX_F_OPEN_START_TIMESTAMP"
of = lambda log: [r for r in rows if r["table"] == "posix" and r["log"] == log]
both = sorted([r[key] for r in of(early)] + [r[key] + lag if r[key] > 0 else r[key] for r in of(late)])
got = sorted(r[key] for r in of(merged))
assert len(got) == len(both) > 10
assert all(abs(a - b) < 1e-5 for a, b in zip(got, both)), (got, both)
assert lag > 1'
	# under the stock name they stay
	ln -s "$(command -v "$IOSCRIBE")" darshan-merge
	./darshan-merge --output s.darshan "$late" "$early"
	diff <(for f in "$early" "$late"; do "$IOSCRIBE" parse "$f"; done | grep _TIMESTAMP | grep '^[A-Z]' | cut -f1-5 | sort) \
		<("$IOSCRIBE" parse s.darshan | grep _TIMESTAMP | grep '^[A-Z]' | cut -f1-5 | sort)
}

@test "heatmaps of two logs stand on one time axis, and no byte is lost" {
	cd "$BATS_TEST_TMPDIR"
	local early="$LOGS/snyder_python3_id3116902-2110365_12-19-66957-188958432683465822_1.darshan"
	local late="$LOGS/snyder_python3_id3116902-2110484_12-19-66980-9799170114715598281_1.darshan"
	"$IOSCRIBE" merge --output m.darshan "$late" "$early"
	"$IOSCRIBE" merge --output w.darshan "$LOGS/runtime_and_dxt_heatmaps_diagonal_write_only.darshan" "$late" 2>/dev/null
	"$IOSCRIBE" export --json-lines --table job --table heatmap "$early" "$late" "$LOGS/runtime_and_dxt_heatmaps_diagonal_write_only.darshan" \
		m.darshan w.darshan | python3 -c '
import json, sys
rows = [json.loads(l) for l in sys.stdin]
start = {r["log"]: r["start_time"] + r["start_time_nsec"] / 1e9 for r in rows if r["table"] == "job"}
logs = list(start)
bins = {log: [r for r in rows if r["table"] == "heatmap" and r["log"] == log] for log in logs}
early, late, wide, merged, other = logs
def check(result, parts):
    assert len({r["width"] for r in bins[result]}) == 1
    last = {}
    for r in bins[result]:
        last[r["log"], r["record_id"], r["rank"]] = r["bin"]
    assert len(set(last.values())) == 1 and set(last.values()) < set(range(200)), last
    width = bins[result][0]["width"]
    for kind in ("bytes_read", "bytes_written"):
        want = {}
        for part in parts:
            for r in bins[part]:  # where a bin lies in the merged job
                if r[kind]:
                    at = start[part] - start[result] + r["bin"] * r["width"]
                    want.setdefault(r["name"], []).append((at, at + r["width"], r[kind]))
        for name, spans in want.items():
            got = [(r["bin"] * width, r[kind]) for r in bins[result] if r["name"] == name and r[kind]]
            assert sum(b for _, b in got) == sum(b for *_, b in spans) > 0
            for at, b in got:  # every byte lies in a bin that the original overlaps
                assert any(t < at + width + 1e-6 and e > at - 1e-6 for t, e, _ in spans), (name, at, b)
check(merged, [early, late])
check(other, [wide, late])
assert start[late] - start[early] > 1'
}

@test "--shared-redux of logs with one process each: what all processes have is shared" {
	cd "$BATS_TEST_TMPDIR"
	local logs=("$LOGS"/snyder_python3_id3116902-*.darshan)
	"$IOSCRIBE" merge --shared-redux --output one.darshan "${logs[@]}"
	"$IOSCRIBE" parse --base one.darshan | awk -F'\t' '$1 ~ /^(POSIX|STDIO|LUSTRE)$/ && $2 != -1 { print; bad = 1 } END { exit bad }'
	[ "$("$IOSCRIBE" parse --total one.darshan | sed -n 's/^total_POSIX_BYTES_READ: //p')" -eq $((13096 + 7027)) ]
	# without it they stay where they were
	"$IOSCRIBE" merge --output two.darshan "${logs[@]}"
	"$IOSCRIBE" parse --base two.darshan | awk -F'\t' '$1 ~ /^(POSIX|STDIO)$/ && $2 != 0 { print; bad = 1 } END { exit bad }'
}
