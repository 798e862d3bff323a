# SPDX-License-Identifier: BSD-3-Clause
# ioscribe query: questions in Python, those installed against the same numbers made from the messages, and wrong ones.

load helper

setup_file() {
	make_events 30000 3 8 >"$BATS_FILE_TMPDIR/e.json"
	# a job whose operations come in bursts, with gaps from less than a millisecond to seconds
	python3 - "$BATS_FILE_TMPDIR/e.json" >"$BATS_FILE_TMPDIR/bursts.json" <<'PY'
import random, re, sys
random.seed(4)
us = 1700000000000000
for n, line in enumerate(open(sys.argv[1])):
    if n == 4000:
        break
    us += random.choice([1, 40, 300]) if random.random() < 0.99 else random.choice([900, 150000, 1500000, 9000000])
    line = re.sub(r'"job_id":\d+', '"job_id":7', line)
    line = re.sub(r'"uid":\d+', '"uid":1', line)
    line = re.sub(r'"module":"\w+"', '"module":"POSIX"', line)
    print(re.sub(r'"timestamp":[\d.]+', f'"timestamp":{us // 1000000}.{us % 1000000:06}', line), end="")
PY
	"$IOSCRIBE" store --db "$BATS_FILE_TMPDIR/io.sqlite" "$BATS_FILE_TMPDIR/e.json" "$BATS_FILE_TMPDIR/bursts.json"
}

query() {
	"$IOSCRIBE" query --db "$BATS_FILE_TMPDIR/io.sqlite" --questions "$BATS_TEST_TMPDIR" "$@"
}

# An analysis whose get_data is the standard input: analysis NAME [HEAD-LINE...]
analysis() {
	printf '# %s\n' "${@:2}" >"$BATS_TEST_TMPDIR/$1.py"
	printf 'import pandas as pd\n\nclass Analysis:\n    def get_data(self, store, **given):\n' >>"$BATS_TEST_TMPDIR/$1.py"
	sed 's/^/        /' >>"$BATS_TEST_TMPDIR/$1.py"
}

@test "analyses: percentiles and phases are what the messages say" {
	query --json percentiles job=5001 >"$BATS_TEST_TMPDIR/all"
	query --json percentiles job=5001 by_rank=1 >"$BATS_TEST_TMPDIR/ranks"
	for gap in 0 1 200 2000; do
		query --json phases job=7 gap_ms=$gap >"$BATS_TEST_TMPDIR/phases.$gap"
	done
	python3 - "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR" <<'PY'
import collections, json, math, sys
from decimal import Decimal
def events(name, job):
    for line in open(f"{sys.argv[1]}/{name}.json"):
        m = json.loads(line, parse_float=lambda t: int(Decimal(t) * 1000000))
        if m["job_id"] == job:
            yield m, m["seg"][0]
def answer(name):
    return [tuple(o.values()) for o in json.load(open(f"{sys.argv[2]}/{name}"))]
def percentiles(key):
    groups = collections.defaultdict(list)
    for m, s in events("e", 5001):
        groups[key(m)].append(s["dur"])
    return [(*k, len(d), *(sorted(d)[math.ceil(len(d) * p / 100) - 1] for p in (50, 90, 99)), max(d))
            for k, d in sorted(groups.items())]
assert answer("all") == percentiles(lambda m: (m["module"], m["op"]))
assert answer("ranks") == percentiles(lambda m: (m["module"], m["op"], m["rank"]))
seen = set()
for gap in (0, 1, 200, 2000):
    # from the back, joining lists: another way than the analysis
    phases = [[e] for e in sorted(events("bursts", 7), key=lambda e: e[1]["timestamp"] - e[1]["dur"])]
    joined = []
    for p in phases:
        begin = p[0][1]["timestamp"] - p[0][1]["dur"]
        if joined and begin <= max(s["timestamp"] for _, s in joined[-1]) + gap * 1000:
            joined[-1] += p
        else:
            joined.append(p)
    want = []
    for p in joined:
        moved = [sum(max(s["len"], 0) for m, s in p if m["op"] == op) for op in ("read", "write")]
        want.append((min(s["timestamp"] - s["dur"] for _, s in p), max(s["timestamp"] for _, s in p), len(p), sum(moved),
                     *moved, len({m["rank"] for m, _ in p})))
    assert answer(f"phases.{gap}") == want, gap
    seen.add(len(want))
assert len(seen) == 4 and min(seen) > 1, seen
PY
	# a job that there is not: the names of columns alone
	[ "$(query --csv percentiles job=99)" = module,op,operations,p50_us,p90_us,p99_us,most_us ]
	[ "$(query --csv phases job=99)" = time_us,last_us,operations,bytes,bytes_read,bytes_written,ranks ]
	[ "$(query --json phases job=99)" = '[]' ]
}

