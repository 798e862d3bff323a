# SPDX-License-Identifier: BSD-3-Clause
# ioscribe serve: questions in Python.

load ../cli/helper
load helper
load ../harness/wait

setup_file() {
	make_events 30000 3 8 >"$BATS_FILE_TMPDIR/e.json"
	"$IOSCRIBE" store --db "$BATS_FILE_TMPDIR/io.sqlite" "$BATS_FILE_TMPDIR/e.json"
}

@test "serve: analyses in Python are listed and answered as query answers them; one that fails is an error" {
	mkdir "$BATS_TEST_TMPDIR/mine"
	printf '# raises\nclass Analysis:\n    def get_data(self, store):\n        return 1 / 0\n' >"$BATS_TEST_TMPDIR/mine/raises.py"
	serve "$BATS_FILE_TMPDIR/io.sqlite" --questions "$BATS_TEST_TMPDIR/mine"
	"$IOSCRIBE" query --db "$BATS_FILE_TMPDIR/io.sqlite" --json percentiles job=5001 by_rank=1 >"$BATS_TEST_TMPDIR/percentiles"
	"$IOSCRIBE" query --db "$BATS_FILE_TMPDIR/io.sqlite" --json phases job=5001 >"$BATS_TEST_TMPDIR/phases"
	python3 - "$PLACE" "$TOKEN" "$BATS_TEST_TMPDIR" <<'PY'
import json, sys, urllib.error, urllib.request as u
def ask(path):
    try:
        with u.urlopen(u.Request(f"http://{sys.argv[1]}{path}", headers={"Authorization": "Bearer " + sys.argv[2]})) as r:
            return r.status, json.load(r)
    except urllib.error.HTTPError as e:
        return e.code, json.load(e)
def want(name):
    rows = json.load(open(f"{sys.argv[3]}/{name}"))
    return list(rows[0]), [list(r.values()) for r in rows]
def columns(answer):
    return [(c["text"], c["type"]) for c in answer["columns"]]

_, names = ask("/api/questions")
assert {"percentiles", "phases", "raises", "operations"} <= set(names) and names == sorted(set(names)), names
names, rows = want("percentiles")
_, got = ask("/api/ask?question=percentiles&job=5001&by_rank=1")
assert got["rows"] == rows, got
assert columns(got) == [(n, "string" if n in ("module", "op") else "number") for n in names], got["columns"]
_, got = ask("/api/ask?question=percentiles&job=5001&by_rank=1&rank=3")  # chooses rows
assert got["rows"] == [r for r in rows if r[2] == 3]
names, phases = want("phases")
_, got = ask("/api/ask?question=phases&job=5001")
assert got["rows"] == phases, got
assert columns(got)[:3] == [("time_us", "number"), ("last_us", "number"), ("operations", "number")]

code, got = ask("/api/ask?question=raises")
assert code == 500 and got["error"].endswith("raises.py:4: ZeroDivisionError: division by zero"), got
code, got = ask("/api/ask?question=percentiles")
assert code == 400 and "percentiles needs job=VALUE" in got["error"], got
code, got = ask("/api/ask?question=percentiles&job=x")
assert code == 400 and "no integer" in got["error"], got
code, got = ask("/api/ask?question=jobs")
assert code == 200 and len(got["rows"]) == 3
PY
	[ "$(sqlite3 "$BATS_FILE_TMPDIR/io.sqlite" 'SELECT count(*) FROM event')" -eq 30000 ]
}

@test "serve: a signal ends it while an analysis runs, with all that this has started" {
	local python child own
	mkdir "$BATS_TEST_TMPDIR/mine" "$BATS_TEST_TMPDIR/tmp"
	cat >"$BATS_TEST_TMPDIR/mine/sleeps.py" <<PY
# does not end, and its child sleeps
import os, subprocess
class Analysis:
    def get_data(self, store):
        child = subprocess.Popen(["sleep", "1000"])
        own = subprocess.Popen(["sleep", "1000"], start_new_session=True)
        open("$BATS_TEST_TMPDIR/pids", "w").write(f"{os.getpid()} {child.pid} {own.pid}\n")
        return store.sql("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS n FROM n")
PY
	TMPDIR=$BATS_TEST_TMPDIR/tmp serve "$BATS_FILE_TMPDIR/io.sqlite" --questions "$BATS_TEST_TMPDIR/mine"
	fetch "/api/ask?question=sleeps" >/dev/null 2>&1 3>&- 4>&- &
	until_prints 1 sh -c "wc -l <'$BATS_TEST_TMPDIR/pids'"
	until_prints statement.sql ls "$BATS_TEST_TMPDIR"/tmp/ioscribe-*
	read -r python child own <"$BATS_TEST_TMPDIR/pids"
	kill -TERM "$SERVE_PID"
	wait "$SERVE_PID"
	[ ! -e "/proc/$python" ]
	until_true is_gone "$child"
	until_true is_gone "$own"
	[ -z "$(ls "$BATS_TEST_TMPDIR/tmp")" ]
	[ ! -s "$BATS_TEST_TMPDIR/err" ]
}
