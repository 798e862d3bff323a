#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Speed of analyze on many small logs, against one darshan-parser --perf a log and darshan-analyzer.
#   tests/bench/analyze.sh BUILD-FOLDER [LOGS [FOLDER]]     copies of the logs in FOLDER
# IOSCRIBE_BENCH_DARSHAN=PREFIX: also run PREFIX/bin/darshan-parser and darshan-analyzer.
set -eu

build=${1:?usage: analyze.sh BUILD-FOLDER [LOGS]}
logs=${2:-10000}
source=${3:-$(cd "$(dirname "$0")/../data/logs" && pwd)/mpi-io-test-x86_64-3.5.0.darshan}
[ ! -d "$source" ] || source=$(ls -d "$source"/*.darshan)
mapfile -t source <<<"$source"
stock=${IOSCRIBE_BENCH_DARSHAN:+$IOSCRIBE_BENCH_DARSHAN/bin}
dir=$(mktemp -d "${TMPDIR:-/tmp}/ioscribe-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/logs"
for i in $(seq "$logs"); do
	cp "${source[i % ${#source[@]}]}" "$dir/logs/$i.darshan"
done

wall() {
	local from=$EPOCHREALTIME
	"$@" >/dev/null 2>&1
	awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.3f\n", b - a }'
}
# Processor time: what a machine that is loaded tells, too.
cpu() {
	/usr/bin/time -f '%U %S' -o "$dir/time" "$@" >/dev/null 2>&1
	awk '{ printf "%.2f\n", $1 + $2 }' "$dir/time"
}
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
# shellcheck disable=SC2016 # expanded by the inner shell
one_by_one() { sh -c 'for f in "$1"/*; do "$2" --perf "$f"; done' sh "$dir/logs" "$stock/darshan-parser"; }

ours=$(for _ in 1 2 3 4 5 6 7; do wall "$build/util/ioscribe" analyze --quiet "$dir/logs"; done | median)
ours_cpu=$(for _ in 1 2 3 4 5 6 7; do cpu "$build/util/ioscribe" analyze --quiet "$dir/logs"; done | median)
ln -s "$(cd "$build" && pwd)/util/ioscribe" "$dir/darshan-analyzer"
alias_cpu=$(for _ in 1 2 3 4 5 6 7; do cpu "$dir/darshan-analyzer" "$dir/logs"; done | median)
alias=$(for _ in 1 2 3 4 5 6 7; do wall "$dir/darshan-analyzer" "$dir/logs"; done | median)
echo "$logs logs: ioscribe analyze $ours s, processor time $ours_cpu s (medians of 7)"
echo "as darshan-analyzer: $alias s, processor time $alias_cpu s"
[ -n "$stock" ] || exit 0
parser=$(for _ in 1 2 3; do wall one_by_one; done | median)
analyzer=$(for _ in 1 2 3 4 5 6 7; do wall "$stock/darshan-analyzer" "$dir/logs"; done | median)
analyzer_cpu=$(for _ in 1 2 3 4 5 6 7; do cpu "$stock/darshan-analyzer" "$dir/logs"; done | median)
awk -v o="$ours" -v p="$parser" -v a="$analyzer" -v oc="$ours_cpu" -v ac="$analyzer_cpu" -v l="$alias" \
	-v lc="$alias_cpu" 'BEGIN {
	printf "one darshan-parser a log: %s s, ours %.2f of it\n", p, o / p
	printf "darshan-analyzer: %s s, ours %.2f of it, under its name %.2f\n", a, o / a, l / a
	printf "its processor time: %s s, ours %.2f of it, under its name %.2f\n", ac, oc / ac, lc / ac }'
