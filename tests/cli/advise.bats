# SPDX-License-Identifier: BSD-3-Clause
# ioscribe advise on logs of others, and a site's rules. Programs with known faults: tests/trace/advise.bats.

load helper

LOG="$LOGS/skew-app.darshan"

@test "facts of all sample logs are those that their counters give" {
	local log facts n=0
	for log in "$LOGS"/*.darshan; do
		facts=$(python3 "$BATS_TEST_DIRNAME/advise_facts.py" "$IOSCRIBE" "$log")
		n=$((n + facts))
	done
	[ "$n" -gt 300 ]
}

@test "findings: most severe first, within 80 columns but for names, the same in JSON" {
	local log
	for log in "$LOGS"/*.darshan; do
		"$IOSCRIBE" advise "$log" >"$BATS_TEST_TMPDIR/out"
		! grep -vE '^ +(most|in|[0-9]+ files)\b' "$BATS_TEST_TMPDIR/out" | grep -E '.{81}' || return 1
		"$IOSCRIBE" advise --json "$log" | python3 -c '
import json, sys
found = json.load(sys.stdin)
assert (found["schema"], found["version"]) == ("ioscribe_advice", 1)
order = [["severe", "warning", "note"].index(f["severity"]) for f in found["findings"]]
assert order == sorted(order)
for f in found["findings"]:
    assert f["value"] / f["of_value"] > f["threshold"] and f["what"] and f["advice"]
    print("%-9s%s" % (f["severity"], f["rule"]))' >"$BATS_TEST_TMPDIR/json"
		diff "$BATS_TEST_TMPDIR/json" <(grep -E '^(severe|warning|note) ' "$BATS_TEST_TMPDIR/out")
	done
	"$IOSCRIBE" advise "$LOG" | grep -A2 -x 'note     small-writes' >"$BATS_TEST_TMPDIR/out"
	grep -x '         100 % of writes move less than 1 MiB (41,632 of 41,632)' "$BATS_TEST_TMPDIR/out"
	grep -x '         most (41,632): /lus/theta-fs0/2934391481' "$BATS_TEST_TMPDIR/out"
	[ "$("$IOSCRIBE" advise "$LOGS/mpi-io-test-x86_64-3.4.4.darshan")" = "no findings" ]
}

@test "names of any bytes are escaped, numbers near 2^63 are numbers" {
	local rules="$BATS_TEST_TMPDIR/rules"
	"$(built cli/make_modules)" "$BATS_TEST_TMPDIR/n.darshan" names
	echo 'rule all note file opens per job over 0 if opens least 0: opens; Any.' >"$rules"
	"$IOSCRIBE" advise --rules "$rules" "$BATS_TEST_TMPDIR/n.darshan" >"$BATS_TEST_TMPDIR/out"
	[ "$(LC_ALL=C grep -c '[^ -~]' "$BATS_TEST_TMPDIR/out")" -eq 0 ]
	"$IOSCRIBE" advise --json --rules "$rules" "$BATS_TEST_TMPDIR/n.darshan" | python3 -m json.tool >/dev/null
	python3 "$BATS_TEST_DIRNAME/big_log.py" "$BATS_TEST_TMPDIR/huge.darshan" huge 1
	"$IOSCRIBE" advise "$BATS_TEST_TMPDIR/huge.darshan" | grep -F '(9,223,372,036,854,775,807 of '
	"$IOSCRIBE" advise --json "$BATS_TEST_TMPDIR/huge.darshan" | python3 -m json.tool | grep -q '"value": 1.8446744073709552e+19'
}

@test "a site's rules: changed, added, off; the printed ones read back; what is wrong is named with its line" {
	local rules="$BATS_TEST_TMPDIR/rules" line said
	printf 'set small-writes severity off\nset blocking-writes over 2\nset one-stripe least 1e15\n' >"$rules"
	"$IOSCRIBE" advise --rules "$rules" "$LOG" >"$BATS_TEST_TMPDIR/out"
	none -E '^[a-z]+ +(small-writes|blocking-writes|one-stripe)$' "$BATS_TEST_TMPDIR/out"
	grep -q 'small-shared-writes' "$BATS_TEST_TMPDIR/out"
	printf '# ours\nrule big severe file bytes_written per writes over 1e5 if writes least 10: bytes a write; Do not.\n' >"$rules"
	"$IOSCRIBE" advise --rules "$rules" "$LOG" | head -4 | diff - <(
		echo 'severe   big'
		echo '         1048169.0 bytes a write (40.6 GiB to 41,632)'
		echo '         in /lus/theta-fs0/2934391481'
		echo '         -> Do not.'
	)
	"$IOSCRIBE" advise --list --rules "$rules" | sed -n 's/^rule big .*/&/p' >"$BATS_TEST_TMPDIR/back"
	diff <(sed 1d "$rules" | sed 's/1e5/100000/') "$BATS_TEST_TMPDIR/back"
	while IFS='|' read -r line said; do
		printf '\n%b\n' "$line" >"$rules"
		run_err 1 "$rules:2: $said" "$IOSCRIBE" advise --rules "$rules" "$LOG"
	done <<'LINES'
set nothing over 1|no rule of this name
set small-writes severity loud|severity is off, note, warning or severe
set small-writes over much|expected a number
set small-writes under 1|expected: set NAME severity|over|least VALUE
rule x note job writes per|expected: rule NAME
rule x note job writes per nothing over 1 if writes least 1: a; b|no such fact
rule x note file files per job over 1 if files least 1: a; b|a fact of the job in a rule of files
rule seeks note job writes per job over 1 if writes least 1: a; b|there is a rule of this name already
bogus|a line begins with set, rule or #
LINES
	run_err 1 "$rules.absent: No such file or directory" "$IOSCRIBE" advise --rules "$rules.absent" "$LOG"
	head -c 2M /dev/zero | tr '\0' '#' >"$rules"
	run_err 1 "$rules: not a text of less than 1 MiB" "$IOSCRIBE" advise --rules "$rules" "$LOG"
	run_err 2 "no log named" "$IOSCRIBE" advise
	run_err 1 "No such file or directory" "$IOSCRIBE" advise "$BATS_TEST_TMPDIR/absent"
}

@test "times that are none: figures stay finite, and JSON stays JSON" {
	local times log="$BATS_TEST_TMPDIR/t.darshan" page="$BATS_TEST_TMPDIR/t.html"
	for times in 1e300,-1e300,1e300,-9.9e299 nan,inf,-inf,1 -1,-2,-3 1e11,1e308,5e-324; do
		python3 "$BATS_TEST_DIRNAME/named_log.py" "--times" "$times" a b c d e >"$log"
		"$IOSCRIBE" summary "$log" >"$BATS_TEST_TMPDIR/out"
		none -E '^(time|slowest) .*(nan|inf|[0-9]{40})' "$BATS_TEST_TMPDIR/out"
		"$IOSCRIBE" summary "$log" "$LOG" >/dev/null
		"$IOSCRIBE" advise "$log" >/dev/null
		"$IOSCRIBE" advise --json "$log" | python3 -c 'import json, sys; json.load(sys.stdin, parse_constant=exit)'
		"$IOSCRIBE" summary --json "$log" | python3 -c 'import json, sys; json.load(sys.stdin, parse_constant=exit)'
		for of in "$log" "$log $LOG"; do
			"$IOSCRIBE" report -o "$page" $of
			python3 -c 'import json, re, sys
json.loads(re.search("id=\"data\">(.*?)</script>", sys.stdin.read(), re.S)[1], parse_constant=exit)' <"$page"
		done
	done
}
