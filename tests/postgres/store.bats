# SPDX-License-Identifier: BSD-3-Clause
# Stores in PostgreSQL: every question answered as from SQLite, byte for byte; kills, a server that goes away,
# retention. The server is the test's own.

load ../cli/helper
load ../harness/wait
load ../serve/helper
load server

STREAM="$BATS_TEST_DIRNAME/../data/stream/mpi_io_test.json"

setup_file() {
	bats_require_minimum_version 1.5.0
	pg_start
	export PG PG_DIR
}

teardown_file() {
	pg_stop
}

# Each test has a database of its own: DB.
setup() {
	psql -XqA "$PG" -c "CREATE DATABASE t$BATS_TEST_NUMBER"
	DB=${PG/\/postgres/\/t$BATS_TEST_NUMBER}
}

ask() {
	psql -XqtA "$DB" -c "$1"
}

store() {
	"$IOSCRIBE" store --db "$DB" "$@"
}

@test "postgres: what is wrong is said in one line, and no password is shown" {
	run_err 1 "No such file or directory" "$IOSCRIBE" store --db "postgresql://me:secret@/x?host=/none&password=geheim" "$STREAM"
	none -e secret -e geheim "$BATS_TEST_TMPDIR/err"
	run_err 1 'database "none" does not exist' "$IOSCRIBE" query --db "${PG/\/postgres/\/none}" jobs
	run_err 1 "no store of ioscribe" "$IOSCRIBE" query --db "$DB" jobs
	store "${STREAM}" >/dev/null
	ask "UPDATE ioscribe_store SET value = 99 WHERE name = 'schema'"
	run_err 1 "made by a newer ioscribe (schema 99" store "$STREAM"
	run_err 1 "odd://me@host/x: no kind of database" "$IOSCRIBE" store --db odd://me:secret@host/x "$STREAM"
}

@test "postgres: every question is answered as from SQLite, byte for byte" {
	local q format n=0
	make_events 30000 3 8 >"$BATS_TEST_TMPDIR/e.json"
	{
		cat "$STREAM"
		python3 "$BATS_TEST_DIRNAME/../cli/make_samples.py" 1699999990 20 1 5
		stream_totals 5001 1001 1700000001 node1 7 sent=9 lost=2 end=10
	} >>"$BATS_TEST_TMPDIR/e.json"
	"$IOSCRIBE" store --db "$BATS_TEST_TMPDIR/io.sqlite" "$BATS_TEST_TMPDIR/e.json" >/dev/null
	[ "$(store "$BATS_TEST_TMPDIR/e.json")" = "$DB: 30041 operations added, 0 already there, 100 samples added, 0 already there" ]
	for q in $("$IOSCRIBE" query --list | sed -nE 's/^([a-z_]+):.*/\1/p'); do
		case $q in
		jobs | modules) set -- "$q" ;;
		operations) set -- operations "operations job=5001" "operations job=-2" ;;
		over_time) set -- "over_time job=5001" "over_time job=5000 seconds=0" ;;
		durations | nodes | heat | ranks) set -- "$q job=5000" "$q job=5001" "$q job=5002" ;;
		cache | mounts) set -- "$q job=5001" ;; # counters_of_log
		streams) set -- "streams job=5001" "streams job=1" ;;
		samples) set -- "samples job=5001" "samples job=5000 seconds=1" "samples job=5002 seconds=0" "samples job=1" ;;
		slowest) set -- "slowest job=5000 limit=500" ;;
		runs) set -- "runs exe=/apps/solver0" "runs exe=none" ;;
		load) set -- "load from_us=1700000000010000 to_us=1700000000050000" "load from_us=0 to_us=9000000000000000000" ;;
		rank) set -- "rank job=5001 rank=3 limit=10000" "rank job=5002 rank=1 from_us=1700000000020000 limit=7" ;;
		percentiles) set -- "percentiles job=5001" "percentiles job=5000 by_rank=1" "percentiles job=1" ;;
		phases) set -- "phases job=5000" "phases job=5002 gap_ms=0 module=MPIIO" "phases job=1" ;;
		*) echo "no call of $q here" && return 1 ;;
		esac
		for q in "$@"; do
			for format in --csv --json; do
				n=$((n + 1))
				# shellcheck disable=SC2086 # a question and its parameters
				"$IOSCRIBE" query --db "$BATS_TEST_TMPDIR/io.sqlite" $format $q >"$BATS_TEST_TMPDIR/a"
				# shellcheck disable=SC2086
				"$IOSCRIBE" query --db "$DB" $format $q >"$BATS_TEST_TMPDIR/b"
				cmp "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b"
			done
		done
	done
	[ "$n" -ge 30 ]
	# all rows, by all columns
	q="SELECT job_id, use, uid, rank, node, module, op, type, record_id, path, time_us, start_us, dur_us, total_us, off, len, max_byte, switches, flushes, cnt, pt_sel, irreg_hslab, reg_hslab, ndims, npoints, dur_ns FROM io"
	cmp <(sqlite3 "$BATS_TEST_TMPDIR/io.sqlite" "$q" | sort) <(ask "$q" | sort)
	# a replay adds nothing, in the other order, and nothing can be changed by a question
	[ "$(tac "$BATS_TEST_TMPDIR/e.json" | store -)" = "$DB: 0 operations added, 30041 already there, 0 samples added, 100 already there" ]
	sums_are_right ask
	for q in "SELECT node, time_us, metric, value FROM node_load" "SELECT * FROM jobs" "SELECT * FROM modules"; do
		cmp <(sqlite3 "$BATS_TEST_TMPDIR/io.sqlite" "$q" | sort) <(ask "$q" | sort)
	done
	"$IOSCRIBE" query --db "$DB" --csv samples job=5001 | grep -q '^1700000000000000,node1,[0-9]*,[0-9]*,io_some_us,[0-9]'
	mkdir "$BATS_TEST_TMPDIR/mine"
	echo 'DELETE FROM event' >"$BATS_TEST_TMPDIR/mine/gone.sql"
	run_err 1 "a question is one SELECT, WITH or VALUES that reads" "$IOSCRIBE" query --db "$DB" --questions "$BATS_TEST_TMPDIR/mine" gone
}

