# SPDX-License-Identifier: BSD-3-Clause
# ioscribe serve: what a client, a request, a question can cost; that it ends when it is to.

load ../cli/helper
load helper
load ../harness/wait

setup_file() {
	make_events 3000 3 8 >"$BATS_FILE_TMPDIR/e.json"
	"$IOSCRIBE" store --db "$BATS_FILE_TMPDIR/io.sqlite" "$BATS_FILE_TMPDIR/e.json"
}

# question NAME SQL
question() {
	mkdir -p "$BATS_TEST_TMPDIR/mine"
	printf '%s\n' "$2" >"$BATS_TEST_TMPDIR/mine/$1.sql"
}

endless='WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS n FROM n'

bounds() {
	python3 "$BATS_TEST_DIRNAME/bounds.py" "$PLACE" "$TOKEN" "$@"
}

@test "serve: slow connections without the token keep nobody waiting; a body is refused before it comes" {
	serve "$BATS_FILE_TMPDIR/io.sqlite"
	[ "$(bounds slow)" = "10 answered" ]
	[ "$(bounds endless-body)" = cut ]
	[ "$(bounds ask /api/questions)" = 200 ]
}

@test "serve: the head of a request has a time, whatever bytes come" {
	serve "$BATS_FILE_TMPDIR/io.sqlite"
	[ "$(bounds drops)" = closed ]
	[ "$(bounds ask /api/questions)" = 200 ]
}

@test "serve: an answer has a limit of rows, and one of bytes" {
	question most 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 200000) SELECT i FROM n'
	question more 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 200001) SELECT i FROM n'
	question wide "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000) SELECT i, printf('%.16000c', 'x') AS x FROM n"
	question huge "SELECT length(hex(zeroblob(100000000))) AS n"
	serve "$BATS_FILE_TMPDIR/io.sqlite" --questions "$BATS_TEST_TMPDIR/mine"
	[ "$(bounds ask '/api/ask?question=most')" = 200 ]
	[ "$(bounds ask '/api/ask?question=more')" = "400 a request of more than 200000 rows" ]
	[ "$(bounds ask '/api/ask?question=wide')" = "400 a request with an answer of more than 64 MiB" ]
	[[ $(bounds ask '/api/ask?question=huge') == "400 "*"string or blob too big" ]]
	[ "$(bounds ask '/api/ask?question=most')" = 200 ]
}

@test "serve: a question changes nothing, nor what later ones may do; one in a pipe is not waited for" {
	question off 'PRAGMA query_only = OFF'
	question gone 'DELETE FROM event'
	mkdir "$BATS_TEST_TMPDIR/pipes"
	mkfifo "$BATS_TEST_TMPDIR/pipes/piped.sql"
	serve "$BATS_FILE_TMPDIR/io.sqlite" --questions "$BATS_TEST_TMPDIR/mine" --questions "$BATS_TEST_TMPDIR/pipes"
	[[ $(bounds ask '/api/ask?question=off') == "400 "*"a question is one SELECT, WITH or VALUES that reads, nothing else" ]]
	[[ $(bounds ask '/api/ask?question=gone') == "400 "*"a question is one SELECT, WITH or VALUES that reads, nothing else" ]]
	[[ $(bounds ask '/api/ask?question=piped') == "400 "*"piped.sql: not a regular file" ]]
	[ "$(sqlite3 "$BATS_FILE_TMPDIR/io.sqlite" 'SELECT count(*) FROM event')" -eq 3000 ]
}

# has_used PID TICKS: of processor time
has_used() {
	[ "$(awk '{ print $14 + $15 }' "/proc/$1/stat")" -ge "$2" ]
}

@test "serve: a signal ends it while a question of SQL runs" {
	question endless "$endless"
	serve "$BATS_FILE_TMPDIR/io.sqlite" --questions "$BATS_TEST_TMPDIR/mine"
	bounds ask '/api/ask?question=endless' >/dev/null 2>&1 3>&- 4>&- &
	until_true has_used "$SERVE_PID" 50
	kill -TERM "$SERVE_PID"
	until_true is_gone "$SERVE_PID" || { kill -KILL "$SERVE_PID"; return 1; }
	wait "$SERVE_PID"
	[ ! -s "$BATS_TEST_TMPDIR/err" ]
}

@test "serve: a question of SQL has a limit of time" {
	question endless "$endless"
	serve "$BATS_FILE_TMPDIR/io.sqlite" --questions "$BATS_TEST_TMPDIR/mine"
	[ "$(bounds ask '/api/ask?question=endless')" = "500 endless: no answer within 60 s" ]
	[ "$(bounds ask '/api/ask?question=jobs')" = 200 ]
}
