#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Speed and memory of parse on a log of many records.
#   tests/bench/parse.sh BUILD-FOLDER [RECORDS]
# IOSCRIBE_BENCH_DARSHAN=PREFIX: also run PREFIX/bin/darshan-parser, interleaved,
# compare the text, and print ratios. Medians and ranges of 7 runs.
set -eu

build=${1:?usage: parse.sh BUILD-FOLDER [RECORDS]}
records=${2:-80000}
runs=7
ours=$build/util/ioscribe
stock=${IOSCRIBE_BENCH_DARSHAN:+$IOSCRIBE_BENCH_DARSHAN/bin/darshan-parser}
export TZ=UTC

[ -x "$ours" ] || { echo "parse.sh: no $ours: build first" >&2; exit 1; }
[ -z "$stock" ] || [ -x "$stock" ] || { echo "parse.sh: no $stock" >&2; exit 1; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/ioscribe-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT
log=$dir/big.darshan
"$build/tests/bench/make_log" "$log" "$records"

# One run: "seconds kilobytes" of processor time (user + system) and peak memory.
once() {
	/usr/bin/time -f '%U %S %M' -o "$dir/time" "$@" >/dev/null
	awk '{ printf "%.3f %d\n", $1 + $2, $3 }' "$dir/time"
}

median() { # FILE COLUMN: "median min max"
	awk -v c="$2" '{ print $c }' "$1" | sort -n |
		awk '{ v[NR] = $1 } END { printf "%s %s %s\n", v[int((NR + 1) / 2)], v[1], v[NR] }'
}

printf 'log: %s records, %s bytes; text of --base: %s bytes\n' "$records" "$(stat -c %s "$log")" \
	"$("$ours" parse --base "$log" | wc -c)"
printf '%-8s %-28s %-28s %-8s %s\n' option "ours: s [min..max] KiB" "darshan: s [min..max] KiB" ratio text
for option in base total perf file; do
	: >"$dir/ours"
	: >"$dir/stock"
	for _ in $(seq $runs); do
		once "$ours" parse --$option "$log" >>"$dir/ours"
		[ -z "$stock" ] || once "$stock" --$option "$log" >>"$dir/stock"
	done
	read -r m lo hi < <(median "$dir/ours" 1)
	read -r kb _ < <(median "$dir/ours" 2)
	line=$(printf '%-8s %-28s' "$option" "$m [$lo..$hi] $kb")
	if [ -n "$stock" ]; then
		read -r sm slo shi < <(median "$dir/stock" 1)
		read -r skb _ < <(median "$dir/stock" 2)
		same=equal
		cmp -s <("$ours" parse --$option "$log") <("$stock" --$option "$log") || same=DIFFERENT
		line="$line $(printf '%-28s %-8s %s' "$sm [$slo..$shi] $skb" \
			"$(awk -v a="$m" -v b="$sm" 'BEGIN { printf "%.2f", a / b }')" "$same")"
	fi
	echo "$line"
done
