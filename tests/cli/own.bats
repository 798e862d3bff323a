# SPDX-License-Identifier: BSD-3-Clause
# Logs of our own: process table, ledger and further counters in every tool.

load helper

OWN="$BATS_TEST_DIRNAME/../data/own"

@test "parse prints our modules in the same columns" {
	"$IOSCRIBE" parse "$OWN/shell.darshan" >"$BATS_TEST_TMPDIR/text"
	grep -q '^# POSIX_EXT module: [0-9]* bytes (compressed), ver=1$' "$BATS_TEST_TMPDIR/text"
	grep -q '^# PROCESS module data$' "$BATS_TEST_TMPDIR/text"
	awk -F'\t' '/^(POSIX_EXT|PROCESS|LEDGER)\t/ && NF != 8 { print; bad = 1 } END { exit bad }' "$BATS_TEST_TMPDIR/text"
	grep -Pq '^POSIX_EXT\t0\t\d+\tPOSIX_EXT_CREATES\t1\t/tmp/demo/a\t/\text4$' "$BATS_TEST_TMPDIR/text"
	[ "$(grep -Pc '^PROCESS\t0\t\d+\tPROCESS_SERIAL\t' "$BATS_TEST_TMPDIR/text")" -eq 6 ]
	grep -Pq '\tPROCESS_EXE\tdd\tprocess:' "$BATS_TEST_TMPDIR/text"
	grep -Pq '^LEDGER\t-1\t\d+\tLEDGER_EVENTS\t174\t' "$BATS_TEST_TMPDIR/text"
	# a log of before: places have the names of now
	grep -P '^(LEDGER|PROCESS)\t' "$BATS_TEST_TMPDIR/text" | cut -f4 >"$BATS_TEST_TMPDIR/names"
	[ "$(grep -c PROCESS_OVERFLOWED_FILES "$BATS_TEST_TMPDIR/names")" -eq 6 ]
	for name in OVERFLOWED OVERFLOWED_FILES SLOT_INDEX_FULL LAYOUT_TIMEOUT NAME_UNRESOLVED; do
		grep -qx "LEDGER_$name" "$BATS_TEST_TMPDIR/names"
	done
	! grep -E 'FOLDED|HASH_FULL|LAYOUTS_LATE|AS_GIVEN' "$BATS_TEST_TMPDIR/names"
}

@test "summary tells how processes ended" {
	run "$IOSCRIBE" summary "$OWN/shell.darshan"
	[ "$status" -eq 0 ]
	[[ "$output" == *"processes  6: 4 ended with 0, 1 with an error, 1 by SIGKILL"* ]]
	[[ "$output" == *"exit 3"* ]]
	[[ "$output" == *"SIGKILL"* ]]
}

@test "summary tells whether the ledger is complete" {
	run "$IOSCRIBE" summary "$OWN/shell.darshan"
	[[ "$output" == *"ledger     NOT complete: 174 operations seen, 1 not recorded"* ]]
	run "$IOSCRIBE" summary "$OWN/copy.darshan"
	[[ "$output" == *"ledger     complete: 33 operations seen, all recorded"* ]]
	run "$IOSCRIBE" summary --brief "$OWN/copy.darshan"
	[[ "$output" == *"ledger     complete"* ]]
	[ "${#lines[@]}" -le 16 ]
}

@test "one counter of the ledger that is not 0: complete, approximate or lost, as its list says" {
	local name meaning line list=$IOSCRIBE_SOURCE/logfmt/counters/ledger_list.h
	cd "$BATS_TEST_TMPDIR"
	{
		sed -n 's/^\tX(\([A-Z0-9_]*\), \([A-Z]*\),.*/\1 \2/p' "$list"
		sed -n '/SCRIBE_LEDGER_F_COUNTERS(X)/,/^$/s/^\tX(\([A-Z0-9_]*\), \([A-Z]*\),.*/F_\1 \2/p' "${list%/*}/counters_own.h"
	} | grep -v -e '^EVENTS ' -e '^RECORDED ' -e '^OVERFLOWED ' >counters
	[ "$(wc -l <counters)" -gt 60 ]
	while read -r name meaning; do
		rm -f one.darshan
		"$(built cli/make_ledger)" one.darshan EVENTS=10 RECORDED=10 "$name=3"
		line=$("$IOSCRIBE" summary --brief one.darshan | grep ^ledger)
		echo "$name, $meaning: $line"
		case $meaning in
		FACT) [ "$line" = "ledger     complete: 10 operations seen, all recorded" ] ;;
		APPROX) [ "$line" = "ledger     complete: 10 operations seen, all recorded; some values approximate" ] ;;
		LOSS | DROP) [ "$line" = "ledger     NOT complete: 10 operations seen; 1 cause of loss" ] ;;
		*) false ;;
		esac
	done <counters
	rm one.darshan
	"$(built cli/make_ledger)" one.darshan EVENTS=10 RECORDED=8 LAYOUT_TIMEOUT=1 DROP_NO_SLOT=2
	"$IOSCRIBE" summary one.darshan | grep -qxF "ledger     NOT complete: 10 operations seen, 2 not recorded; 2 causes of loss"
}

@test "our modules survive convert and merge" {
	cd "$BATS_TEST_TMPDIR"
	"$IOSCRIBE" convert --bzip2 "$OWN/shell.darshan" c.darshan
	"$IOSCRIBE" merge --output m.darshan "$OWN/shell.darshan"
	local f
	for f in c m; do
		diff <("$IOSCRIBE" parse "$OWN/shell.darshan" | grep -v '^#') <("$IOSCRIBE" parse $f.darshan | grep -v '^#')
	done
}

@test "obfuscation reaches the process table" {
	"$IOSCRIBE" convert --obfuscate "$OWN/shell.darshan" "$BATS_TEST_TMPDIR/o.darshan"
	"$IOSCRIBE" parse "$BATS_TEST_TMPDIR/o.darshan" >"$BATS_TEST_TMPDIR/text"
	none -Pq '\tPROCESS_EXE\t(dd|cat|sh)\t' "$BATS_TEST_TMPDIR/text"
	none -Pq '\tPROCESS_HOST\tvm\t' "$BATS_TEST_TMPDIR/text"
	none -q 'process:vm' "$BATS_TEST_TMPDIR/text"
	none -Pq '\tPROCESS_UID\t0\t' "$BATS_TEST_TMPDIR/text"
}

@test "export has the process table" {
	"$IOSCRIBE" export --csv --table process "$OWN/shell.darshan" >"$BATS_TEST_TMPDIR/csv"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/csv")" -eq 7 ]
	head -1 "$BATS_TEST_TMPDIR/csv" | grep -q 'PROCESS_WAIT_STATUS.*,host,exe$'
	grep -q ',vm,dd$' "$BATS_TEST_TMPDIR/csv"
}

@test "diff compares our modules; under the stock name it does not" {
	"$IOSCRIBE" diff "$OWN/shell.darshan" "$OWN/copy.darshan" >"$BATS_TEST_TMPDIR/d"
	grep -q '^- PROCESS' "$BATS_TEST_TMPDIR/d"
	grep -q '^+ LEDGER' "$BATS_TEST_TMPDIR/d"
	ln -s "$(command -v "$IOSCRIBE")" "$BATS_TEST_TMPDIR/darshan-diff"
	"$BATS_TEST_TMPDIR/darshan-diff" "$OWN/shell.darshan" "$OWN/copy.darshan" | none -Eq '^[-+] (PROCESS|LEDGER|POSIX_EXT)'
}
