#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Speed of analyze on many small logs, against one darshan-parser --perf a log.
#   tests/bench/analyze.sh BUILD-FOLDER [LOGS]
# IOSCRIBE_BENCH_DARSHAN=PREFIX: also run PREFIX/bin/darshan-parser and darshan-analyzer.
set -eu

build=${1:?usage: analyze.sh BUILD-FOLDER [LOGS]}
logs=${2:-10000}
source=$(cd "$(dirname "$0")/../data/logs" && pwd)/mpi-io-test-x86_64-3.5.0.darshan
stock=${IOSCRIBE_BENCH_DARSHAN:+$IOSCRIBE_BENCH_DARSHAN/bin}
dir=$(mktemp -d "${TMPDIR:-/tmp}/ioscribe-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/logs"
for i in $(seq "$logs"); do
	cp "$source" "$dir/logs/$i.darshan"
done

wall() {
	local from=$EPOCHREALTIME
	"$@" >/dev/null 2>&1
	awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.3f\n", b - a }'
}
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
# shellcheck disable=SC2016 # expanded by the inner shell
one_by_one() { sh -c 'for f in "$1"/*; do "$2" --perf "$f"; done' sh "$dir/logs" "$stock/darshan-parser"; }

ours=$(for _ in 1 2 3 4 5 6 7; do wall "$build/util/ioscribe" analyze --quiet "$dir/logs"; done | median)
echo "$logs logs: ioscribe analyze $ours s (median of 7)"
[ -n "$stock" ] || exit 0
parser=$(for _ in 1 2 3; do wall one_by_one; done | median)
analyzer=$(for _ in 1 2 3 4 5 6 7; do wall "$stock/darshan-analyzer" "$dir/logs"; done | median)
awk -v o="$ours" -v p="$parser" -v a="$analyzer" 'BEGIN {
	printf "one darshan-parser a log: %s s, %.1f times ours\n", p, p / o
	printf "darshan-analyzer: %s s, %.1f times ours\n", a, a / o }'
