# SPDX-License-Identifier: BSD-3-Clause
# ioscribe store: messages and logs into an SQLite database.

load helper

STREAM="$BATS_TEST_DIRNAME/../data/stream/mpi_io_test.json" # Darshan's connector: 41 messages of 2 ranks
DXT_LOG="$LOGS/treddy_mpi-io-test_id4373053_6-2-60198-9815401321915095332_1.darshan"

setup_file() {
	bats_require_minimum_version 1.5.0
}

ask() { # SQL
	sqlite3 "$BATS_TEST_TMPDIR/io.sqlite" "$1"
}

store() {
	"$IOSCRIBE" store --db "$BATS_TEST_TMPDIR/io.sqlite" "$@"
}

# Everything that was stored, in one order.
rows() {
	sqlite3 "${1:-$BATS_TEST_TMPDIR/io.sqlite}" "SELECT * FROM io ORDER BY 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20"
}

@test "store: what is wrong is said in one line, and nothing is made" {
	local db=$BATS_TEST_TMPDIR/io.sqlite
	run_err 2 "--db DB is missing" "$IOSCRIBE" store "$STREAM"
	run_err 2 "INPUT expected, or --erase" "$IOSCRIBE" store --db "$db"
	run_err 2 "'0' is no number of days" "$IOSCRIBE" store --db "$db" --keep 0 "$STREAM"
	run_err 2 "'1x' is no number of days" "$IOSCRIBE" store --db "$db" --keep 1x "$STREAM"
	[ ! -e "$db" ]
	run_err 1 "no kind of database that this program knows" "$IOSCRIBE" store --db odd://host/x "$STREAM"
	run_err 1 "unable to open database file" "$IOSCRIBE" store --db "$BATS_TEST_TMPDIR/none/x" "$STREAM"
	echo "this is no database, but long enough to be looked at as one ......................................." >"$db"
	run_err 1 "file is not a database" store "$STREAM"
	rm "$db"
	run_err 1 "none.json: No such file or directory" store "$BATS_TEST_TMPDIR/none.json"
	run_err 1 "a folder, not a file" store "$BATS_TEST_TMPDIR"
	run_err 1 "a socket's path has 1 to 107 bytes" store unix:
	run_err 1 "cannot listen there" store "unix:$BATS_TEST_TMPDIR/none/socket"
	ask "UPDATE ioscribe_store SET value = 99 WHERE name = 'schema'"
	run_err 1 "made by a newer ioscribe (schema 99" store "$STREAM"
}

@test "store: lines that are no message are named, and nothing else is lost" {
	local f=$BATS_TEST_TMPDIR/bad.json good
	good=$(sed -n 1p "$STREAM")
	{
		echo "$good"
		echo 'no JSON'
		echo '{"job_id":1}'
		echo '[1]'
		echo '3'
		echo "$good$good"
		echo "${good%\}}"
		sed -n 2p "$STREAM"
		echo "${good/\"rank\":1/\"rank\":null}"
		echo "${good/\"rank\":1/\"rank\":99999999999999999999}"
		echo "${good/\"rank\":1/\"rank\":\"1\"}"
		echo "${good/\"timestamp\":/\"timestamp\":-}"
		echo "${good/\"module\":\"POSIX\"/\"module\":\"a\\u0000b\"}"
		echo "${good/\"file\":\"/\"file\":\"$(head -c 70000 /dev/zero | tr '\0' x)}"
		head -c 600000 /dev/zero | tr '\0' ' '
		echo
		printf '\n  \r\n'
		sed -n 3p "$STREAM"
		printf '{"unfinished":'
	} >"$f"
	run -1 --separate-stderr store "$f"
	[[ "$output" == *": 3 operations added, 0 already there, 13 bad lines" ]]
	for line in 2 3 4 5 6 7 9 10 11 12 13 14 15; do
		grep -qF "bad.json:$line: no message: " <<<"$stderr" || { echo "$stderr"; echo "line $line"; return 1; }
	done
	grep -qF 'bad.json:3: no message: it has no rank' <<<"$stderr"
	grep -qF 'bad.json:6: no message: more than one object' <<<"$stderr"
	grep -qF 'bad.json:10: no message: rank: no 64-bit number' <<<"$stderr"
	grep -qF 'bad.json:15: no message: longer than 256 KiB' <<<"$stderr"
	grep -qF 'bad.json:19: the last line has no end: left for the next time' <<<"$stderr"
	[ "$(wc -l <<<"$stderr")" -eq 14 ]
	# it is finished then, and only it is read
	printf '1}\n%s' "$(sed -n 4p "$STREAM")" >>"$f"
	run -1 --separate-stderr store "$f"
	[[ "$output" == *": 1 operation added, 0 already there, 1 bad line" ]]
	[[ "$stderr" == *"bad.json:19: no message: it has no job_id" ]]
	run -0 --separate-stderr store "$f"
	[[ "$output" == *": 0 operations added, 0 already there" ]]
}

