# SPDX-License-Identifier: BSD-3-Clause
# The page of a store in a browser.

load ../cli/helper
load ../serve/helper

# Prints the body; writes the status and the policy to $BATS_TEST_TMPDIR/status.
get() { # ADDRESS [TOKEN]
	python3 - "$BATS_TEST_TMPDIR/status" "$@" <<'PY'
import os, sys, urllib.error, urllib.request as u
headers = {"Authorization": "Bearer " + sys.argv[3]} if sys.argv[3:] else {}
try:
    r = u.urlopen(u.Request(sys.argv[2], headers=headers, method=os.environ.get("METHOD", "GET")))
except urllib.error.HTTPError as e:
    r = e
print(r.read().decode(), end="")
open(sys.argv[1], "w").write(f"{r.status} {r.headers['Content-Security-Policy']}")
PY
}

@test "a store's page: jobs of 0.1 s, an hour and 4,096 ranks, an id used again; nothing on the console, no other server" {
	local log="$LOGS/mpi-io-test-x86_64-3.5.0.darshan"
	python3 "$BATS_TEST_DIRNAME/served.py" make | "$IOSCRIBE" store --db "$BATS_TEST_TMPDIR/io.sqlite" -
	mkdir -p "$BATS_TEST_TMPDIR/logs/2026/11/29"
	cp "$log" "$BATS_TEST_TMPDIR/logs/2026/11/29/user_app_id2-77_11-29-100-1_5.darshan"
	serve "$BATS_TEST_TMPDIR/io.sqlite" --logs "$BATS_TEST_TMPDIR/logs"
	/usr/bin/python3 "$BATS_TEST_DIRNAME/browser.py" served ${PICTURES:+--pictures "$PICTURES"} "http://$PLACE/page#token=$TOKEN" \
		'1&use=1' 2 3 4 '1&use=2' >"$BATS_TEST_TMPDIR/found"
	[ "$(python3 "$BATS_TEST_DIRNAME/served.py" compare "$BATS_TEST_TMPDIR/found")" -eq 49 ]
	# Job 2 has a log: its report needs the key of its address and no token, and stays in a sandbox.
	address=$(python3 -c 'import json, sys; f = json.load(open(sys.argv[1])); print(f["2"]["report"], f["3"]["report"])' "$BATS_TEST_TMPDIR/found")
	[[ $address =~ ^http://$PLACE/report\?job=2\&uid=-1\&key=[0-9a-f]{16}\ $ ]]
	get "${address% }" >"$BATS_TEST_TMPDIR/page"
	grep -q "^200 .*sandbox allow-scripts;" "$BATS_TEST_TMPDIR/status"
	"$IOSCRIBE" report -o "$BATS_TEST_TMPDIR/right" "$BATS_TEST_TMPDIR"/logs/2026/11/29/*
	cmp "$BATS_TEST_TMPDIR/page" "$BATS_TEST_TMPDIR/right"
	get "http://$PLACE/report?job=3&${address#*&}" >/dev/null
	grep -q '^401 ' "$BATS_TEST_TMPDIR/status"
	# The key is for reading alone.
	METHOD=POST get "${address% }" >/dev/null
	grep -q '^405 ' "$BATS_TEST_TMPDIR/status"
}

@test "a log without a page is an error of its request alone" {
	make_events 100 1 1 | "$IOSCRIBE" store --db "$BATS_TEST_TMPDIR/io.sqlite" -
	mkdir "$BATS_TEST_TMPDIR/logs"
	echo damaged >"$BATS_TEST_TMPDIR/logs/u_x_id5000-1_1-1-1-1_1.darshan"
	serve "$BATS_TEST_TMPDIR/io.sqlite" --logs "$BATS_TEST_TMPDIR/logs"
	address=$(fetch "/api/report?job=5000" | python3 -c 'import json, sys; print(json.load(sys.stdin)["address"])')
	[ "$(get "http://$PLACE$address")" = "{\"error\":\"$BATS_TEST_TMPDIR/logs/u_x_id5000-1_1-1-1-1_1.darshan: no report\"}" ]
	grep -q '^500 ' "$BATS_TEST_TMPDIR/status"
	[ "$(fetch "/api/report?job=50")" = "{}" ]
	get "http://$PLACE/api/report?job=../x" "$TOKEN"
	grep -q '^400 ' "$BATS_TEST_TMPDIR/status"
	[ "$(fetch "/api/ask?question=operations" | python3 -c 'import json, sys; print(json.load(sys.stdin)["rows"][0][0])')" = 5000 ]
}
