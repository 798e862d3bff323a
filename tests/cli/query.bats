# SPDX-License-Identifier: BSD-3-Clause
# ioscribe query: answers against the same sums made in Python from the messages.

load helper

setup_file() {
	local events
	events=$(built cli/make_events)
	"$events" 30000 3 8 | spread_out >"$BATS_FILE_TMPDIR/e.json"
	"$IOSCRIBE" store --db "$BATS_FILE_TMPDIR/io.sqlite" "$BATS_FILE_TMPDIR/e.json"
}

query() {
	"$IOSCRIBE" query --db "$BATS_FILE_TMPDIR/io.sqlite" "$@"
}

@test "query: what is wrong is said in one line" {
	run_err 2 "QUESTION expected, or --list" "$IOSCRIBE" query
	run_err 2 "--list has no operands" "$IOSCRIBE" query --list jobs
	run_err 2 "--db DB is missing" "$IOSCRIBE" query jobs
	run_err 2 "only one of them" query --csv --json jobs
	run_err 1 "no question is named 'none'; --list names those there are" query none
	run_err 1 "'../jobs' is no name of a question" query ../jobs
	run_err 1 "durations needs job=VALUE: the job's id" query durations
	run_err 1 "'job' is no NAME=VALUE" query durations job
	run_err 1 "durations has no parameter 'rank'" query durations rank=1
	run_err 1 "job: '1x' is no integer of 64 bits" query durations job=1x
	run_err 1 "none.sqlite: No such file or directory; \`ioscribe store --db" "$IOSCRIBE" query --db "$BATS_TEST_TMPDIR/none.sqlite" jobs
	[ ! -e "$BATS_TEST_TMPDIR/none.sqlite" ]
	sqlite3 "$BATS_TEST_TMPDIR/other.sqlite" 'CREATE TABLE t (x)'
	run_err 1 "no store of ioscribe" "$IOSCRIBE" query --db "$BATS_TEST_TMPDIR/other.sqlite" jobs
	echo text that is no database, whatever one may think of it >"$BATS_TEST_TMPDIR/text"
	run_err 1 "text: file is not a database" "$IOSCRIBE" query --db "$BATS_TEST_TMPDIR/text" jobs
}