@test "store: what no operation can have is refused; a wrong clock hides nothing" {
	absurd_messages store
}

@test "store: what the database refuses is named and counted, and all else is stored" {
	store /dev/null
	ask "CREATE TRIGGER no BEFORE INSERT ON event WHEN NEW.len = 13 BEGIN SELECT RAISE(ABORT, 'no thirteen'); END; CREATE TRIGGER never BEFORE INSERT ON operation WHEN NEW.op = 'never' BEGIN SELECT RAISE(ABORT, 'never'); END"
	refused_lines store ask
}

@test "store: texts longer than an index takes, and bytes that are no UTF-8" {
	hostile_texts store ask
}

@test "store: another user's job of the same id hides nothing, and names no file of mine" {
	same_id store "$BATS_TEST_TMPDIR/io.sqlite"
}

@test "store: 100,000 hostile messages among honest ones change no answer about these" {
	hostile_flood store "$BATS_TEST_TMPDIR/io.sqlite"
}

@test "store: 330 silent connections keep nobody from sending" {
	local pid
	"$IOSCRIBE" store --db "$BATS_TEST_TMPDIR/io.sqlite" "unix:$BATS_TEST_TMPDIR/s" >/dev/null 2>"$BATS_TEST_TMPDIR/err" 3>&- &
	pid=$!
	until_prints socket stat -c %F "$BATS_TEST_TMPDIR/s"
	head -n 3 "$STREAM" | python3 -c '
import socket, sys
def connect():
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    return s
silent = [connect() for _ in range(330)]
last = connect()
last.sendall(sys.stdin.buffer.read())
last.shutdown(socket.SHUT_WR)
last.recv(1) # until it has been read
' "$BATS_TEST_TMPDIR/s"
	until_prints 3 ask 'SELECT count(*) FROM event'
	kill -TERM $pid
	wait $pid
	[ ! -s "$BATS_TEST_TMPDIR/err" ]
}

@test "store: the values of Darshan's connector, and what the counts add up to" {
	python3 - "$STREAM" "$BATS_TEST_TMPDIR/names.json" <<'PY'
import json, sys
name = 'odd "name" \\ with \n and ü'
with open(sys.argv[2], "w") as to:
    for line in open(sys.argv[1]):
        m = json.loads(line)
        if m["file"] != "N/A":
            m["file"] += name
        to.write(json.dumps(m) + "\n")
PY
	store - <"$BATS_TEST_TMPDIR/names.json" >"$BATS_TEST_TMPDIR/out"
	grep -q ": 41 operations added, 0 already there$" "$BATS_TEST_TMPDIR/out"
	[ "$(ask 'SELECT module, op, count(*) FROM io GROUP BY 1, 2' | tr '\n' ' ')" = \
		"MPIIO|close|4 MPIIO|open|4 MPIIO|read|2 MPIIO|write|2 POSIX|close|8 POSIX|open|8 POSIX|read|2 POSIX|write|2 STDIO|open|3 STDIO|write|6 " ]
	python3 - "$BATS_TEST_TMPDIR/names.json" "$BATS_TEST_TMPDIR/io.sqlite" <<'PY'
import json, sqlite3, sys
path = {}
want = []
for line in open(sys.argv[1]):
    m = json.loads(line)
    path.setdefault(str(m["record_id"]), m["file"] if m["file"] != "N/A" else None)
    s = m["seg"][0]
    none = lambda v: None if v == -1 else v
    us = lambda v: round(v * 1e6)
    want.append((m["job_id"], 1, m["uid"], m["rank"], m["ProducerName"], m["module"], m["op"], m["type"],
                 str(m["record_id"]), path[str(m["record_id"])], us(s["timestamp"]), us(s["start"]), us(s["dur"]),
                 us(s["total"]), none(s["off"]), none(s["len"]), none(m["max_byte"]), none(m["switches"]),
                 none(m["flushes"]), none(m["cnt"]), none(s["pt_sel"]), none(s["irreg_hslab"]),
                 none(s["reg_hslab"]), none(s["ndims"]), none(s["npoints"]), us(s["dur"]) * 1000))
have = list(sqlite3.connect(sys.argv[2]).execute("SELECT * FROM io"))
assert sorted(map(repr, have)) == sorted(map(repr, want)), (sorted(map(repr, have))[0], sorted(map(repr, want))[0])
PY
	[ "$(ask 'SELECT DISTINCT exe FROM job_exe')" = io/mpi-io-test ]
}

