# SPDX-License-Identifier: BSD-3-Clause
# ioscribe export: every format against the values that parse prints.

load helper

# Sum over all logs of a counter, from the text of parse.
text_sum() { # COUNTER
	local log
	for log in "$LOGS"/*.darshan; do
		"$IOSCRIBE" parse --show-incomplete "$log" 2>/dev/null
	done | awk -F'\t' -v c="$1" '$4 == c { s += $5 } END { printf "%.0f\n", s }'
}

@test "JSON of every log is valid and complete" {
	local log n=0
	for log in "$LOGS"/*.darshan; do
		n=$((n + 1))
		"$IOSCRIBE" export --json "$log" >"$BATS_TEST_TMPDIR/j.json"
		"$IOSCRIBE" parse --show-incomplete "$log" 2>/dev/null >"$BATS_TEST_TMPDIR/text"
		python3 - "$BATS_TEST_TMPDIR/j.json" "$BATS_TEST_TMPDIR/text" <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
want = {}
for line in open(sys.argv[2], errors="surrogateescape"):
    if line[0] in "#\n":
        continue
    f = line.rstrip("\n").split("\t")
    if f[0] in ("POSIX", "STDIO", "MPI-IO", "H5F", "H5D", "DFS", "DAOS", "PNETCDF_VAR") and "_F_" not in f[3]:
        want.setdefault(f[0].replace("-", "").lower(), []).append((f[1], f[2], f[3], f[4]))
for table, rows in want.items():
    have = set()
    for r in d[table]:
        for k, v in r.items():
            have.add((str(r["rank"]), r["record_id"], k, str(v)))
    for rank, rid, k, v in rows:
        if k.endswith("_FILE_REC_ID"):
            k = "file_record_id"
        assert (rank, rid, k, v) in have, (table, rank, rid, k, v)
assert len(d["job"]) == 1
PY
	done
	[ "$n" -ge 22 ]
}

@test "JSON lines: an object a line, several logs" {
	"$IOSCRIBE" export --json-lines "$LOGS"/*.darshan >"$BATS_TEST_TMPDIR/lines"
	python3 - "$BATS_TEST_TMPDIR/lines" "$(text_sum POSIX_BYTES_WRITTEN)" <<'PY'
import json, sys
total = 0
logs = set()
for line in open(sys.argv[1]):
    r = json.loads(line)
    logs.add(r["log"])
    if r["table"] == "posix":
        total += r["POSIX_BYTES_WRITTEN"]
assert total == int(sys.argv[2]), (total, sys.argv[2])
assert len(logs) >= 22
PY
}

@test "CSV: a file a table, reals exact" {
	local dir="$BATS_TEST_TMPDIR/csv" log="$LOGS/treddy_mpi-io-test_id4373053_6-2-60198-9815401321915095332_1.darshan"
	"$IOSCRIBE" export --csv --output "$dir" "$log"
	[ "$(ls "$dir" | tr '\n' ' ')" = "dxt_mpiio.csv dxt_posix.csv file.csv job.csv metadata.csv mount.csv mpiio.csv posix.csv stdio.csv " ]
	[ "$(wc -l <"$dir/dxt_posix.csv")" -eq 321 ]
	python3 - "$dir/posix.csv" "$BATS_TEST_TMPDIR" "$IOSCRIBE" "$log" <<'PY'
import csv, json, subprocess, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
want = json.loads(subprocess.run([sys.argv[3], "export", "--json", sys.argv[4]], capture_output=True).stdout)["posix"]
assert len(rows) == len(want) > 0
for a, b in zip(rows, want):
    for k, v in b.items():
        assert (float(a[k]) == v) if isinstance(v, float) else (a[k] == str(v)), (k, a[k], v)
PY
}

@test "CSV on standard output needs one table" {
	local log="$LOGS/skew-app.darshan"
	[ "$("$IOSCRIBE" export --csv --table posix "$log" | wc -l)" -eq 2 ]
	run_err 1 "name one with --table" "$IOSCRIBE" export --csv "$log"
}

@test "SQLite: all logs, sums as in the text, adding twice changes nothing" {
	local db="$BATS_TEST_TMPDIR/all.db"
	run "$IOSCRIBE" export --sqlite "$db" "$LOGS"/*.darshan
	[ "$status" -eq 0 ]
	[[ "$output" == *"22 logs added, 0 already there"* ]]
	cp "$db" "$BATS_TEST_TMPDIR/before.db"
	run "$IOSCRIBE" export --sqlite "$db" "$LOGS"/*.darshan
	[[ "$output" == *"0 logs added, 22 already there"* ]]
	python3 - "$db" "$(text_sum POSIX_BYTES_WRITTEN)" "$(text_sum STDIO_WRITES)" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
one = lambda q: db.execute(q).fetchone()[0]
assert one("select sum(POSIX_BYTES_WRITTEN) from posix") == int(sys.argv[2])
assert one("select sum(STDIO_WRITES) from stdio") == int(sys.argv[3])
assert one("select count(*) from log") == one("select count(*) from job") == 22
assert one("select count(*) from posix p left join file f using (log_id, record_id) where f.name is null") == 0
assert one("select typeof(POSIX_F_META_TIME) from posix limit 1") == "real"
assert one("pragma user_version") == 1
PY
}

@test "SQLite: logs are added one by one; a damaged log adds nothing" {
	local db="$BATS_TEST_TMPDIR/one.db"
	"$IOSCRIBE" export --sqlite "$db" "$LOGS/skew-app.darshan"
	head -c 2000 "$LOGS/mpi-io-test-x86_64-3.5.0.darshan" >"$BATS_TEST_TMPDIR/cut.darshan"
	run_err 1 cut.darshan "$IOSCRIBE" export --sqlite "$db" "$BATS_TEST_TMPDIR/cut.darshan"
	"$IOSCRIBE" export --sqlite "$db" "$LOGS/mpi-io-test-x86_64-3.5.0.darshan"
	python3 - "$db" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
assert db.execute("select count(*) from log").fetchone()[0] == 2
assert db.execute("select count(distinct log_id) from mount").fetchone()[0] == 2
PY
}

# Every table of a database, with the logs' paths in place of their ids.
contents() {
	python3 - "$1" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
assert db.execute("pragma integrity_check").fetchone()[0] == "ok"
path = dict(db.execute("select log_id, path from log"))
for (table,) in db.execute("select name from sqlite_master where type = 'table' order by 1").fetchall():
    for row in sorted(map(repr, ((path[r[0]],) + r[1:] for r in db.execute('select * from "%s"' % table)))):
        print(table, row)
PY
}

killed_at() { # N DB LOG...
	local n=$1 db=$2 status=0 lib
	lib=$(built cli/die_at.so)
	shift 2
	DIE_AT=$n DIE_COUNT=$BATS_TEST_TMPDIR/count LD_PRELOAD=$lib ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 \
		"$IOSCRIBE" export --sqlite "$db" "$@" >/dev/null || status=$?
	[ "$status" -eq "$([ "$n" -eq 0 ] && echo 0 || echo 137)" ]
}

@test "SQLite: killed in the middle of a write, at eight places: whole logs only, and the next run goes on" {
	local db="$BATS_TEST_TMPDIR/killed.db" whole="$BATS_TEST_TMPDIR/whole.db" writes k logs=("$LOGS"/[mst]*.darshan)
	[ "${#logs[@]}" -ge 10 ]
	killed_at 0 "$whole" "${logs[@]}"
	contents "$whole" >"$BATS_TEST_TMPDIR/want"
	writes=$(cat "$BATS_TEST_TMPDIR/count")
	[ "$writes" -gt 100 ]
	for k in 1 2 3 4 5 6 7 8; do
		rm -f "$db" "$db"-*
		killed_at $((writes * k / 9 + k % 2)) "$db" "${logs[@]}"
		# what is there is of whole logs, and as it should be
		contents "$db" >"$BATS_TEST_TMPDIR/part"
		none -vxFf "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/part"
		[ "$(grep -c '^job ' "$BATS_TEST_TMPDIR/part")" -eq "$(grep -c '^log ' "$BATS_TEST_TMPDIR/part")" ]
		"$IOSCRIBE" export --sqlite "$db" "${logs[@]}" >/dev/null
		contents "$db" | diff "$BATS_TEST_TMPDIR/want" -
	done
}

@test "SQLite: two exports at the same time give what one gives" {
	local db="$BATS_TEST_TMPDIR/two.db" first logs=("$LOGS"/[mst]*.darshan)
	"$IOSCRIBE" export --sqlite "$BATS_TEST_TMPDIR/one.db" "${logs[@]}"
	"$IOSCRIBE" export --sqlite "$db" "${logs[@]}" &
	first=$!
	"$IOSCRIBE" export --sqlite "$db" $(printf '%s\n' "${logs[@]}" | tac)
	wait "$first"
	diff <(contents "$BATS_TEST_TMPDIR/one.db") <(contents "$db")
}

@test "SQLite: a log added with some tables gets the others when it is added again" {
	local log="$LOGS/mpi-io-test-x86_64-3.5.0.darshan"
	cd "$BATS_TEST_TMPDIR"
	"$IOSCRIBE" export --sqlite whole.db "$log"
	"$IOSCRIBE" export --sqlite steps.db --table job "$log"
	run "$IOSCRIBE" export --sqlite steps.db --table posix --table job "$log"
	[ "$output" = "steps.db: 0 logs added, 1 already there, 1 of them with tables added" ]
	run "$IOSCRIBE" export --sqlite steps.db "$log"
	[ "$output" = "steps.db: 0 logs added, 1 already there, 1 of them with tables added" ]
	run "$IOSCRIBE" export --sqlite steps.db "$log"
	[ "$output" = "steps.db: 0 logs added, 1 already there" ]
	contents whole.db >want
	grep -q "^posix " want
	contents steps.db | diff want -
}

@test "SQLite: logs that cannot be read are named, the others are added" {
	local logs=("$LOGS/skew-app.darshan" absent cut "$LOGS/mpi-io-test-x86_64-3.5.0.darshan")
	cd "$BATS_TEST_TMPDIR"
	head -c 2000 "$LOGS/mpi-io-test-x86_64-3.5.0.darshan" >cut
	"$IOSCRIBE" export --sqlite some.db "${logs[@]}" >out 2>err && return 1
	[ "$(cat out)" = "some.db: 2 logs added, 0 already there" ]
	[ "$(wc -l <err)" -eq 2 ]
	grep -q ' absent: cannot open' err
	grep -q ' cut: ' err
	"$IOSCRIBE" export --sqlite two.db "$LOGS/skew-app.darshan" "$LOGS/mpi-io-test-x86_64-3.5.0.darshan"
	diff <(contents two.db) <(contents some.db)
}

@test "an export that fails at its first log leaves no database and no folder" {
	cd "$BATS_TEST_TMPDIR"
	run_err 1 absent "$IOSCRIBE" export --sqlite new.db absent
	run_err 1 absent "$IOSCRIBE" export --csv --output new absent
	[ "$(ls)" = $'err\nout' ]
	mkdir mine
	run_err 1 absent "$IOSCRIBE" export --csv --output mine absent
	[ -d mine ]
}

@test "SQLite: counts that cannot be printed are an error" {
	cd "$BATS_TEST_TMPDIR"
	"$IOSCRIBE" export --sqlite db "$LOGS/skew-app.darshan" >/dev/full 2>err && return 1
	grep -q 'cannot write the output' err
}

@test "--table: only what is asked for" {
	"$IOSCRIBE" export --json --table job --table mount "$LOGS/skew-app.darshan" >"$BATS_TEST_TMPDIR/j"
	python3 -c 'import json, sys; assert sorted(json.load(open(sys.argv[1]))) == ["job", "mount"]' "$BATS_TEST_TMPDIR/j"
}

@test "export refuses: no format, two logs in one document, no database, a file that is none" {
	local log="$LOGS/skew-app.darshan"
	run_err 2 "--json, --json-lines, --csv or --sqlite DB is missing" "$IOSCRIBE" export "$log"
	run_err 2 "no table is named 'posxi'" "$IOSCRIBE" export --json --table posxi "$log"
	"$IOSCRIBE" export --json --table apmpi_head --table pnetcdf_file "$log" # known, not in this log
	run_err 2 "one log at a time" "$IOSCRIBE" export --json "$log" "$log"
	run_err 1 "cannot be opened" "$IOSCRIBE" export --sqlite "$BATS_TEST_TMPDIR/no/such/folder.db" "$log"
	echo "this is a text file and no database, long enough to be taken for a header of one, or so it seems" >"$BATS_TEST_TMPDIR/text"
	run_err 1 "not an SQLite database" "$IOSCRIBE" export --sqlite "$BATS_TEST_TMPDIR/text" "$log"
	run_err 1 "No space left on device" "$IOSCRIBE" export --json --output /dev/full "$log"
}

@test "APMPI: its head has a table of its own, in every format" {
	local log=$LOGS/mpi-io-test-x86_64-3.4.4.darshan want
	cd "$BATS_TEST_TMPDIR"
	want=$("$IOSCRIBE" parse --base --apmpi "$log" | awk -F '\t' '$4 == "MPI_TOTAL_COMM_TIME_VARIANCE" { print $5 }')
	[ -n "$want" ]
	"$IOSCRIBE" export --json "$log" | python3 -c '
import json, sys
d = json.load(sys.stdin)
[head] = d["apmpi_head"]
assert "%.6f" % head["MPI_TOTAL_COMM_TIME_VARIANCE"] == sys.argv[1], head
assert head["sync_flag"] in (0, 1) and (head["sync_flag"] or head["MPI_TOTAL_COMM_SYNC_TIME_VARIANCE"] is None)
assert len(d["apmpi"]) == d["job"][0]["nprocs"]
' "$want"
	"$IOSCRIBE" export --csv --table apmpi_head "$log" >head.csv
	[ "$(wc -l <head.csv)" = 2 ]
	[ "$(awk -F , 'NR == 2 { printf "%.6f", $4 }' head.csv)" = "$want" ]
	"$IOSCRIBE" export --sqlite db "$log"
	[ "$(sqlite3 db 'SELECT printf("%.6f", MPI_TOTAL_COMM_TIME_VARIANCE) FROM apmpi_head')" = "$want" ]
}

@test "what cannot be finished leaves what was there, and nothing beside it" {
	local log=$LOGS/skew-app.darshan
	cd "$BATS_TEST_TMPDIR"
	# damaged behind its names: the first tables are out by then
	cp "$log" bad
	python3 - bad <<'END'
import struct, sys
f = open(sys.argv[1], "r+b")
at, n = struct.unpack_from("<2Q", f.read(1328), 48 + 16 * 1)  # POSIX
f.seek(at + n // 2)
f.write(b"\xff" * (n - n // 2))
END
	echo old >j.json
	chmod 640 j.json
	mkdir c
	echo old >c/job.csv
	run "$IOSCRIBE" export --json --output j.json bad
	[ "$status" -eq 1 ]
	run "$IOSCRIBE" export --csv --output c bad
	[ "$status" -eq 1 ]
	run "$IOSCRIBE" export --csv --output fresh bad
	[ "$status" -eq 1 ]
	[ "$(cat j.json)$(cat c/job.csv)" = oldold ]
	[ "$(ls c)" = job.csv ]
	[ ! -e fresh ]
	[ -z "$(find . -name '*partial*')" ]

	# whole ones replace it, and keep its rights; a link and a pipe stay what they are
	"$IOSCRIBE" export --json --output j.json "$log"
	[ "$(stat -c %a j.json)" = 640 ]
	python3 -m json.tool j.json >/dev/null
	ln -s elsewhere link
	"$IOSCRIBE" export --json --output link "$log"
	[ -L link ]
	cmp elsewhere j.json
	"$IOSCRIBE" export --json --output /dev/stdout "$log" | cmp - j.json
	"$IOSCRIBE" export --csv --output c "$log"
	[ "$(head -c 4 c/job.csv)" = log, ]
	[ -z "$(find . -name '*partial*')" ]
}
