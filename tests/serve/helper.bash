# SPDX-License-Identifier: BSD-3-Clause
# A server that a test starts, and asking it.

teardown() {
	[ -z "${SERVE_PID:-}" ] || kill "$SERVE_PID" 2>/dev/null || true
}

# Sets SERVE_PID, PLACE and TOKEN.
serve() { # DB [OPTION...]
	local db=$1 turn
	shift
	"$IOSCRIBE" serve --db "$db" --listen 127.0.0.1:0 "$@" >"$BATS_TEST_TMPDIR/address" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
	SERVE_PID=$!
	for turn in $(seq 300); do
		[ ! -s "$BATS_TEST_TMPDIR/address" ] || break
		sleep 0.1
	done
	PLACE=$(sed -nE 's,^http://([^/]*)/page#token=.*,\1,p' "$BATS_TEST_TMPDIR/address")
	TOKEN=$(sed -nE 's,.*#token=,,p' "$BATS_TEST_TMPDIR/address")
	[ -n "$PLACE" ] || { cat "$BATS_TEST_TMPDIR/err"; return 1; }
}

fetch() { # PATH
	python3 -c 'import sys, urllib.request as u
print(u.urlopen(u.Request(f"http://{sys.argv[1]}{sys.argv[3]}", headers={"Authorization": "Bearer " + sys.argv[2]})).read().decode(), end="")' \
		"$PLACE" "$TOKEN" "$1"
}

# Questions about a job by tables and views, for users.py.
user_questions() { # DIR
	local name from
	mkdir "$1"
	while read -r name from; do
		printf -- '-- parameter job integer: id\nSELECT count(*) AS n FROM %s\n' "$from" >"$1/$name.sql"
	done <<-'SQL'
		by_io io WHERE job_id = :job
		by_events event e WHERE e.job IN (SELECT id FROM job WHERE job_id = :job)
		by_files file WHERE path LIKE '/scratch/job' || (:job - 5000) || '/%'
		by_programs jobs WHERE job_id = :job AND exe IS NOT NULL
	SQL
	echo 'SELECT count(*) AS n FROM input' >"$1/inputs.sql"
	echo 'SELECT count(DISTINCT job) AS n FROM total' >"$1/sums.sql"
}

# The store is that of make_events 3000 3 8.
erase_user() { # DB ASK...
	local db=$1 sums='SELECT (SELECT count(*) FROM event), (SELECT count(*) FROM job), (SELECT count(*) FROM file), (SELECT count(*) FROM job_exe)'
	shift
	"$IOSCRIBE" query --db "$db" --csv operations | grep -v ^5001, >"$BATS_TEST_TMPDIR/before"
	[ "$("$IOSCRIBE" store --db "$db" --erase 1001)" = "1000 operations of 1 job of user 1001 erased" ]
	"$IOSCRIBE" query --db "$db" --csv operations | cmp - "$BATS_TEST_TMPDIR/before"
	[ "$("$@" "$sums")" = "$(printf '2000|2|%s|2' "$("$@" 'SELECT count(DISTINCT file) FROM event')")" ]
	sums_are_right "$@"
	[ "$("$IOSCRIBE" store --db "$db" --erase 1001)" = "0 operations of 0 jobs of user 1001 erased" ]
}
