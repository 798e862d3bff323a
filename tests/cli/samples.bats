# SPDX-License-Identifier: BSD-3-Clause
# Samples of nodes in a store: rows, replays, what is refused, the question that joins them to a job, upgrades.

load helper

STREAM="$BATS_TEST_DIRNAME/../data/stream/mpi_io_test.json"

setup_file() {
	bats_require_minimum_version 1.5.0
}

ask() { # SQL
	sqlite3 "$BATS_TEST_TMPDIR/io.sqlite" "$1"
}

store() {
	"$IOSCRIBE" store --db "$BATS_TEST_TMPDIR/io.sqlite" "$@"
}

query() {
	"$IOSCRIBE" query --db "$BATS_TEST_TMPDIR/io.sqlite" "$@"
}

make_samples() {
	python3 "$BATS_TEST_DIRNAME/make_samples.py" "$@"
}

@test "samples: values as they were sent, beside messages; a replay adds nothing" {
	make_samples 1700000000 20 10 3 >"$BATS_TEST_TMPDIR/s.json"
	cat "$BATS_TEST_TMPDIR/s.json" "$STREAM" | shuf --random-source=/bin/sh >"$BATS_TEST_TMPDIR/both.json"
	[[ "$(store "$BATS_TEST_TMPDIR/both.json")" == *": 41 operations added, 0 already there, 60 samples added, 0 already there" ]]
	[[ "$(tac "$BATS_TEST_TMPDIR/both.json" | store -)" == *": 0 operations added, 41 already there, 0 samples added, 60 already there" ]]
	python3 - "$BATS_TEST_TMPDIR/s.json" "$BATS_TEST_TMPDIR/io.sqlite" <<'PY'
import json, sqlite3, sys
from decimal import Decimal
want = []
for line in open(sys.argv[1]):
    m = json.loads(line, parse_float=lambda t: int(Decimal(t) * 1000000))
    want += [(m["ProducerName"], m["timestamp"], k, v) for k, v in m["values"].items()]
assert len(want) == 200
assert sorted(sqlite3.connect(sys.argv[2]).execute("SELECT node, time_us, metric, value FROM node_load")) == sorted(want)
PY
	# a value that comes later to a time that is there is added
	echo '{"values":{"a":0,"b":9223372036854775807},"timestamp":7,"ProducerName":"n","schema":"ioscribe_node","more":[{"x":null}]}' | store -
	echo '{"schema":"ioscribe_node","ProducerName":"n","timestamp":7.0000004,"values":{"b":1,"c":2}}' | store -
	[ "$(ask "SELECT time_us, metric, value FROM node_load WHERE node = 'n' ORDER BY 2" | tr '\n' ' ')" = \
		"7000000|a|0 7000000|b|9223372036854775807 7000000|c|2 " ]
}

@test "samples: lines that are none are named, and messages that only name the schema are messages" {
	local good='{"schema":"ioscribe_node","ProducerName":"n","timestamp":7.5,"values":{"a":1}}'
	{
		echo "${good/:1\}/:-1\}}"
		echo "${good/:1\}/:1.5\}}"
		echo "${good/:1\}/:9223372036854775808\}}"
		echo "${good/:1\}/:\"1\"\}}"
		echo "${good/:1\}/:\{\}\}}"
		echo "${good/\"a\":1/}"
		echo "${good/7.5/0}"
		echo "${good/7.5/1e30}"
		echo "${good/\"timestamp\":7.5,/}"
		echo "${good/\"ProducerName\":\"n\",/}"
		echo "${good/\"n\"/\"\"}"
		echo "${good/\"n\"/\"$(head -c 256 /dev/zero | tr '\0' x)\"}"
		echo "$good$good"
		echo "${good%\}}"
		echo "${good/\"a\":1/$(seq -f '"m%g":1' -s , 257)}"
		echo "$good"
		sed -n 1p "$STREAM" | sed 's|io/mpi-io-test|ioscribe_node|'
		printf '%s' "${good%\}}"
	} >"$BATS_TEST_TMPDIR/bad.json"
	run -1 --separate-stderr store "$BATS_TEST_TMPDIR/bad.json"
	[[ "$output" == *": 1 operation added, 0 already there, 1 sample added, 0 already there, 15 bad lines" ]]
	for line in $(seq 15); do
		grep -qF "bad.json:$line: no message: " <<<"$stderr" || { echo "$stderr"; echo "line $line"; return 1; }
	done
	grep -qF 'bad.json:1: no message: values: no number from 0 to 2^63 - 1' <<<"$stderr"
	grep -qF 'bad.json:9: no message: it has no timestamp' <<<"$stderr"
	grep -qF 'bad.json:15: no message: more than 256 values' <<<"$stderr"
	grep -qF 'bad.json:18: the last line has no end: left for the next time' <<<"$stderr"
	[ "$(ask 'SELECT exe FROM job_exe')" = ioscribe_node ]
	[ "$(ask 'SELECT count(*) FROM sample')" = 1 ]
}

