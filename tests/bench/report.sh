#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A page of 1,000,000 single operations, and one of 1,000,000 records: seconds, memory, bytes, and the longest frame in a
# browser while its plots are panned and zoomed. Medians of 5 runs.
#   tests/bench/report.sh BUILD-FOLDER
set -eu

build=${1:?usage: report.sh BUILD-FOLDER}
dir=$(mktemp -d "${TMPDIR:-/tmp}/ioscribe-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT

measure() { # NAME COMMAND...: "seconds MiB"
	local name=$1 i
	shift
	for i in 1 2 3 4 5; do
		/usr/bin/time -f '%e %M' -o "$dir/time" "$@" >/dev/null
		cat "$dir/time"
	done | sort -n | awk -v n="$name" 'NR == 3 { printf "%-28s %6.2f s  %4d MiB", n, $1, $2 / 1024 }'
	[ ! -f "$dir/page.html" ] || printf '  %d bytes' "$(stat -c %s "$dir/page.html")"
	echo
}

python3 "$(dirname "$0")/../report/dxt_log.py" 256 4000 >"$dir/dxt.darshan"
"$build/tests/bench/make_log" "$dir/records.darshan" 1000000 64 /scratch
measure "report, 1,024,000 operations" "$build/util/ioscribe-report" -o "$dir/page.html" "$dir/dxt.darshan"
echo "longest frame                $(/usr/bin/python3 "$(dirname "$0")/../report/browser.py" frames "$dir/page.html") ms"
measure "report, 1,000,000 records" "$build/util/ioscribe-report" -o "$dir/page.html" "$dir/records.darshan"
rm "$dir/page.html"
measure "summary, 1,000,000 records" "$build/util/ioscribe" summary "$dir/records.darshan"
measure "advise, 1,000,000 records" "$build/util/ioscribe" advise "$dir/records.darshan"