@test "query: every question is answered, its CSV and JSON alike, and as Python sums it up" {
	local q
	query --list >"$BATS_TEST_TMPDIR/list"
	[ "$(grep -c '^[a-z]' "$BATS_TEST_TMPDIR/list")" -ge 9 ]
	for q in operations "operations job=5001" jobs "over_time job=5001" "durations job=5001" "nodes job=5002" \
		"slowest job=5000 limit=50" "runs exe=/apps/solver0" "load from_us=1700000000970000 to_us=1700000004850000" \
		"rank job=5001 rank=3 limit=10000" "load from_us=1700000002100000 to_us=1700000002900000" \
		"over_time job=5001 seconds=2" "heat job=5001" "heat job=5001 us=2000000 origin_us=1699999999000000 ranks=3" \
		"heat job=5001 us=300000 module=POSIX"; do
		# shellcheck disable=SC2086 # a question and its parameters
		query --csv $q >"$BATS_TEST_TMPDIR/$(tr ' /' ',_' <<<"$q").csv"
		# shellcheck disable=SC2086
		query --json $q >"$BATS_TEST_TMPDIR/$(tr ' /' ',_' <<<"$q").json"
	done
	python3 - "$BATS_FILE_TMPDIR/e.json" "$BATS_TEST_TMPDIR" <<'PY'
import collections, csv, glob, json, math, os, sys
from decimal import Decimal
events = []
paths = {}
for line in open(sys.argv[1]):
    m = json.loads(line, parse_float=lambda t: int(Decimal(t) * 1000000))
    s = m["seg"][0]
    if m["file"] != "N/A":
        paths[m["record_id"]] = m["file"]
    events.append(dict(m, len=max(s["len"], 0), off=s["off"], dur=s["dur"], time=s["timestamp"]))
def answer(name):
    rows = list(csv.reader(open(os.path.join(sys.argv[2], name + ".csv"))))
    objects = json.load(open(os.path.join(sys.argv[2], name + ".json")))
    assert rows[1:], name
    assert [["" if v is None else str(v) for v in o.values()] for o in objects] == rows[1:], name
    assert not objects or list(objects[0]) == rows[0], name
    return objects
for f in glob.glob(sys.argv[2] + "/*.csv"):
    answer(os.path.basename(f)[:-4])
def groups(key, chosen):
    g = collections.defaultdict(list)
    for e in chosen:
        g[key(e)].append(e)
    return sorted(g.items())
def of(job):
    return [e for e in events if e["job_id"] == job]
want = [(*k, len(v), sum(e["len"] for e in v), sum(e["dur"] for e in v))
        for k, v in groups(lambda e: (e["job_id"], 1, e["module"], e["op"]), events)]
assert [tuple(o.values()) for o in answer("operations")] == want
assert [tuple(o.values()) for o in answer("operations,job=5001")] == [w for w in want if w[0] == 5001]
want = []
for k, v in groups(lambda e: (e["rank"], e["module"], e["op"]), of(5001)):
    d = [e["dur"] for e in v]
    want.append((*k, len(d), sum(d) // len(d), math.isqrt((len(d) * sum(x * x for x in d) - sum(d) ** 2) // len(d) ** 2),
                 min(d), max(d)))
assert [tuple(o.values()) for o in answer("durations,job=5001")] == want
want = [(*k, len(v), sum(e["len"] for e in v))
        for k, v in groups(lambda e: (e["time"] // 1000000 * 1000000, e["module"], e["op"]), of(5001))]
assert [tuple(o.values()) for o in answer("over_time,job=5001")] == want
want = [(*k, len(v), sum(e["len"] for e in v)) for k, v in groups(lambda e: (e["ProducerName"], e["module"], e["op"]), of(5002))]
assert [tuple(o.values()) for o in answer("nodes,job=5002")] == want
assert [o["dur_us"] for o in answer("slowest,job=5000,limit=50")] == sorted((e["dur"] for e in of(5000)), reverse=True)[:50]
for o in answer("runs,exe=_apps_solver0"):
    v = of(o["job"])
    assert (o["operations"], o["bytes_read"], o["bytes_written"]) == \
        (len(v), *(sum(e["len"] for e in v if e["op"] == op) for op in ("read", "write"))), o
assert [o["job"] for o in answer("runs,exe=_apps_solver0")] == sorted({e["job_id"] for e in events if e["exe"] == "/apps/solver0"})
at = [e for e in events if 1700000000970000 <= e["time"] < 1700000004850000]
assert sorted((o["job"], o["operations"], o["bytes"]) for o in answer("load,from_us=1700000000970000,to_us=1700000004850000")) == \
    [(k, len(v), sum(e["len"] for e in v)) for k, v in groups(lambda e: e["job_id"], at)]
at = [e for e in events if 1700000002100000 <= e["time"] < 1700000002900000]
assert sorted((o["job"], o["operations"], o["bytes"]) for o in answer("load,from_us=1700000002100000,to_us=1700000002900000")) == \
    [(k, len(v), sum(e["len"] for e in v)) for k, v in groups(lambda e: e["job_id"], at)]
assert len({e["time"] // 1000000 for e in events}) > 6
want = [(*k, len(v), sum(e["len"] for e in v))
        for k, v in groups(lambda e: (e["time"] // 2000000 * 2000000, e["module"], e["op"]), of(5001))]
assert [tuple(o.values()) for o in answer("over_time,job=5001,seconds=2")] == want
for name, us, origin, ranks in (("heat,job=5001", 1000000, 0, 1), ("heat,job=5001,us=300000,module=POSIX", 300000, 0, 1),
                                ("heat,job=5001,us=2000000,origin_us=1699999999000000,ranks=3", 2000000, 1699999999000000, 3)):
    want = [(*k, len(v), *(sum(e["len"] for e in v if e["op"] in ops) for ops in (("read", "write"), ("read",), ("write",))))
            for k, v in groups(lambda e: ((e["time"] - origin) // us * us + origin, e["rank"] // ranks * ranks), of(5001))]
    assert [tuple(o.values()) for o in answer(name)] == want, name
v = sorted((e["time"], e["op"], e["dur"], str(e["record_id"]), paths.get(e["record_id"])) for e in of(5001) if e["rank"] == 3)
assert sorted((o["time_us"], o["op"], o["dur_us"], o["record_id"], o["path"]) for o in answer("rank,job=5001,rank=3,limit=10000")) == v
PY
}

@test "query: deviations of sums are those of the operations, beyond 134 s, too" {
	make_events 3000 2 4 | sed -E 's/"dur":0\.000([0-9])/"dur":1\100.0/' | "$IOSCRIBE" store --db "$BATS_TEST_TMPDIR/io.sqlite" -
	durations_of_events "$BATS_TEST_TMPDIR/io.sqlite"
	sums_are_right sqlite3 "$BATS_TEST_TMPDIR/io.sqlite"
}

@test "query: names as they are in CSV and JSON; in a table, and on a terminal, escaped once" {
	cat >"$BATS_TEST_TMPDIR/names.py" <<'PY'
import csv, io, json, os, pty, subprocess, sys
ioscribe, stream, db = sys.argv[1:]
names = ["/plain", "/back\\slash", "/na\u00efve \u2603", "/tab\there\x1b[31m\\n", "/bad\\xff\\\\", '/q"{},:', "/line\nend"]
shown = ["/plain", "/back\\slash", "/na\u00efve \u2603", "/tab\\there\\x1b[31m\\\\n", "/bad\\xff\\\\", '"/q""{},:"', "/line\\nend"]
opened = json.loads(open(stream).readline())
text = "".join(json.dumps(dict(opened, file=n, record_id=i, rank=0)) + "\n" for i, n in enumerate(names))
subprocess.run([ioscribe, "store", "--db", db, "-"], input=text, text=True, check=True)
def query(*words):
    words = [ioscribe, "query", "--db", db, *words, "rank", "job=%d" % opened["job_id"], "rank=0"]
    return words, subprocess.run(words, capture_output=True, check=True).stdout.decode()
assert sorted(r["path"] for r in json.loads(query("--json")[1])) == sorted(names)
assert sorted(r["path"] for r in csv.DictReader(io.StringIO(query("--csv")[1], newline=""))) == sorted(names)
words, table = query()
assert sorted(line.split("\t")[8] for line in table.splitlines()[1:]) == sorted(shown), table
got = []
def read(fd):
    got.append(os.read(fd, 65536))
    return got[-1]
pty.spawn(words, read)
assert b"".join(got).decode().replace("\r\n", "\n") == table, got
PY
	python3 "$BATS_TEST_TMPDIR/names.py" "$IOSCRIBE" "$BATS_TEST_DIRNAME/../data/stream/mpi_io_test.json" "$BATS_TEST_TMPDIR/names.sqlite" </dev/null
}

@test "query: a site's own question, before those installed; it can change nothing" {
	mkdir "$BATS_TEST_TMPDIR/mine"
	cat >"$BATS_TEST_TMPDIR/mine/jobs.sql" <<'SQL'
-- jobs as the site counts them
-- parameter least integer = 0: operations at least
-- parameter word text = it's: any
SELECT count(*) AS jobs, ':least' AS literal, :word AS word FROM job WHERE (SELECT count(*) FROM event WHERE job = job.id) >= :least
SQL
	[ "$(query --questions "$BATS_TEST_TMPDIR/mine" --csv jobs)" = $'jobs,literal,word\n3,:least,it\'s' ]
	[ "$(IOSCRIBE_QUESTIONS=$BATS_TEST_TMPDIR/none:$BATS_TEST_TMPDIR/mine query --csv jobs least=20000 'word=";--')" = $'jobs,literal,word\n0,:least,""";--"' ]
	"$IOSCRIBE" query --questions "$BATS_TEST_TMPDIR/mine" --list | grep -q '^jobs: jobs as the site counts them$'
	echo 'DELETE FROM event' >"$BATS_TEST_TMPDIR/mine/gone.sql"
	run_err 1 "a question is one SELECT, WITH or VALUES that reads" query --questions "$BATS_TEST_TMPDIR/mine" gone
	echo 'SELECT no_such FROM event' >"$BATS_TEST_TMPDIR/mine/wrong.sql"
	run_err 1 "no such column: no_such" query --questions "$BATS_TEST_TMPDIR/mine" wrong
	echo 'SELECT :x' >"$BATS_TEST_TMPDIR/mine/wrong.sql"
	run_err 1 "wrong.sql: :x is no parameter that its head describes" query --questions "$BATS_TEST_TMPDIR/mine" wrong
	printf -- '-- about\n-- parameter x float: no\nSELECT 1' >"$BATS_TEST_TMPDIR/mine/wrong.sql"
	run_err 1 "wrong.sql:2: not 'parameter NAME integer|text [= DEFAULT]: what it is'" query --questions "$BATS_TEST_TMPDIR/mine" wrong
	[ "$(sqlite3 "$BATS_FILE_TMPDIR/io.sqlite" 'SELECT count(*) FROM event')" -eq 30000 ]
}

@test "query: what is more than reading is refused, each in one line; a question in a pipe is not waited for" {
	local sql
	mkdir "$BATS_TEST_TMPDIR/mine"
	for sql in 'PRAGMA query_only = OFF' 'PRAGMA query_only' "ATTACH '$BATS_TEST_TMPDIR/made' AS made" \
		"VACUUM INTO '$BATS_TEST_TMPDIR/made'" VACUUM 'BEGIN IMMEDIATE' COMMIT 'DROP TABLE event' 'UPDATE job SET uid = 0' \
		'CREATE TEMP TABLE x (y)' REINDEX ANALYZE 'EXPLAIN DELETE FROM event'; do
		echo "$sql" >"$BATS_TEST_TMPDIR/mine/more.sql"
		run_err 1 "a question is one SELECT, WITH or VALUES that reads" query --questions "$BATS_TEST_TMPDIR/mine" more
	done
	for sql in 'SELECT * FROM pragma_journal_mode' "SELECT load_extension('x')"; do
		echo "$sql" >"$BATS_TEST_TMPDIR/mine/more.sql"
		run_err 1 "not authorized" query --questions "$BATS_TEST_TMPDIR/mine" more
	done
	[ ! -e "$BATS_TEST_TMPDIR/made" ]
	mkfifo "$BATS_TEST_TMPDIR/mine/piped.sql" "$BATS_TEST_TMPDIR/mine/python.py"
	for sql in piped python; do
		run_err 1 ": not a regular file" timeout 60 "$IOSCRIBE" query --db "$BATS_FILE_TMPDIR/io.sqlite" --questions "$BATS_TEST_TMPDIR/mine" $sql
	done
}

@test "query: sums beyond 64 bits stay at the largest number, and others' are as before" {
	cp "$BATS_FILE_TMPDIR/io.sqlite" "$BATS_TEST_TMPDIR/huge.sqlite"
	huge_sums "$BATS_TEST_TMPDIR/huge.sqlite" sqlite3 "$BATS_TEST_TMPDIR/huge.sqlite"
	# the sums of a site's own questions are reals there, as in windows of rows
	mkdir "$BATS_TEST_TMPDIR/mine"
	echo 'SELECT sum(len) AS a, sum(x) AS b, sum(1) AS c, sum(0.5) AS d, whole(1.9), whole(-1e30), whole(NULL) FROM (SELECT len, sum(len) OVER (ORDER BY time_us ROWS 1 PRECEDING) AS x FROM event WHERE job = 1)' >"$BATS_TEST_TMPDIR/mine/own.sql"
	"$IOSCRIBE" query --questions "$BATS_TEST_TMPDIR/mine" --db "$BATS_TEST_TMPDIR/huge.sqlite" --csv own | tail -n 1 | grep -Eqx '9\.22337203685478e\+22,1\.84458?[0-9]+e\+23,10000,5000,1,-9223372036854775808,'
}

@test "query: asked while a store writes" {
	local pid n last=0
	"$(built cli/make_events)" 100000 2 16 >"$BATS_TEST_TMPDIR/e.json"
	"$IOSCRIBE" store --db "$BATS_TEST_TMPDIR/live.sqlite" /dev/null
	"$IOSCRIBE" store --db "$BATS_TEST_TMPDIR/live.sqlite" "$BATS_TEST_TMPDIR/e.json" >/dev/null 3>&- &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		n=$("$IOSCRIBE" query --csv --db "$BATS_TEST_TMPDIR/live.sqlite" operations | awk -F, 'NR > 1 { s += $5 } END { print s + 0 }')
		[ "$n" -ge "$last" ]
		last=$n
	done
	wait $pid
	[ "$("$IOSCRIBE" query --csv --db "$BATS_TEST_TMPDIR/live.sqlite" operations | awk -F, 'NR > 1 { s += $5 } END { print s }')" -eq 100000 ]
}