@test "store: a replay adds nothing twice, by file, by pipe, in another order" {
	make_events 20000 3 8 >"$BATS_TEST_TMPDIR/e.json"
	store "$BATS_TEST_TMPDIR/e.json"
	rows >"$BATS_TEST_TMPDIR/before"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/before")" -eq 20000 ]
	[[ "$(store "$BATS_TEST_TMPDIR/e.json")" == *": 0 operations added, 0 already there" ]]
	[[ "$(tac "$BATS_TEST_TMPDIR/e.json" | store -)" == *": 0 operations added, 20000 already there" ]]
	cp "$BATS_TEST_TMPDIR/e.json" "$BATS_TEST_TMPDIR/other.json"
	[[ "$(store "$BATS_TEST_TMPDIR/other.json")" == *": 0 operations added, 20000 already there" ]]
	rows | cmp - "$BATS_TEST_TMPDIR/before"
	sums_are_right ask
	# into a new store by halves, the later one first
	tail -n 10000 "$BATS_TEST_TMPDIR/e.json" | "$IOSCRIBE" store --db "$BATS_TEST_TMPDIR/2.sqlite" -
	head -n 10000 "$BATS_TEST_TMPDIR/e.json" | "$IOSCRIBE" store --db "$BATS_TEST_TMPDIR/2.sqlite" -
	rows "$BATS_TEST_TMPDIR/2.sqlite" | cut -d '|' -f 1-9,11- | cmp - <(cut -d '|' -f 1-9,11- "$BATS_TEST_TMPDIR/before")
	# and a third of it before the whole
	awk 'NR % 3 == 0' "$BATS_TEST_TMPDIR/e.json" | "$IOSCRIBE" store --db "$BATS_TEST_TMPDIR/3.sqlite" -
	"$IOSCRIBE" store --db "$BATS_TEST_TMPDIR/3.sqlite" "$BATS_TEST_TMPDIR/e.json"
	sums_are_right sqlite3 "$BATS_TEST_TMPDIR/3.sqlite"
	[ "$(sqlite3 "$BATS_TEST_TMPDIR/3.sqlite" 'SELECT sum(n) FROM total')" -eq 20000 ]
}

@test "store: a stream's totals, once each, the highest; beside what is stored" {
	local f=$BATS_TEST_TMPDIR/f.json job=19332 at=1795220075
	{
		stream_totals $job 0 $at node1 7 sent=10 lost=2
		cat "$STREAM"
		stream_totals $job 0 $at node1 7 end=16 lost=3 skipped=1
		stream_totals $job 0 $at node2 8 sent=5
	} >"$f"
	[[ "$(store "$f")" == *": 41 operations added, 0 already there" ]]
	"$IOSCRIBE" query --db "$BATS_TEST_TMPDIR/io.sqlite" --csv streams job=$job >"$BATS_TEST_TMPDIR/1"
	diff "$BATS_TEST_TMPDIR/1" - <<-X
		node,since_us,told_us,has_ended,sent,skipped,lost,stored
		node1,7,${at}000000,1,16,1,3,16
		node2,8,${at}000000,0,5,0,0,0
	X
	[[ "$(tac "$f" | store -)" == *": 0 operations added, 41 already there" ]]
	"$IOSCRIBE" query --db "$BATS_TEST_TMPDIR/io.sqlite" --csv streams job=$job | cmp - "$BATS_TEST_TMPDIR/1"
	# without a node it is of no stream, without a number none of its totals; with the job it goes
	stream_totals $job 0 $at node1 9 sent=1 | sed 's/"node1"/"N\/A"/' >"$f"
	run_err 1 "no message: it has no ProducerName" store "$f"
	stream_totals $job 0 $at node1 9 sent=1 | sed 's/"cnt":1,//' >"$f.2"
	run_err 1 "no message: it has no cnt, or one below 0" store "$f.2"
	stream_totals $job 0 $at node1 9 sent=-1 >"$f.3"
	run_err 1 "no message: it has no cnt, or one below 0" store "$f.3"
	[ "$(ask 'SELECT count(*) FROM stream WHERE value < 0 OR since_us = 9')" = 0 ]
	store --keep 1 /dev/null
	[ "$(ask 'SELECT count(*) FROM stream')" = 0 ]
}

