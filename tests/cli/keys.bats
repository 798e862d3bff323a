#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Record ids that were chosen to meet in one place of a table cost what others do: in instructions, by valgrind.

load helper

# instructions COMMAND...: of it and what it starts.
instructions() {
	valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null --trace-children=yes --log-file=refs.%p \
		"$@" >/dev/null
	cat refs.* | sed -n 's/.*I *refs: *//p' | tr -d , | awk '{ n += $1 } END { printf "%.0f\n", n }'
	rm -f refs.*
}

# fair COMMAND...: LOG in it stands for the log.
fair() {
	local other chosen
	other=$(instructions "${@//LOG/other.darshan}")
	chosen=$(instructions "${@//LOG/chosen.darshan}")
	rm -f out*
	[ "$other" -gt 1000000 ] && [ "$chosen" -lt $((2 * other)) ] || {
		echo "$*: $chosen instructions of chosen ids, $other of others"
		return 1
	}
}

@test "a log whose ids meet in one place costs no more than twice another's, in every tool" {
	command -v valgrind >/dev/null
	cd "$BATS_TEST_TMPDIR"
	for ids in chosen other; do
		"$(built cli/make_ids)" $ids.darshan 20000 $ids
	done
	fair "$IOSCRIBE" parse --base --total --file --perf LOG
	fair "$IOSCRIBE" summary LOG
	fair "$IOSCRIBE" dxt LOG
	fair "$IOSCRIBE" diff LOG LOG
	fair "$IOSCRIBE" merge --output out.darshan LOG LOG
	fair "$IOSCRIBE" export --json --output out.json LOG
	fair "$IOSCRIBE" convert LOG out.darshan
	fair "$IOSCRIBE" analyze --quiet LOG
}
