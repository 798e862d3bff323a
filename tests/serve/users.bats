# SPDX-License-Identifier: BSD-3-Clause
# ioscribe serve: tokens of users, and of a proxy that names them.

load ../cli/helper
load helper

setup_file() {
	make_events 3000 3 8 >"$BATS_FILE_TMPDIR/e.json"
	"$IOSCRIBE" store --db "$BATS_FILE_TMPDIR/io.sqlite" "$BATS_FILE_TMPDIR/e.json"
}

setup() {
	local turn
	for turn in all alice proxy; do
		printf '%s' "$(head -c 12 /dev/urandom | od -An -tx1 | tr -d ' \n')"
		case $turn in alice) echo " 1001" ;; proxy) echo " header=X-Remote-User" ;; *) echo ;; esac
	done >"$BATS_TEST_TMPDIR/tokens"
}

users() {
	python3 "$BATS_TEST_DIRNAME/users.py" "$PLACE" "$BATS_TEST_TMPDIR/tokens" "$@"
}

@test "serve: a user sees his own jobs alone, by a token or by a proxy's header; who names none is refused" {
	user_questions "$BATS_TEST_TMPDIR/mine"
	serve "$BATS_FILE_TMPDIR/io.sqlite" --token-file "$BATS_TEST_TMPDIR/tokens" --questions "$BATS_TEST_TMPDIR/mine"
	[ "$(users rows)" = "21 refused" ]
}

@test "serve: questions of one user that do not end keep nobody else waiting" {
	mkdir "$BATS_TEST_TMPDIR/mine"
	echo 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS n FROM n' >"$BATS_TEST_TMPDIR/mine/endless.sql"
	serve "$BATS_FILE_TMPDIR/io.sqlite" --token-file "$BATS_TEST_TMPDIR/tokens" --questions "$BATS_TEST_TMPDIR/mine"
	[ "$(users busy)" = answered ]
}

@test "serve: a job's report is shown to the owner of the log" {
	mkdir "$BATS_TEST_TMPDIR/logs"
	cp "$LOGS/mpi-io-test-x86_64-3.5.0.darshan" "$BATS_TEST_TMPDIR/logs/me_x_id5000-1_1-1-1-1_1.darshan"
	serve "$BATS_FILE_TMPDIR/io.sqlite" --token-file "$BATS_TEST_TMPDIR/tokens" --logs "$BATS_TEST_TMPDIR/logs"
	[ "$(users report)" = owned ]
}

@test "serve: a token file that is wrong is named with its line" {
	local file=$BATS_TEST_TMPDIR/wrong line
	wrong() { # TEXT LINE...
		printf '%s\n' "${@:2}" >"$file"
		run_err 1 "$1" "$IOSCRIBE" serve --db "$BATS_FILE_TMPDIR/io.sqlite" --token-file "$file"
	}
	wrong "wrong:1: no token: 16 to 255" ""
	wrong "wrong:1: no token" "short"
	wrong "wrong:1: no token" " 1001"
	wrong "wrong:2: no token" 0123456789abcdef "0123456789abcde/ 1001"
	wrong "wrong:3: this token is already another line's" 0123456789abcdef "" "0123456789abcdef 1001"
	wrong "wrong:2: no user after the token" 0123456789abcdef "123456789abcdef0 "
	wrong "wrong:2: longer than 1022 bytes" 0123456789abcdef "#$(printf '%01022d' 0)0123456789abcdef"
	wrong "wrong:1: 'nobody-here' is no user" "0123456789abcdef nobody-here"
	wrong "wrong:1: '-1' is no user" "0123456789abcdef -1"
	wrong "wrong:1: no name of a header" "0123456789abcdef header="
	wrong "wrong:1: no name of a header" "0123456789abcdef header=X User"
	: >"$file"
	run_err 1 "wrong: has no token" "$IOSCRIBE" serve --db "$BATS_FILE_TMPDIR/io.sqlite" --token-file "$file"
}

@test "store: --erase takes one user's rows away, and nothing of another's" {
	local db=$BATS_TEST_TMPDIR/io.sqlite
	run_err 2 "INPUT expected, or --erase" "$IOSCRIBE" store --db "$db"
	run_err 2 "--erase: 'no-such-user' is no user" "$IOSCRIBE" store --db "$db" --erase no-such-user
	cp "$BATS_FILE_TMPDIR/io.sqlite" "$db"
	erase_user "$db" sqlite3 "$db"
}
