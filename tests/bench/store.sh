#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ioscribe store and query: messages a second into SQLite (new, and all there already), bytes a row,
# and the time of a question for one rank, whole command, 95th percentile.
#   tests/bench/store.sh BUILD-FOLDER [MESSAGES [ROUNDS]]      default: 1000000 3
set -eu

build=${1:?usage: store.sh BUILD-FOLDER [MESSAGES [ROUNDS]]}
messages=${2:-1000000}
rounds=${3:-3}
ours=$build/util/ioscribe
dir=$(mktemp -d "${TMPDIR:-/tmp}/ioscribe-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT
"$build/tests/cli/make_events" "$messages" 4 64 >"$dir/e.json"

once() { # "elapsed processor KiB" of a command
	/usr/bin/time -f '%e %U %S %M' -o "$dir/time" "$@" >/dev/null
	awk '{ printf "%.2f %.2f %d\n", $1, $2 + $3, $4 }' "$dir/time"
}
middle() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
say() { # WHAT: medians of the rounds in $dir/$1
	awk -v n="$messages" -v e="$(cut -d ' ' -f 1 "$dir/$1" | middle)" -v p="$(cut -d ' ' -f 2 "$dir/$1" | middle)" \
		-v k="$(cut -d ' ' -f 3 "$dir/$1" | middle)" -v what="$1" \
		'BEGIN { printf "%-8s %12.0f %18.0f %10d\n", what, n / e, n / p, k }'
}

for _ in $(seq "$rounds"); do
	rm -f "$dir"/db.sqlite*
	once "$ours" store --db "$dir/db.sqlite" "$dir/e.json" >>"$dir/new"
	once sh -c "exec \"\$0\" store --db \"\$1\" - <\"\$2\"" "$ours" "$dir/db.sqlite" "$dir/e.json" >>"$dir/known"
done
printf '%-8s %12s %18s %10s\n' messages 'a second' 'a processor second' KiB
say new
say known
rows=$(sqlite3 "$dir/db.sqlite" 'SELECT count(*) FROM event')
[ "$rows" -eq "$messages" ]
echo "bytes a row: $(($(stat -c %s "$dir/db.sqlite") / rows))"

python3 - "$ours" "$dir/db.sqlite" <<'PY'
import random, subprocess, sys, time
random.seed(1)
took = []
for _ in range(200):
    job, rank = 5000 + random.randrange(4), random.randrange(64)
    began = time.monotonic()
    rows = subprocess.run([sys.argv[1], "query", "--db", sys.argv[2], "--csv", "rank", f"job={job}", f"rank={rank}"],
                          check=True, capture_output=True).stdout.count(b"\n") - 1
    took.append(time.monotonic() - began)
    assert rows > 0
took.sort()
print(f"a rank's first {rows} rows, 200 commands: median {took[99] * 1e3:.1f} ms, 95th percentile {took[189] * 1e3:.1f} ms")
PY