@test "postgres: every panel and variable of the dashboard is answered to a role that may read the views alone" {
	make_events 30000 3 8 >"$BATS_TEST_TMPDIR/e.json"
	python3 "$BATS_TEST_DIRNAME/../cli/make_samples.py" 1699999990 20 10 5 >>"$BATS_TEST_TMPDIR/e.json"
	store "$BATS_TEST_TMPDIR/e.json" >/dev/null
	ask "CREATE ROLE grafana LOGIN; GRANT SELECT ON io, jobs, modules, node_load TO grafana"
	[ "$(python3 "$BATS_TEST_DIRNAME/../serve/dashboard.py" "$BATS_TEST_DIRNAME/../../packaging/grafana/ioscribe-store-postgresql.json" \
		"$IOSCRIBE" "$DB" sql "${DB/ioscribe@/grafana@}")" = "as expected" ]
}

@test "postgres: serve: a user sees his own jobs alone; --erase takes them away" {
	make_events 3000 3 8 >"$BATS_TEST_TMPDIR/e.json"
	store "$BATS_TEST_TMPDIR/e.json" >/dev/null
	printf '%s\n' 0123456789abcdef "123456789abcdef0 1001" "23456789abcdef01 header=X-Remote-User" >"$BATS_TEST_TMPDIR/tokens"
	user_questions "$BATS_TEST_TMPDIR/mine"
	ask "CREATE ROLE reader LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader; ALTER ROLE reader SET search_path = public, pg_temp"
	serve "${DB/ioscribe@/reader@}" --token-file "$BATS_TEST_TMPDIR/tokens" --questions "$BATS_TEST_TMPDIR/mine"
	[ "$(python3 "$BATS_TEST_DIRNAME/../serve/users.py" "$PLACE" "$BATS_TEST_TMPDIR/tokens" rows)" = "21 refused" ]
	# a session that the server ended is not continued without the views
	ask "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'reader'" >/dev/null
	[ "$(python3 "$BATS_TEST_DIRNAME/../serve/users.py" "$PLACE" "$BATS_TEST_TMPDIR/tokens" rows)" = "21 refused" ]
	erase_user "$DB" ask
}