@test "analyses: values of every kind, in each form; what is printed does not mix with them" {
	analysis kinds 'every kind' 'parameter n integer = 9007199254740993: a number' "parameter word text = it's: a text" <<'PY'
import numpy as np, os, subprocess
print("by the analysis")
os.write(1, b"by the system\n")
subprocess.run(["echo", "by a child"])
at = pd.Timestamp("2026-01-02T03:04:05.678901234")
frame = pd.DataFrame({
    "n": [given["n"], -2**63 + 1], "big": [2**64 - 1, 2**63], "real": [0.1, float("nan")], "whole": [3.0, float("inf")],
    "text": [given["word"], "a,\"b\"\\\nü"], "none": [None, pd.NA], "flag": [True, False],
    "when": [at, pd.NaT], "zone": pd.to_datetime([1, 2], unit="us", utc=True), "span": pd.to_timedelta([1500, 2500], unit="ns"),
    "small": np.array([1, 2], dtype="uint8"), "half": np.array([0.5, 1.5], dtype="float32"),
    "kind": pd.Categorical(["x", "y"]), 7: [b"\xff", b"z"], "some": pd.array([5, None], dtype="Int64")})
frame.index = ["left", "out"]
return frame
PY
	query --json kinds >"$BATS_TEST_TMPDIR/json" 2>"$BATS_TEST_TMPDIR/err"
	[ "$(cat "$BATS_TEST_TMPDIR/err")" = $'by the analysis\nby the system\nby a child' ] || [ "$(sort "$BATS_TEST_TMPDIR/err")" = $'by a child\nby the analysis\nby the system' ]
	python3 - "$BATS_TEST_TMPDIR/json" <<'PY'
import json, sys
assert json.load(open(sys.argv[1])) == [
    {"n": 9007199254740993, "big": "18446744073709551615", "real": 0.1, "whole": 3.0, "text": "it's", "none": None, "flag": 1,
     "when": 1767323045678901, "zone": 1, "span": 1, "small": 1, "half": 0.5, "kind": "x", "7": "\\xff", "some": 5},
    {"n": -2**63 + 1, "big": "9223372036854775808", "real": None, "whole": None, "text": "a,\"b\"\\\nü", "none": None, "flag": 0,
     "when": None, "zone": 2, "span": 2, "small": 2, "half": 1.5, "kind": "y", "7": "z", "some": None}]
PY
	query --csv kinds n=3 word= 2>/dev/null >"$BATS_TEST_TMPDIR/csv"
	[ "$(head -n 2 "$BATS_TEST_TMPDIR/csv")" = $'n,big,real,whole,text,none,flag,when,zone,span,small,half,kind,7,some\n3,18446744073709551615,0.1,3,,,1,1767323045678901,1,1,1,0.5,x,\\xff,5' ]
	[ "$(query kinds 2>/dev/null | sed -n '2s/\t.*\t-\t1\t/ ... /p')" = "9007199254740993 ... 1767323045678901	1	1	1	0.5	x	\\xff	5" ]
}

