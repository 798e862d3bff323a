# SPDX-License-Identifier: BSD-3-Clause
# Every module of Darshan's in one log, values chosen so that a column in the
# wrong place shows: text, conversion, export.

load helper

DATA="$BATS_TEST_DIRNAME/../data/modules"

maker() {
	local maker="${IOSCRIBE_BUILD:-$(dirname "$(dirname "$(command -v "$IOSCRIBE")")")}/tests/cli/make_modules"
	[ -x "$maker" ] || {
		echo "no $maker: build the target cli_make_modules"
		return 1
	}
	"$maker" "$@"
}

without_sizes() {
	"$@" | grep -Ev '^# (job data|record table):|^# .* module: [0-9]+ bytes'
}

@test "text of every module equals the stock text" {
	cd "$BATS_TEST_TMPDIR"
	maker m.darshan
	diff <(zcat "$DATA/all.txt.gz") <(without_sizes "$IOSCRIBE" parse --all m.darshan)
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

@test "merging the two halves of a log and reducing equals reducing it whole" {
	cd "$BATS_TEST_TMPDIR"
	maker m.darshan
	"$IOSCRIBE" merge --shared-redux --output r.darshan m.darshan
	# the file that each rank has became shared in every module that reduces
	"$IOSCRIBE" parse r.darshan | grep -v '^#' | awk -F'\t' '$1 != "HEATMAP" && $6 == "/scratch/each rank" && $2 >= 0' |
		cut -f1 | sort -u | grep -vx MDHIM | none .
	local module
	for module in POSIX MPI-IO STDIO H5F H5D PNETCDF_FILE PNETCDF_VAR DFS; do
		"$IOSCRIBE" parse r.darshan | grep -Pq "^$module\t-1\t.*\t/scratch/each rank\t|^$module\t-1\t.*\tN/A$"
	done
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
}