@test "store: killed at any time and started again: nothing lost, nothing twice" {
	local pid turn
	make_events 100000 4 16 >"$BATS_TEST_TMPDIR/e.json"
	for turn in 1 2 3 4 5 6; do
		"$IOSCRIBE" store --db "$BATS_TEST_TMPDIR/io.sqlite" "$BATS_TEST_TMPDIR/e.json" >/dev/null &
		pid=$!
		sleep "0.$((turn * 7 % 10))"
		kill -KILL $pid 2>/dev/null || true
		wait $pid 2>/dev/null || true
	done
	store "$BATS_TEST_TMPDIR/e.json"
	[ "$(ask 'SELECT count(*), sum(bytes) FROM event, input GROUP BY input.name')" = \
		"100000|$(($(stat -c %s "$BATS_TEST_TMPDIR/e.json") * 100000))" ]
	"$IOSCRIBE" store --db "$BATS_TEST_TMPDIR/2.sqlite" "$BATS_TEST_TMPDIR/e.json"
	cmp <(rows) <(rows "$BATS_TEST_TMPDIR/2.sqlite")
	sums_are_right ask
}

@test "store: two stores into one database" {
	local a b
	make_events 60000 4 16 >"$BATS_TEST_TMPDIR/e.json"
	split -n r/2 "$BATS_TEST_TMPDIR/e.json" "$BATS_TEST_TMPDIR/part."
	"$IOSCRIBE" store --db "$BATS_TEST_TMPDIR/io.sqlite" "$BATS_TEST_TMPDIR/part.aa" >"$BATS_TEST_TMPDIR/a" &
	a=$!
	"$IOSCRIBE" store --db "$BATS_TEST_TMPDIR/io.sqlite" "$BATS_TEST_TMPDIR/part.ab" >"$BATS_TEST_TMPDIR/b" &
	b=$!
	wait $a
	wait $b
	grep -q ": 30000 operations added, 0 already there$" "$BATS_TEST_TMPDIR/a"
	grep -q ": 30000 operations added, 0 already there$" "$BATS_TEST_TMPDIR/b"
	[ "$(ask 'SELECT count(*) FROM event')" -eq 60000 ]
	[ "$(ask 'SELECT count(*) FROM job')" -eq 4 ]
}

@test "store: a socket with several senders, while others ask; a signal ends it" {
	local pid a b
	make_events 20000 2 4 >"$BATS_TEST_TMPDIR/a.json"
	make_events 20000 4 4 9 | sed 's/"job_id":/"job_id":77/' >"$BATS_TEST_TMPDIR/b.json"
	"$IOSCRIBE" store --db "$BATS_TEST_TMPDIR/io.sqlite" "unix:$BATS_TEST_TMPDIR/s" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
	pid=$!
	cat >"$BATS_TEST_TMPDIR/send.py" <<'PY'
import socket, sys, time
s = socket.socket(socket.AF_UNIX)
for _ in range(600):
    try:
        s.connect(sys.argv[1])
        break
    except OSError:
        time.sleep(0.1)
s.sendall(open(sys.argv[2], "rb").read())
PY
	python3 "$BATS_TEST_TMPDIR/send.py" "$BATS_TEST_TMPDIR/s" "$BATS_TEST_TMPDIR/a.json" &
	a=$!
	python3 "$BATS_TEST_TMPDIR/send.py" "$BATS_TEST_TMPDIR/s" "$BATS_TEST_TMPDIR/b.json" &
	b=$!
	wait $a && wait $b
	until_prints 40000 ask 'SELECT count(*) FROM event'
	kill -TERM $pid
	wait $pid
	[ ! -e "$BATS_TEST_TMPDIR/s" ]
	[ ! -s "$BATS_TEST_TMPDIR/err" ]
	grep -q ": 40000 operations added, 0 already there$" "$BATS_TEST_TMPDIR/out"
}