@test "samples: the question has each span's operations and increases, as Python adds them up" {
	local seconds
	make_samples 1699999700 120 5 2 >"$BATS_TEST_TMPDIR/s.json"
	python3 - "$STREAM" >"$BATS_TEST_TMPDIR/e.json" <<'PY'
import json, sys
m = json.loads(open(sys.argv[1]).readline())
for i in range(300): # on a node without samples, too, and with a pause
    m.update(job_id=9, ProducerName=f"node{i % 3}", op="write", cnt=i + 1)
    m["seg"][0].update(off=i * 100, len=i, timestamp=1700000000 + i * 0.37 + (60 if i > 150 else 0))
    print(json.dumps(m))
PY
	store "$BATS_TEST_TMPDIR/s.json" "$BATS_TEST_TMPDIR/e.json"
	for seconds in 5 10 60; do
		query --json samples job=9 seconds=$seconds >"$BATS_TEST_TMPDIR/$seconds.json"
	done
	cmp "$BATS_TEST_TMPDIR/10.json" <(query --json samples job=9)
	[ "$(query --csv samples job=9 seconds=0 | wc -l)" = 4 ]
	[ "$(query --csv samples job=10)" = time_us,node,operations,bytes,metric,increase ]
	python3 - "$BATS_TEST_TMPDIR" <<'PY'
import collections, json, sys
folder = sys.argv[1]
us = lambda t: round(t * 1e6)
events = [json.loads(l) for l in open(folder + "/e.json")]
samples = [json.loads(l) for l in open(folder + "/s.json")]
for seconds in (5, 10, 60):
    span_of = lambda t: us(t) // (seconds * 1000000)
    io = collections.defaultdict(lambda: [0, 0])
    for e in events:
        sums = io[span_of(e["seg"][0]["timestamp"]), e["ProducerName"]]
        sums[0] += 1
        sums[1] += e["seg"][0]["len"]
    first, last = min(io)[0], max(io)[0] + 1
    rise = collections.defaultdict(dict)
    before = {}
    for s in samples:
        span = span_of(s["timestamp"])
        for metric, value in s["values"].items():
            step = value - before.get((s["ProducerName"], metric), value)
            before[s["ProducerName"], metric] = value
            if first <= span <= last:
                more = rise[span, s["ProducerName"]]
                more[metric] = (more.get(metric) or 0) + step if step >= 0 else more.get(metric)
    want = []
    for at in sorted(set(io) | set(rise)):
        for metric, more in sorted(rise.get(at, {None: None}).items()):
            want.append((at[0] * seconds * 1000000, at[1], *io.get(at, (0, 0)), metric, more))
    have = [tuple(row.values()) for row in json.load(open(f"{folder}/{seconds}.json"))]
    assert have == want, [p for p in zip(have, want) if p[0] != p[1]][:3]
    assert any(w[2] == 0 for w in want) and any(w[4] is None for w in want), "cases that should be there"
    assert seconds != 5 or any(w[4] and w[5] is None for w in want), "a total that began anew"
PY
}

@test "samples: --keep deletes old ones" {
	local now
	now=$(date +%s)
	make_samples $((now - 9 * 86400 - 500)) 10 10 2 | store - >/dev/null
	make_samples $((now - 500)) 10 10 1 | store - >/dev/null
	[ "$(ask 'SELECT count(*) FROM sample')" = 110 ]
	store --keep 10 - </dev/null | grep -vq deleted
	[ "$(store --keep 9 - </dev/null | head -n 1)" = "70 values of samples of more than 9 days ago deleted" ]
	[ "$(ask 'SELECT count(*) FROM sample')" = 40 ]
	[ "$(ask "SELECT count(*) FROM node_load WHERE node = 'node1'")" = 0 ]
}

@test "samples: a store of an older version is upgraded, and keeps what it has" {
	local db=$BATS_TEST_TMPDIR/io.sqlite
	sqlite3 "$db" <"$BATS_TEST_DIRNAME/../data/store/schema1.sql"
	ask 'SELECT * FROM io ORDER BY 11' >"$BATS_TEST_TMPDIR/before"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/before")" = 5 ]
	run_err 1 "made by an older ioscribe (schema 1, this is 9): \`ioscribe store\` upgrades it" query jobs
	make_samples 1700000000 1 1 1 | store - | grep -q ": 0 operations added, 0 already there, 1 sample added, 0 already there$"
	ask 'SELECT * FROM io ORDER BY 11' | cmp - <(sed 's/$/|/' "$BATS_TEST_TMPDIR/before") # no dur_ns
	[ "$(ask "SELECT value FROM ioscribe_store WHERE name = 'schema'")" = 9 ]
	[ "$(ask 'SELECT count(*) FROM node_load')" = 4 ]
	[[ "$(head -5 "$STREAM" | store -)" == *": 0 operations added, 5 already there" ]]
	sums_are_right ask
	[ "$(ask 'SELECT sum(n) FROM total')" = 5 ]
	# its tables are those of a new one
	"$IOSCRIBE" store --db "$BATS_TEST_TMPDIR/new.sqlite" /dev/null
	cmp <(ask 'SELECT sql FROM sqlite_schema ORDER BY type, name') \
		<(sqlite3 "$BATS_TEST_TMPDIR/new.sqlite" 'SELECT sql FROM sqlite_schema ORDER BY type, name')
}