@test "analyses: they ask other questions, of SQL and Python, and statements of their own; they change nothing" {
	analysis asks 'asks' 'parameter job integer: the job' <<'PY'
rank = store.ask("rank", job=given["job"], rank=3, limit=100000)
stated = store.sql("-- comment\nSELECT 'it''s :job' AS word, count(*) AS n FROM io WHERE job_id = :job AND op = :op", job=given["job"], op="read")
spread = store.ask("percentiles", job=given["job"])
empty = store.sql("SELECT op, len FROM io WHERE job_id = :job", job=-1)
off = store.sql("SELECT off FROM io WHERE job_id = :job", job=given["job"])["off"]
return pd.DataFrame({"rank": [len(rank)], "dur_us": [rank["dur_us"].sum()], "kind": [str(rank["time_us"].dtype)], "word": stated["word"],
                     "reads": stated["n"], "most_us": [spread["most_us"].max()], "empty": [",".join(empty.columns)],
                     "off": [str(off.dtype)], "missing": [off.isna().sum()]})
PY
	query --csv rank job=5001 rank=3 limit=100000 >"$BATS_TEST_TMPDIR/rank"
	query --csv percentiles job=5001 >"$BATS_TEST_TMPDIR/spread"
	[ "$(query --csv asks job=5001 | tail -n 1)" = "$(awk -F, 'NR > 1 { n++; s += $4 } END { printf "%d,%d", n, s }' "$BATS_TEST_TMPDIR/rank"),int64,it's :job,$(grep -c '"job_id":5001,.*"op":"read"' "$BATS_FILE_TMPDIR/e.json"),$(awk -F, 'NR > 1 && $7 > m { m = $7 } END { print m }' "$BATS_TEST_TMPDIR/spread"),\"op,len\",Int64,$(grep -cE '"job_id":5001,.*"op":"(open|close)"' "$BATS_FILE_TMPDIR/e.json")" ]
	analysis gone 'would delete' <<<'return store.sql("DELETE FROM event")'
	run_err 1 "a question is one SELECT, WITH or VALUES that reads" query gone
	[ "$(sqlite3 "$BATS_FILE_TMPDIR/io.sqlite" 'SELECT count(*) FROM event')" -eq 34000 ]
	analysis itself 'asks itself' <<<'return store.ask("itself")'
	run_err 1 "analyses that ask analyses, more than 8 deep" query itself
	# names that are no UTF-8 keep their column
	printf '{"uid":1,"exe":"/a","job_id":9,"rank":0,"ProducerName":"n","file":"/\\ud800x","record_id":5,"module":"POSIX","type":"MET","max_byte":-1,"switches":-1,"flushes":-1,"cnt":1,"op":"open","seg":[{"off":-1,"len":-1,"start":0.1,"dur":0.1,"total":0.1,"timestamp":1700000000.5}]}\n' |
		"$IOSCRIBE" store --db "$BATS_TEST_TMPDIR/one.sqlite" -
	sqlite3 "$BATS_TEST_TMPDIR/one.sqlite" "UPDATE file SET path = CAST(x'2fff78' AS TEXT)"
	analysis paths 'paths' <<<'return store.ask("rank", job=9, rank=0)[["path"]]'
	[ "$("$IOSCRIBE" query --questions "$BATS_TEST_TMPDIR" --db "$BATS_TEST_TMPDIR/one.sqlite" paths)" = $'path\n/\\xffx' ]
}

@test "analyses: what is wrong is said in one line" {
	run_err 1 "percentiles needs job=VALUE: the job's id" query percentiles
	run_err 1 "job: '1x' is no integer of 64 bits" query percentiles job=1x
	run_err 1 "percentiles has no parameter 'rank'" query percentiles job=1 rank=1
	analysis raises 'raises' <<<$'x = {}\nreturn x["no such\\nkey"]'
	run_err 1 "raises: $BATS_TEST_TMPDIR/raises.py:7: KeyError: 'no such\\nkey'" query raises
	analysis leaves 'leaves' <<<'import os; os._exit(0)'
	run_err 1 "leaves: ended with status 0 and no answer" query leaves
	analysis dies 'dies' <<<'import os, signal; os.kill(os.getpid(), signal.SIGSEGV)'
	run_err 1 "dies: ended with signal 11 and no answer" query dies
	analysis none 'none' <<<'return None'
	run_err 1 "none.py: get_data returned NoneType, not a pandas DataFrame" query none
	analysis columns 'none' <<<'return pd.DataFrame()'
	run_err 1 "columns: an answer without columns" query columns
	analysis quoted 'a name' <<<$'return pd.DataFrame({\'a"b\': [1]})'
	run_err 1 "quoted: a column's name is empty, longer than 63 bytes, or has a quote" query quoted
	analysis many 'many' <<<'return pd.DataFrame([range(65)])'
	run_err 1 "many: more than 64 columns" query many
	analysis extra 'takes no such' 'parameter job integer = 1: the job' <<<'return None'
	sed -i 's/\*\*given/other/' "$BATS_TEST_TMPDIR/extra.py"
	run_err 1 "got an unexpected keyword argument 'job'" query extra
	analysis asks 'asks' <<<'return store.ask("none_such")'
	run_err 1 "asks.py:6: StoreError: no question is named 'none_such'; --list names those there are" query asks
	analysis float 'a float' <<<'return store.sql("SELECT :x AS x", x=1.5)'
	run_err 1 "TypeError: x: an integer or a text expected, not float" query float
	printf '# no class\nx = 1\n' >"$BATS_TEST_TMPDIR/classless.py"
	run_err 1 "classless.py: no class Analysis" query classless
	printf '# wrong\nclass Analysis(\n' >"$BATS_TEST_TMPDIR/syntax.py"
	run_err 1 "SyntaxError: '(' was never closed" query syntax
	printf '# about\n# parameter x float: no\n' >"$BATS_TEST_TMPDIR/head.py"
	run_err 1 "head.py:2: not 'parameter NAME integer|text [= DEFAULT]: what it is'" query head
	run_err 1 "head.py:2: not 'parameter" query --list
}