@test "store: --follow sees what is written to a file, line by line" {
	local pid
	head -n 10 "$STREAM" >"$BATS_TEST_TMPDIR/f.json"
	"$IOSCRIBE" store --db "$BATS_TEST_TMPDIR/io.sqlite" --follow "$BATS_TEST_TMPDIR/f.json" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
	pid=$!
	until_prints 10 ask 'SELECT count(*) FROM event'
	sed -n 11,20p "$STREAM" >>"$BATS_TEST_TMPDIR/f.json"
	sed -n 21p "$STREAM" | head -c 100 >>"$BATS_TEST_TMPDIR/f.json"
	until_prints 20 ask 'SELECT count(*) FROM event'
	sed -n 21p "$STREAM" | tail -c +101 >>"$BATS_TEST_TMPDIR/f.json"
	until_prints 21 ask 'SELECT count(*) FROM event'
	kill -INT $pid
	wait $pid
	[ ! -s "$BATS_TEST_TMPDIR/err" ]
	grep -q ": 21 operations added, 0 already there$" "$BATS_TEST_TMPDIR/out"
}

@test "store: a finished log's traced operations, with counters that run on as its own" {
	local n
	store "$DXT_LOG" | grep -q ": 576 operations added, 0 already there$"
	"$IOSCRIBE" dxt --csv "$DXT_LOG" >"$BATS_TEST_TMPDIR/dxt.csv"
	python3 - "$BATS_TEST_TMPDIR/dxt.csv" "$BATS_TEST_TMPDIR/io.sqlite" <<'PY'
import csv, sqlite3, sys
db = sqlite3.connect(sys.argv[2])
base = db.execute("SELECT first_us FROM job").fetchone()[0]
want = sorted((r["module"][4:], int(r["rank"]), r["name"], r["host"], r["operation"], int(r["number"]) + 1,
               int(r["offset"]), int(r["length"]), round(float(r["start"]) * 1e6), base + round(float(r["end"]) * 1e6),
               round(float(r["end"]) * 1e9) - round(float(r["start"]) * 1e9))
              for r in csv.DictReader(open(sys.argv[1])))
have = sorted(db.execute("SELECT module, rank, path, node, op, cnt, coalesce(off, -1), len, start_us, time_us, dur_ns FROM io"))
assert have == want, [p for p in zip(have, want) if p[0] != p[1]][:2]
PY
	# the sums of the counters that Darshan counted for the same
	for n in READS:read:1 WRITES:write:1 BYTES_READ:read:len BYTES_WRITTEN:write:len; do
		IFS=: read -r counter op what <<<"$n"
		[ "$("$IOSCRIBE" parse "$DXT_LOG" 2>/dev/null | awk -F'\t' -v c="POSIX_$counter" '$4 == c { s += $5 } END { printf "%.0f", s }')" = \
			"$(ask "SELECT sum($what) FROM io WHERE module = 'POSIX' AND op = '$op'")" ]
	done
	cp "$DXT_LOG" "$BATS_TEST_TMPDIR/copy.darshan"
	[[ "$(store "$BATS_TEST_TMPDIR/copy.darshan")" == *": 0 operations added, 0 already there" ]]
	run --separate-stderr -0 store "$LOGS/laytonjb_test1_id28730_6-7-43012-2131301613401632697_1.darshan"
	[[ "$stderr" == *"no traced operations (DXT), CACHE or MOUNTS: nothing to store"* ]]
	head -c 3000 "$DXT_LOG" >"$BATS_TEST_TMPDIR/cut.darshan"
	run_err 1 "cut.darshan" store "$BATS_TEST_TMPDIR/cut.darshan"
}

@test "store: a log's counters of the page cache and of NFS clients" {
	counters_of_log "$BATS_TEST_TMPDIR/io.sqlite" store
	ask "UPDATE job SET last_us = 1"
	store --keep 9 - </dev/null >/dev/null
	[ "$(ask 'SELECT count(*) FROM counter')" = 0 ]
}

