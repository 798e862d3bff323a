#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The same messages into SQLite and into a PostgreSQL of its own, killed once on the way: messages a second, and
# whether every answer is the same bytes. Exit 1 where one is not.
#   tests/bench/store_pg.sh BUILD-FOLDER [MESSAGES]      default: 1000000
set -eu

build=$(cd "${1:?usage: store_pg.sh BUILD-FOLDER [MESSAGES]}" && pwd)
messages=${2:-1000000}
ours=$build/util/ioscribe
. "$(dirname "$0")/../postgres/server.bash"
dir=$(mktemp -d "${TMPDIR:-/tmp}/ioscribe-bench.XXXXXX")
trap 'pg_stop; rm -rf "$dir"' EXIT
pg_start
"$build/tests/cli/make_events" "$messages" 4 64 >"$dir/e.json"

once() { # WHAT DB
	local began
	began=$(date +%s%N)
	"$ours" store --db "$2" "$dir/e.json" >"$dir/said"
	awk -v ns=$(($(date +%s%N) - began)) -v n="$messages" -v what="$1" 'BEGIN { printf "%s: %.0f messages a second\n", what, n / (ns / 1e9) }'
}
once SQLite "$dir/io.sqlite"
once PostgreSQL "$PG"
psql -XqA "$PG" -c 'CREATE DATABASE killed'
killed=${PG/\/postgres/\/killed}
"$ours" store --db "$killed" "$dir/e.json" >/dev/null 2>&1 &
pid=$!
until [ "$(psql -XqtA "$killed" -c 'SELECT count(*) FROM event' 2>/dev/null || echo 0)" -gt 0 ] || ! kill -0 $pid; do sleep 0.1; done
kill -KILL $pid 2>/dev/null || true
wait $pid 2>/dev/null || true
had=$(psql -XqtA "$killed" -c 'SELECT count(*) FROM event')
"$ours" store --db "$killed" "$dir/e.json" >/dev/null
echo "killed with $had of $messages, and started again"
asked=0
for q in operations jobs modules "over_time job=5001" "heat job=5002" "ranks job=5000" "durations job=5001" "nodes job=5003" \
	"slowest job=5000 limit=5000" "runs exe=/apps/solver0" "load from_us=0 to_us=9000000000000000000" "rank job=5001 rank=3 limit=100000"; do
	# shellcheck disable=SC2086 # a question and its parameters
	"$ours" query --db "$dir/io.sqlite" --csv $q >"$dir/want"
	for db in "$PG" "$killed"; do
		# shellcheck disable=SC2086
		"$ours" query --db "$db" --csv $q | cmp - "$dir/want"
		asked=$((asked + 1))
	done
done
echo "$asked answers, all the same bytes"
