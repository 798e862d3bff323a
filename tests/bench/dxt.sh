#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Time and memory of dxt: one long record, and many short ones, against darshan-dxt-parser.
#   tests/bench/dxt.sh BUILD-FOLDER [OPERATIONS]
# IOSCRIBE_BENCH_DARSHAN=PREFIX: also run PREFIX/bin/darshan-dxt-parser, interleaved,
# compare the text, and print ratios. Medians of 7 runs.
set -eu

build=${1:?usage: dxt.sh BUILD-FOLDER [OPERATIONS]}
operations=${2:-1000000}
ours=$build/util/ioscribe
stock=${IOSCRIBE_BENCH_DARSHAN:+$IOSCRIBE_BENCH_DARSHAN/bin/darshan-dxt-parser}
export TZ=UTC

[ -z "$stock" ] || [ -x "$stock" ] || { echo "dxt.sh: no $stock" >&2; exit 1; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/ioscribe-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT
"$build/tests/bench/make_log" "$dir/long.darshan" 1 1 /lustre/s -1 "$operations"
"$build/tests/bench/make_log" "$dir/short.darshan" $((operations / 500)) 8 /lustre/s -1 500

once() { # "seconds kilobytes" of processor time and peak memory
	/usr/bin/time -f '%U %S %M' -o "$dir/time" "$@" >/dev/null
	awk '{ printf "%.3f %d\n", $1 + $2, $3 }' "$dir/time"
}
median() { awk -v c="$2" '{ print $c }' "$1" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

printf '%-6s %10s %10s %10s %10s %8s %8s %s\n' records "ours s" KiB "darshan s" KiB "s ratio" "KiB ratio" text
for log in long short; do
	: >"$dir/ours"
	: >"$dir/stock"
	for _ in 1 2 3 4 5 6 7; do
		once "$ours" dxt "$dir/$log.darshan" >>"$dir/ours"
		[ -z "$stock" ] || once "$stock" "$dir/$log.darshan" >>"$dir/stock"
	done
	line=$(printf '%-6s %10s %10s' $log "$(median "$dir/ours" 1)" "$(median "$dir/ours" 2)")
	if [ -n "$stock" ]; then
		same=equal
		cmp -s <("$ours" dxt "$dir/$log.darshan") <("$stock" "$dir/$log.darshan") || same=DIFFERENT
		line="$line $(awk -v o="$(median "$dir/ours" 1)" -v ok="$(median "$dir/ours" 2)" \
			-v s="$(median "$dir/stock" 1)" -v sk="$(median "$dir/stock" 2)" -v same=$same \
			'BEGIN { printf "%10s %10s %8.2f %8.2f %s", s, sk, o / s, ok / sk, same }')"
	fi
	echo "$line"
done