@test "store: a job comes from its stream or its log; an id that comes again is another job" {
	local id uid start
	read -r id uid start < <("$IOSCRIBE" parse "$DXT_LOG" 2>/dev/null | sed -nE 's/^# (jobid|uid|start_time): ([0-9]+)$/\1 \2/p' |
		sort | awk '{ v[$1] = $2 } END { print v["jobid"], v["uid"], v["start_time"] }')
	[ "$id" -gt 0 ]
	[ "$start" -gt 0 ]
	sed -n 1,5p "$STREAM" | sed -E "s/\"uid\":0/\"uid\":$uid/; s/\"job_id\":[0-9]+/\"job_id\":$id/; s/\"timestamp\":[0-9]+/\"timestamp\":$start/" \
		>"$BATS_TEST_TMPDIR/s.json"
	store "$BATS_TEST_TMPDIR/s.json"
	run --separate-stderr -0 store "$DXT_LOG"
	[[ "$output" == *": 0 operations added, 0 already there, 576 left out" ]]
	[ "$stderr" = "ioscribe store: job $id: its operations are in the store from its stream: those from its log are left out" ]
	# three days later, and then by another user
	sed -E "s/\"timestamp\":$start/\"timestamp\":$((start + 259200))/" "$BATS_TEST_TMPDIR/s.json" >"$BATS_TEST_TMPDIR/later.json"
	run_err 0 "job $id: the id is used again: kept apart as use 2 of it" store "$BATS_TEST_TMPDIR/later.json"
	sed -E "s/\"uid\":$uid/\"uid\":4242/" "$BATS_TEST_TMPDIR/later.json" >"$BATS_TEST_TMPDIR/user.json"
	run_err 0 "kept apart as use 3 of it" store "$BATS_TEST_TMPDIR/user.json"
	[ "$(ask 'SELECT use, uid, (SELECT count(*) FROM event WHERE job = j.id) FROM job j' | tr '\n' ' ')" = "1|$uid|5 2|$uid|5 3|4242|5 " ]
	cat "$BATS_TEST_TMPDIR"/{s,later,user}.json | store - >"$BATS_TEST_TMPDIR/out" 2>&1
	grep -q ": 0 operations added, 15 already there$" "$BATS_TEST_TMPDIR/out"
}

@test "store: of an id that was used again questions take the later job, whichever was stored first" {
	used_twice store
	[ "$("$IOSCRIBE" query --db "$BATS_TEST_TMPDIR/io.sqlite" --csv ranks job=7)" = $'rank\n0\n1' ]
	"$IOSCRIBE" query --db "$BATS_TEST_TMPDIR/io.sqlite" --csv jobs | cut -d , -f 1-3 | diff - <(printf 'job,use,uid\n7,1,0\n7,3,5\n7,2,0\n')
	[[ "$("$IOSCRIBE" query --db "$BATS_TEST_TMPDIR/io.sqlite" --csv percentiles job=7)" == *$'\nPOSIX,open,8,'* ]]
}

@test "store: --keep deletes what is older, and the jobs that are gone by it" {
	local now
	now=$(date +%s)
	sed -E "s/\"timestamp\":[0-9]+/\"timestamp\":$((now - 3600))/" "$STREAM" | sed 's/"job_id":[0-9]*/"job_id":1/' >"$BATS_TEST_TMPDIR/new.json"
	sed -E "s/\"timestamp\":[0-9]+/\"timestamp\":$((now - 10 * 86400))/" "$STREAM" | sed 's/"job_id":[0-9]*/"job_id":2/' >"$BATS_TEST_TMPDIR/old.json"
	store "$BATS_TEST_TMPDIR/new.json" "$BATS_TEST_TMPDIR/old.json"
	[ "$(ask 'SELECT count(*) FROM event')" -eq 82 ]
	sed 's/"job_id":1/"job_id":3/' "$BATS_TEST_TMPDIR/new.json" | store --keep 11 - | grep -q "41 operations added"
	[ "$(ask 'SELECT count(*) FROM event')" -eq 123 ]
	store --keep 9 - </dev/null | grep -q "^41 operations of more than 9 days ago deleted$"
	[ "$(ask 'SELECT group_concat(job_id) FROM job')" = 1,3 ]
	[ "$(ask 'SELECT count(*) FROM event')" -eq 82 ]
	sums_are_right ask
}

@test "store: no room: one line, exit 1; then it goes on where it was" {
	make_events 50000 2 8 >"$BATS_TEST_TMPDIR/e.json"
	run_err 1 "io.sqlite: " bash -c 'trap "" XFSZ; ulimit -f 2000; exec "$@"' - "$IOSCRIBE" store --db "$BATS_TEST_TMPDIR/io.sqlite" \
		"$BATS_TEST_TMPDIR/e.json"
	store "$BATS_TEST_TMPDIR/e.json" >/dev/null
	[ "$(ask 'SELECT count(*) FROM event')" -eq 50000 ]
	[ "$(ask 'PRAGMA integrity_check')" = ok ]
}
