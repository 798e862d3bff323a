#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ioscribe store and query: messages a second into SQLite (new, and all there already), bytes a row,
# and the time of a question for one rank, 95th percentile: as a command, and by HTTP.
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

python3 - "$ours" "$dir/db.sqlite" "$messages" <<'PY'
import http.client, json, random, subprocess, sys, time
ours, db, messages = sys.argv[1], sys.argv[2], int(sys.argv[3])
random.seed(1)
calls = [{"job": 5000 + random.randrange(4), "rank": random.randrange(64),
          "from_us": 1700000000000000 + random.randrange(messages * 2)} for _ in range(200)]


def command(call):
    words = [f"{name}={value}" for name, value in call.items()]
    return subprocess.run([ours, "query", "--db", db, "--csv", "rank", *words], check=True,
                          capture_output=True).stdout.count(b"\n") - 1


def by_http(call):
    at.request("GET", "/api/ask?question=rank&" + "&".join(f"{name}={value}" for name, value in call.items()),
               headers={"Authorization": "Bearer " + token})
    return len(json.loads(at.getresponse().read())["rows"])


def say(what, ask):
    took, rows = [], 0
    for call in calls:
        began = time.monotonic()
        rows = max(rows, ask(call))
        took.append(time.monotonic() - began)
    took.sort()
    print(f"up to {rows} rows of a rank, 200 {what}: median {took[99] * 1e3:.1f} ms, 95th percentile {took[189] * 1e3:.1f} ms")


say("commands", command)
server = subprocess.Popen([ours, "serve", "--db", db, "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
place, token = server.stdout.readline().split("http://")[1].strip().split("/page#token=")
at = http.client.HTTPConnection(place)
say("requests", by_http)
server.terminate()
PY
