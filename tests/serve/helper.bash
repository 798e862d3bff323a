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
