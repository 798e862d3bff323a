#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# ioscribe dxt --csv and --json: the operations of the stock text, of every log with traces.

load helper

# The stock text's lines: module, rank, kind, number, offset, length, start, end; the thread where there is one.
stock() {
	zcat "$1" | awk '/^# Module +Rank/ { threads = /Thread/ }
		$1 ~ /^X_/ { sub(/^X_/, "DXT_", $1); print $1, $2, $3, $4, $5, $6, $7, $8, (threads ? $NF : "") }'
}

rows() {
	awk -F, 'NR > 1 { printf "%s %s %s %s %s %s %.4f %.4f %s\n", $1, $2, $5, $6, $7, $8, $9, $10, $11 }'
}

@test "dxt --csv: the operations of the stock text" {
	local want log n=0
	for want in "$EXPECTED"/*.dxt.txt.gz; do
		log="$LOGS/$(basename "$want" .dxt.txt.gz).darshan"
		diff <(stock "$want" | cut -d' ' -f1-8) <("$IOSCRIBE" dxt --csv --show-incomplete "$log" | rows | cut -d' ' -f1-8)
		[ "$("$IOSCRIBE" dxt --csv --show-incomplete "$log" | head -n 1)" = module,rank,name,host,operation,number,offset,length,start,end,thread ]
		[ "$(stock "$want" | wc -l)" -eq 0 ] || n=$((n + 1))
	done
	[ "$n" -ge 2 ]
}

@test "dxt --json: an array of the same rows; names and hosts as the export has them" {
	local want log
	for want in "$EXPECTED"/*.dxt.txt.gz; do
		log="$LOGS/$(basename "$want" .dxt.txt.gz).darshan"
		"$IOSCRIBE" dxt --json --show-incomplete "$log" >"$BATS_TEST_TMPDIR/rows.json"
		"$IOSCRIBE" dxt --csv --show-incomplete "$log" >"$BATS_TEST_TMPDIR/rows.csv"
		"$IOSCRIBE" export --json "$log" >"$BATS_TEST_TMPDIR/export.json"
		/usr/bin/python3 - "$BATS_TEST_TMPDIR" <<'P'
import csv
import json
import sys

folder = sys.argv[1]
rows = json.load(open(folder + "/rows.json"))
text = list(csv.DictReader(open(folder + "/rows.csv")))
tables = json.load(open(folder + "/export.json"))
assert len(rows) == len(text)
for a, b in zip(rows, text):
    for key, value in a.items():
        assert ("" if value is None else str(value) if not isinstance(value, float) else value) == \
            (b[key] if not isinstance(value, float) else float(b[key])), (key, a, b)
want = [(m, r["rank"], r["name"], r["host"], r["is_write"], r["number"], r["offset"], r["length"], r["start"], r["end"])
        for m in ("dxt_posix", "dxt_mpiio") for r in tables.get(m, [])]
have = [(r["module"].lower(), r["rank"], r["name"], r["host"], int(r["operation"] == "write"), r["number"], r["offset"],
         r["length"], r["start"], r["end"]) for r in rows]
assert want == have
P
	done
}

@test "dxt --csv with the filters; both formats at once are refused" {
	local log="$LOGS/runtime_and_dxt_heatmaps_diagonal_write_only.darshan"

	[ "$("$IOSCRIBE" dxt --csv --rank 3,7-11 "$log" | awk -F, 'NR > 1 { print $2 }' | xargs)" = "3 7 8 9 10 11" ]
	"$IOSCRIBE" dxt --csv --from 1 --to 2 "$log" | awk -F, 'NR > 1 { n++; bad += $9 < 1 || $9 >= 2 } END { exit !n || bad }'
	[ "$("$IOSCRIBE" dxt --json --rank 999 "$log")" = "[]" ]
	run "$IOSCRIBE" dxt --csv --json "$log"
	[ "$status" -eq 2 ]
	[[ "$output" == *"--json and --csv: only one of them"* ]]
}