@test "analyses: without pandas or Python; of one name SQL comes first; lists need no Python" {
	# an interpreter that finds no pandas: without the folders of packages
	printf '#!/bin/sh\nexec /usr/bin/python3 -S "$@"\n' >"$BATS_TEST_TMPDIR/bare"
	chmod +x "$BATS_TEST_TMPDIR/bare"
	IOSCRIBE_PYTHON=$BATS_TEST_TMPDIR/bare run_err 1 "percentiles: Python cannot load pandas (No module named 'pandas'): its package is python3-pandas" query percentiles job=5001
	export IOSCRIBE_PYTHON=$BATS_TEST_TMPDIR/none
	run_err 1 "percentiles is in Python, and $IOSCRIBE_PYTHON cannot be run: No such file or directory; IOSCRIBE_PYTHON names another" query percentiles job=5001
	query --list >"$BATS_TEST_TMPDIR/list"
	grep -A1 '^percentiles: how durations' "$BATS_TEST_TMPDIR/list" | grep -q "job=NUMBER  the job's id"
	analysis jobs 'in Python' <<<'return None'
	printf -- '-- in SQL\nSELECT 1 AS one\n' >"$BATS_TEST_TMPDIR/jobs.sql"
	[ "$(query --csv jobs)" = $'one\n1' ]
	query --list | grep -q '^jobs: in SQL$'
	[ "$(query --list | grep -c '^jobs: ')" -eq 1 ]
	rm "$BATS_TEST_TMPDIR/jobs.sql"
	query --list | grep -q '^jobs: in Python$'
}

@test "analyses: the store's place is on no command line; they go when query is killed" {
	local pid python asked
	analysis place 'arguments of all' <<'PY'
import os
lines = []
for pid in (os.getpid(), os.getppid()):
    lines += open(f"/proc/{pid}/cmdline").read().split("\0")
files = [os.path.realpath(f"/proc/self/fd/{f}") for f in os.listdir("/proc/self/fd")]
return pd.DataFrame({"named": [sum("io.sqlite" in x for x in lines)], "open": [sum("io.sqlite" in x for x in files)]})
PY
	[ "$(IOSCRIBE_DB=$BATS_FILE_TMPDIR/io.sqlite "$IOSCRIBE" query --csv --questions "$BATS_TEST_TMPDIR" place)" = $'named,open\n0,0' ]
	analysis sleeps 'sleeps' <<<"open('$BATS_TEST_TMPDIR/pid', 'w').write(str(__import__('os').getpid()) + '\\n')
return store.sql('WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS n FROM n')"
	mkdir "$BATS_TEST_TMPDIR/tmp"
	TMPDIR=$BATS_TEST_TMPDIR/tmp query sleeps >/dev/null 2>&1 3>&- 4>&- &
	pid=$!
	until_prints 1 sh -c "pgrep -c -P \$(cat '$BATS_TEST_TMPDIR/pid')"
	until_prints statement.sql ls "$BATS_TEST_TMPDIR"/tmp/ioscribe-*
	read -r python <"$BATS_TEST_TMPDIR/pid"
	asked=$(pgrep -P "$python")
	kill -KILL "$(awk '$1 == "PPid:" { print $2 }' "/proc/$python/status")"
	wait $pid || true
	until_prints gone sh -c "[ -e /proc/$python ] || [ -e /proc/$asked ] || echo gone"
	[ -z "$(ls "$BATS_TEST_TMPDIR/tmp")" ]
}
