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

# microseconds COMMAND...: the processor time of it and what it starts.
microseconds() {
	python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(int(1e6 * (used.ru_utime + used.ru_stime)))' "$@"
}

# fair COMMAND...: LOG in it stands for the log. COST: what is compared.
fair() {
	local other chosen
	other=$("$COST" "${@//LOG/other.darshan}")
	rm -f out*
	chosen=$("$COST" "${@//LOG/chosen.darshan}")
	rm -f out*
	[ "$other" -gt 100000 ] && [ "$chosen" -lt $((2 * other)) ] || {
		echo "$*: $chosen $COST of chosen ids, $other of others"
		return 1
	}
}

# every_tool RECORDS
every_tool() {
	cd "$BATS_TEST_TMPDIR"
	for ids in chosen other; do
		"$(built cli/make_ids)" $ids.darshan "$1" $ids
	done
	fair "$IOSCRIBE" parse --base --total --file --perf LOG
	fair "$IOSCRIBE" summary LOG
	fair "$IOSCRIBE" dxt LOG
	fair "$IOSCRIBE" diff LOG LOG
	fair "$IOSCRIBE" merge --output out.darshan LOG LOG
	fair "$IOSCRIBE" export --json --output out.json LOG
	fair "$IOSCRIBE" convert LOG out.darshan
	fair "$IOSCRIBE" analyze --quiet LOG
	fair "$IOSCRIBE" store --db out.sqlite LOG
}

@test "a log whose ids meet in one place costs no more than twice another's, in every tool" {
	command -v valgrind >/dev/null
	COST=instructions
	every_tool 20000
}

@test "and so does one of a million records, in processor time" {
	COST=microseconds
	every_tool 1000000
}