# question NAME SQL
question() {
	mkdir -p "$BATS_TEST_TMPDIR/mine"
	printf '%s\n' "$2" >"$BATS_TEST_TMPDIR/mine/$1.sql"
}

# refused TEXT SQL
refused() {
	question more "$2"
	run_err 1 "$1" "$IOSCRIBE" query --db "$DB" --questions "$BATS_TEST_TMPDIR/mine" more
}

@test "postgres: a question is one statement that reads, and cannot leave its transaction" {
	local sql n
	store "$STREAM" >/dev/null
	n=$(ask 'SELECT count(*) FROM event')
	for sql in COMMIT 'DROP TABLE event' 'SET default_transaction_read_only = off' 'SET TRANSACTION READ WRITE' \
		"COPY (SELECT 1) TO PROGRAM 'touch $PG_DIR/touched'" "COPY event TO '$PG_DIR/touched'" 'LOCK TABLE event' \
		'DO $$ BEGIN DELETE FROM event; END $$' '/* /* */ SELECT */ VACUUM' 'PREPARE x AS SELECT 1' 'LISTEN x'; do
		refused "a question is one SELECT, WITH or VALUES that reads" "$sql"
	done
	refused "cannot insert multiple commands" 'SELECT 1; DELETE FROM event'
	refused "in a read-only transaction" 'WITH gone AS (DELETE FROM event RETURNING *) SELECT count(*) FROM gone'
	refused "in a read-only transaction" 'SELECT 1 AS x INTO made'
	refused "in a read-only transaction" 'EXPLAIN ANALYZE DELETE FROM event'
	refused "must be set before any query" "SELECT set_config('transaction_read_only', 'off', false)"
	[ ! -e "$PG_DIR/touched" ]
	[ "$(ask 'SELECT count(*) FROM event')" -eq "$n" ]
	question more '(VALUES (1), (2))'
	[ "$("$IOSCRIBE" query --db "$DB" --questions "$BATS_TEST_TMPDIR/mine" --csv more)" = $'column1\n1\n2' ]
}

