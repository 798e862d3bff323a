# SPDX-License-Identifier: BSD-3-Clause
# Pages of logs in a browser. Their figures: tests/cli/report.bats.

load ../cli/helper

@test "every sample log's page: nothing on the console, no request, plots drawn, as wide as the window" {
	local log pages=()
	for log in "$LOGS"/*.darshan "$BATS_TEST_DIRNAME"/../data/own/*.darshan; do
		pages+=("$BATS_TEST_TMPDIR/$(basename "$log" .darshan).html")
		"$IOSCRIBE" report -o "${pages[-1]}" "$log"
	done
	pages+=("$BATS_TEST_TMPDIR/many.html" "$BATS_TEST_TMPDIR/two.html")
	"$IOSCRIBE" report -o "$BATS_TEST_TMPDIR/many.html" "$LOGS"
	"$IOSCRIBE" report -o "$BATS_TEST_TMPDIR/two.html" "$LOGS"/mpi-io-test-x86_64-3.[45].*.darshan
	/usr/bin/python3 "$BATS_TEST_DIRNAME/browser.py" check "${pages[@]}"
}

@test "names with markup, quotes and newlines are text in the page" {
	python3 "$BATS_TEST_DIRNAME/../cli/named_log.py" '</script><script>document.title="bad"</script>' \
		'<img src=x onerror=alert(1)>' "$(printf 'a"\\\n\tb')" "$(printf 'x%.0s' $(seq 4000))" >"$BATS_TEST_TMPDIR/n.darshan"
	"$IOSCRIBE" report -o "$BATS_TEST_TMPDIR/n.html" "$BATS_TEST_TMPDIR/n.darshan"
	/usr/bin/python3 "$BATS_TEST_DIRNAME/browser.py" check "$BATS_TEST_TMPDIR/n.html"
}

@test "a page that complains, asks for something or draws nothing is found" {
	local page="$BATS_TEST_TMPDIR/p.html"
	"$IOSCRIBE" report -o "$page" "$LOGS/mpi-io-test-x86_64-3.5.0.darshan"
	for change in 's/^first_things();/first_things(); console.error("x");/' 's/^first_things();/first_things(); fetch("http:\/\/127.0.0.1:9");/' \
		's/^\t\tthis.cells(d, a, level/\t\treturn; this.cells(d, a, level/'; do
		sed "$change" "$page" >"$BATS_TEST_TMPDIR/bad.html"
		! cmp -s "$page" "$BATS_TEST_TMPDIR/bad.html" || return 1
		run /usr/bin/python3 "$BATS_TEST_DIRNAME/browser.py" check "$BATS_TEST_TMPDIR/bad.html"
		[ "$status" -eq 1 ] || { echo "$change"; return 1; }
	done
}
