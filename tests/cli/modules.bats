# SPDX-License-Identifier: BSD-3-Clause
# Every module of Darshan's in one log, values chosen so that a column in the
# wrong place shows: text, conversion, export.

load helper

DATA="$BATS_TEST_DIRNAME/../data/modules"

maker() {
	"$(built cli/make_modules)" "$@"
}

without_sizes() {
	"$@" | grep -Ev '^# (job data|record table):|^# .* module: [0-9]+ bytes'
}

@test "text of every module equals the stock text" {
	cd "$BATS_TEST_TMPDIR"
	maker m.darshan
	zcat "$DATA/all.txt.gz" >stock
	without_sizes "$IOSCRIBE" parse --all m.darshan >ours
	[ "$(wc -l <ours)" -eq "$(wc -l <stock)" ]
	# but sums beyond 64 bits, which wrap round there, and the rate that is made of one
	! diff stock ours | grep '^>' | grep -vE ' 922337203685477580[67]( |$)|^> # agg_perf_by_slowest: 1023\.9' || return 1
	[ "$("$IOSCRIBE" parse m.darshan | grep -c ' module data$')" -eq 13 ]
}

@test "traces with Lustre layouts, without and with threads" {
	cd "$BATS_TEST_TMPDIR"
	maker m.darshan
	maker t.darshan threads
	diff <(zcat "$DATA/dxt.txt.gz") <(without_sizes "$IOSCRIBE" dxt m.darshan)
	diff <(zcat "$DATA/dxt-threads.txt.gz") <(without_sizes "$IOSCRIBE" dxt t.darshan)
}

@test "every module survives convert and merge" {
	cd "$BATS_TEST_TMPDIR"
	maker t.darshan threads
	"$IOSCRIBE" convert --bzip2 t.darshan c.darshan
	"$IOSCRIBE" merge --output m.darshan t.darshan
	local f
	for f in c m; do
		diff <("$IOSCRIBE" parse t.darshan | grep -v '^#') <("$IOSCRIBE" parse $f.darshan | grep -v '^#')
		diff <("$IOSCRIBE" dxt t.darshan | grep -v '^# ') <("$IOSCRIBE" dxt $f.darshan | grep -v '^# ')
	done
}

# merge_oracle.py has its own idea of a reduction; see there.
@test "any split of the records of every module merges to the reduction of the whole" {
	local seed f n=0 make_split splits=25
	[ -z "${IOSCRIBE_GATE:-}" ] || splits=5
	make_split=$(built cli/make_split)
	for seed in $(seq 1 "$splits"); do
		echo "seed $seed"
		mkdir "$BATS_TEST_TMPDIR/$seed"
		cd "$BATS_TEST_TMPDIR/$seed"
		"$make_split" "$seed" .
		"$IOSCRIBE" merge --shared-redux --output reduced.darshan whole.darshan
		"$IOSCRIBE" merge --shared-redux --output split.darshan part-*.darshan
		# and in steps, in another order
		"$IOSCRIBE" merge --output step.darshan part-[12].darshan
		"$IOSCRIBE" merge --shared-redux --output steps.darshan $(ls -r part-*.darshan | grep -v 'part-[12]') step.darshan
		for f in whole reduced split steps; do
			"$IOSCRIBE" parse --apmpi $f.darshan >$f.txt
			"$IOSCRIBE" dxt $f.darshan >>$f.txt
		done
		[ "$(python3 "$BATS_TEST_DIRNAME/merge_oracle.py" whole.txt reduced.txt split.txt steps.txt)" = "APMPI BG/Q CACHE CUFILE DAOS DFS H5D H5F HEATMAP LAYERS LUSTRE MDHIM MPI-IO MPI_TOTAL_COMM_SYNC_TIME MPI_TOTAL_COMM_TIME NULL PNETCDF_FILE PNETCDF_VAR POSIX POSIX_EXT STDIO" ]
		n=$((n + 1))
		cd ..
		rm -r "$seed"
	done
	[ "$n" -eq "$splits" ]
}

@test "names with quotes, commas and blanks go through export" {
	cd "$BATS_TEST_TMPDIR"
	maker m.darshan
	"$IOSCRIBE" export --csv --table posix m.darshan | python3 -c '
import csv, sys
names = {r["name"] for r in csv.DictReader(sys.stdin)}
assert names == {"/scratch/shared.h5:/group/data set", "/scratch/each rank", "/home/u/x,y\"z"}, names'
	"$IOSCRIBE" export --json --table lustre m.darshan | python3 -c '
import json, sys
rows = json.load(sys.stdin)["lustre"]
assert [r["osts"] for r in rows] == ["10 11", "12 13 14", ""], rows
assert rows[0]["pool_name"] == "flash" and rows[1]["ext_end"] == -1'
	"$IOSCRIBE" export --json --table mdhim m.darshan | python3 -c '
import json, sys
(row,) = json.load(sys.stdin)["mdhim"]
assert row["MDHIM_SERVERS"] == 3 and row["server_histogram"] == "100 101 102", row'
}