# How many questions sleep in the server.
sleeping() {
	[ "$(ask "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep(100000)::text%' AND pid <> pg_backend_pid()")" -eq "$1" ]
}

@test "postgres: serve: a question holds no lock, has a limit, and ends with SIGTERM" {
	local bounds="$BATS_TEST_DIRNAME/../serve/bounds.py"
	store "$STREAM" >/dev/null
	question lock "SELECT pg_advisory_lock(4711)::text AS x, set_config('statement_timeout', '0', false) AS y"
	question endless 'SELECT pg_sleep(100000)::text AS x'
	serve "$DB" --questions "$BATS_TEST_TMPDIR/mine"
	[ "$(python3 "$bounds" "$PLACE" "$TOKEN" ask '/api/ask?question=lock')" = 200 ]
	[ "$(ask "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'")" -eq 0 ]
	[ "$(python3 "$bounds" "$PLACE" "$TOKEN" ask '/api/ask?question=endless')" = '500 endless: no answer within 60 s' ]
	[ "$(python3 "$bounds" "$PLACE" "$TOKEN" ask '/api/ask?question=jobs')" = 200 ]
	python3 "$bounds" "$PLACE" "$TOKEN" ask '/api/ask?question=endless' >/dev/null 2>&1 3>&- 4>&- &
	until_true sleeping 1
	kill -TERM "$SERVE_PID"
	until_true is_gone "$SERVE_PID" || { kill -KILL "$SERVE_PID"; return 1; }
	wait "$SERVE_PID"
	until_true sleeping 0
	[ ! -s "$BATS_TEST_TMPDIR/err" ]
}

@test "postgres: a store of an older version is upgraded; --keep deletes samples, too" {
	local now
	now=$(date +%s)
	store "$STREAM" >/dev/null
	# as version 1 was: the tables' first step is not changed any more
	ask "UPDATE event SET file = (SELECT min(b.id) FROM file a JOIN file b USING (record_id) WHERE a.id = event.file); DELETE FROM file WHERE id NOT IN (SELECT file FROM event)"
	ask "DROP VIEW io, node_load, jobs, modules; ALTER TABLE event DROP COLUMN dur_ns; DROP TABLE sample; DROP TABLE metric; DROP TABLE stream; DROP TABLE counter; DROP TABLE total; DROP FUNCTION whole, ahead, spread_of; ALTER TABLE file DROP COLUMN job, ADD CONSTRAINT file_record_id_key UNIQUE (record_id); UPDATE ioscribe_store SET value = 1 WHERE name = 'schema'"
	run_err 1 "made by an older ioscribe (schema 1, this is 9)" "$IOSCRIBE" query --db "$DB" jobs
	python3 "$BATS_TEST_DIRNAME/../cli/make_samples.py" $((now - 9 * 86400 - 100)) 10 1 2 | store - >/dev/null
	python3 "$BATS_TEST_DIRNAME/../cli/make_samples.py" $((now - 100)) 10 1 1 | store - >/dev/null
	[ "$(ask "SELECT (SELECT value FROM ioscribe_store WHERE name = 'schema'), (SELECT count(*) FROM event), (SELECT count(*) FROM sample)")" = "9|41|110" ]
	sums_are_right ask
	store --keep 9 - </dev/null | grep -qx '70 values of samples of more than 9 days ago deleted'
	[ "$(ask 'SELECT count(*) FROM sample')" = 40 ]
}

@test "postgres: a log's counters of the page cache and of NFS clients" {
	counters_of_log "$DB" store
}

@test "postgres: of an id that was used again questions take the later job, whichever was stored first" {
	used_twice store
	[ "$("$IOSCRIBE" query --db "$DB" --csv ranks job=7)" = $'rank\n0\n1' ]
	"$IOSCRIBE" query --db "$DB" --csv jobs | cut -d , -f 1-3 | diff - <(printf 'job,use,uid\n7,1,0\n7,3,5\n7,2,0\n')
}

@test "postgres: sums beyond 64 bits stay at the largest number, and others' are as before" {
	make_events 3000 3 4 | store - >/dev/null
	huge_sums "$DB" psql -Xqt "$DB" -c
}

@test "postgres: what no operation can have is refused; a wrong clock hides nothing" {
	absurd_messages store "$DB"
}

@test "postgres: what the database refuses is named and counted, and all else is stored" {
	store /dev/null
	ask "CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN IF NEW.len = 13 THEN RAISE EXCEPTION 'no thirteen' USING ERRCODE = '23514'; END IF; RETURN NEW; END \$\$; CREATE TRIGGER no BEFORE INSERT ON event FOR EACH ROW EXECUTE FUNCTION no(); ALTER TABLE operation ADD CHECK (op <> 'never')"
	refused_lines store ask
}

@test "postgres: texts longer than an index takes, and bytes that are no UTF-8" {
	hostile_texts store ask
}

@test "postgres: another user's job of the same id hides nothing, and names no file of mine" {
	same_id store "$DB"
}

@test "postgres: 100,000 hostile messages among honest ones change no answer about these" {
	hostile_flood store "$DB"
}

@test "postgres: deviations of sums are those of the operations, beyond 134 s, too" {
	make_events 3000 2 4 | sed -E 's/"dur":0\.000([0-9])/"dur":1\100.0/' | store - >/dev/null
	durations_of_events "$DB"
	sums_are_right ask
}

@test "postgres: spread is cut exactly, at squares and beyond 64 bits" {
	store /dev/null
	[ "$(ask 'SELECT spread(x) FROM unnest(ARRAY[1, 1, 1]::bigint[]) x')" = 0 ]
	[ "$(ask 'SELECT spread(x) FROM unnest(ARRAY[1, 7]::bigint[]) x')" = 3 ]
	[ "$(ask 'SELECT spread(x) IS NULL FROM unnest(ARRAY[NULL]::bigint[]) x')" = t ]
	[ "$(ask 'SELECT spread(x) FROM unnest(ARRAY[0, 4000000000000000001, NULL]::bigint[]) x')" = 2000000000000000000 ]
	[ "$(ask 'SELECT spread(x) FROM unnest(ARRAY[0, 3999999999999999999]::bigint[]) x')" = 1999999999999999999 ]
}

@test "postgres: killed at any time and started again, two at once: nothing lost, nothing twice" {
	local pid turn a
	make_events 40000 4 16 >"$BATS_TEST_TMPDIR/e.json"
	for turn in 1 2 3 4; do
		store "$BATS_TEST_TMPDIR/e.json" >/dev/null &
		pid=$!
		sleep "0.$((turn * 7 % 10))"
		kill -KILL $pid 2>/dev/null || true
		wait $pid 2>/dev/null || true
	done
	tac "$BATS_TEST_TMPDIR/e.json" | store - >"$BATS_TEST_TMPDIR/a" &
	a=$!
	store "$BATS_TEST_TMPDIR/e.json" >/dev/null
	wait $a
	[ "$(ask 'SELECT count(*), count(DISTINCT (job, rank, time_us, key)), sum(bytes) FROM event, input')" = \
		"40000|40000|$(($(stat -c %s "$BATS_TEST_TMPDIR/e.json") * 40000))" ]
	[ "$(ask 'SELECT count(*) FROM job')" -eq 4 ]
	sums_are_right ask
}

@test "postgres: a partition a day; --keep drops those that are over" {
	local now
	now=$(date +%s)
	for days in 0 3 10 20; do
		sed -E "s/\"timestamp\":[0-9]+/\"timestamp\":$((now - days * 86400 - 7200))/; s/\"job_id\":[0-9]*/\"job_id\":$((days + 1))/" "$STREAM" >"$BATS_TEST_TMPDIR/$days.json"
	done
	sed -E 's/"timestamp":[0-9]+/"timestamp":7/; s/"job_id":[0-9]*/"job_id":70/' "$STREAM" >"$BATS_TEST_TMPDIR/early.json"
	sed -E 's/"timestamp":[0-9]+/"timestamp":5000000000/; s/"job_id":[0-9]*/"job_id":80/' "$STREAM" >"$BATS_TEST_TMPDIR/late.json"
	[[ "$(store "$BATS_TEST_TMPDIR"/{0,3,10,20,early,late}.json)" == *": 246 operations added, 0 already there" ]]
	[ "$(ask "SELECT relname FROM pg_class WHERE relname ~ '^event_([0-9]{8}|before|after)$' ORDER BY 1" | tr '\n' ' ')" = \
		"$(for days in 20 10 3 0; do date -u -d "@$((now - days * 86400 - 7200))" +event_%Y%m%d; done | tr '\n' ' ')event_after event_before " ]
	# a limit before the first day that has a partition of its own drops none
	store --keep 30000 /dev/null
	[ "$(ask 'SELECT count(*) FROM event')" -eq 246 ]
	store --keep 10 /dev/null | grep -q "^123 operations of more than 10 days ago deleted$"
	[ "$(ask 'SELECT string_agg(job_id::text, $$ $$ ORDER BY job_id) FROM job')" = "1 4 80" ]
	[ "$(ask 'SELECT count(*) FROM event')" -eq 123 ]
	[ "$(ask "SELECT count(*) FROM pg_class WHERE relname ~ '^event_[0-9]{8}$'")" -le 3 ]
	sums_are_right ask
}

@test "postgres: the server goes away and comes back: a pipe waits with one line, nothing is lost" {
	local pid sender
	make_events 3000 2 4 >"$BATS_TEST_TMPDIR/e.json"
	mkfifo "$BATS_TEST_TMPDIR/pipe"
	store "$BATS_TEST_TMPDIR/pipe" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- 5>&- &
	pid=$!
	exec 5<>"$BATS_TEST_TMPDIR/pipe"
	head -n 1000 "$BATS_TEST_TMPDIR/e.json" >&5
	until_prints 1000 ask 'SELECT count(*) FROM event'
	pg_down
	tail -n 2000 "$BATS_TEST_TMPDIR/e.json" >&5 & # more than a pipe holds
	sender=$!
	until_prints 1 grep -c "waiting for the server$" "$BATS_TEST_TMPDIR/err"
	pg_up
	wait $sender
	exec 5>&-
	wait $pid
	cat "$BATS_TEST_TMPDIR/err"
	[ "$(tail -n 1 "$BATS_TEST_TMPDIR/err")" = "ioscribe store: the server answers again: going on" ]
	[ "$(wc -l <"$BATS_TEST_TMPDIR/err")" -eq 2 ]
	[ "$(cat "$BATS_TEST_TMPDIR/out")" = "$DB: 3000 operations added, 0 already there" ]
	[ "$(ask 'SELECT count(*) FROM event')" -eq 3000 ]
}
