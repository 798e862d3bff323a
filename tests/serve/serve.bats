# SPDX-License-Identifier: BSD-3-Clause
# ioscribe serve, asked by HTTP. The page in a browser: tests/report.

load ../cli/helper
load helper

setup_file() {
	local events
	events=$(built cli/make_events)
	"$events" 30000 3 8 >"$BATS_FILE_TMPDIR/e.json"
	"$IOSCRIBE" store --db "$BATS_FILE_TMPDIR/io.sqlite" "$BATS_FILE_TMPDIR/e.json"
}

@test "serve: what is wrong is said in one line" {
	local db=$BATS_FILE_TMPDIR/io.sqlite
	run_err 2 "--db DB is missing" "$IOSCRIBE" serve
	run_err 1 "none.sqlite: No such file or directory" "$IOSCRIBE" serve --db "$BATS_TEST_TMPDIR/none.sqlite"
	for place in 8750 localhost:8750 127.0.0.1: 127.0.0.1:x 127.0.0.1:65536 '[::1:80'; do
		run_err 1 "--listen: not ADDRESS:PORT" "$IOSCRIBE" serve --db "$db" --listen "$place"
	done
	run_err 1 "cannot listen there" "$IOSCRIBE" serve --db "$db" --listen 192.0.2.1:0
	run_err 1 "token: No such file" "$IOSCRIBE" serve --db "$db" --token-file "$BATS_TEST_TMPDIR/token"
	echo short >"$BATS_TEST_TMPDIR/token"
	run_err 1 "token:1: no token: 16 to 255" "$IOSCRIBE" serve --db "$db" --token-file "$BATS_TEST_TMPDIR/token"
}

@test "serve: malformed and forbidden requests get an HTTP error each, and it goes on" {
	serve "$BATS_FILE_TMPDIR/io.sqlite"
	python3 "$BATS_TEST_DIRNAME/malformed.py" "$PLACE" "$TOKEN" | tee "$BATS_TEST_TMPDIR/out"
	[ "$(cat "$BATS_TEST_TMPDIR/out")" = "44 refused" ]
	kill -0 "$SERVE_PID"
	kill -TERM "$SERVE_PID"
	wait "$SERVE_PID"
	[ ! -s "$BATS_TEST_TMPDIR/err" ]
	[ "$(sqlite3 "$BATS_FILE_TMPDIR/io.sqlite" 'SELECT count(*) FROM event')" -eq 30000 ]
}

@test "serve: every panel and variable of the dashboard is answered, with the sums of the store" {
	local db=$BATS_TEST_TMPDIR/io.sqlite
	cp "$BATS_FILE_TMPDIR/io.sqlite" "$db"
	python3 "$BATS_TEST_DIRNAME/../cli/make_samples.py" 1699999990 20 10 5 | "$IOSCRIBE" store --db "$db" - >/dev/null
	serve "$db"
	[ "$(python3 "$BATS_TEST_DIRNAME/dashboard.py" "$BATS_TEST_DIRNAME/../../packaging/grafana/ioscribe-store-serve.json" \
		"$IOSCRIBE" "$db" serve "$PLACE" "$TOKEN")" = "as expected" ]
}

@test "serve: the page is whole, names no other server, and what it asks for grows while a store writes" {
	local file n
	echo 0123456789abcdef >"$BATS_TEST_TMPDIR/token"
	head -n 100 "$BATS_FILE_TMPDIR/e.json" | "$IOSCRIBE" store --db "$BATS_TEST_TMPDIR/live.sqlite" -
	serve "$BATS_TEST_TMPDIR/live.sqlite" --token-file "$BATS_TEST_TMPDIR/token"
	[ "$TOKEN" = TOKEN ]
	fetch /page >"$BATS_TEST_TMPDIR/page" # for whoever has no token, too
	TOKEN=0123456789abcdef
	for file in $(grep -oE '(src|href)="/[^"]*"' "$BATS_TEST_TMPDIR/page" | sed -E 's/.*"(.*)"/\1/'); do
		fetch "$file" >"$BATS_TEST_TMPDIR/file"
		[ -s "$BATS_TEST_TMPDIR/file" ]
		cat "$BATS_TEST_TMPDIR/file" >>"$BATS_TEST_TMPDIR/page"
		n=$((n + 1))
	done
	[ "$n" -eq 4 ]
	none -E '(https?:)?//[a-z0-9.]+\.[a-z]' "$BATS_TEST_TMPDIR/page"
	sum() { fetch "/api/ask?question=operations" | python3 -c 'import json, sys; print(sum(r[4] for r in json.load(sys.stdin)["rows"]))'; }
	[ "$(sum)" -eq 100 ]
	"$IOSCRIBE" store --db "$BATS_TEST_TMPDIR/live.sqlite" "$BATS_FILE_TMPDIR/e.json"
	[ "$(sum)" -eq 30000 ]
}
