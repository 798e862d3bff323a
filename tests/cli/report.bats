# SPDX-License-Identifier: BSD-3-Clause
# ioscribe report: pages that need nothing else, with the figures of the log. In a browser: tests/report.

load helper

@test "pages of all sample logs and of every module: at least 50 values each are those of parse" {
	local log n all=0
	for log in "$LOGS"/*.darshan "$BATS_TEST_DIRNAME"/../data/own/*.darshan; do
		"$IOSCRIBE" report -o "$BATS_TEST_TMPDIR/page.html" "$log"
		[ "$(stat -c %s "$BATS_TEST_TMPDIR/page.html")" -lt 2000000 ]
		n=$(python3 "$BATS_TEST_DIRNAME/report_values.py" "$IOSCRIBE" "$log" "$BATS_TEST_TMPDIR/page.html")
		echo "$n $log"
		[ "$n" -ge 50 ] || [[ $n -ge 29 && $(basename "$log") =~ ^(laytonjb_test1|treddy_runtime)_ ]] || [ "$(basename "$log")" = empty_log.darshan ]
		all=$((all + n))
	done
	[ "$all" -gt 3000 ]
}

@test "names with markup and any bytes stay text" {
	local page="$BATS_TEST_TMPDIR/page.html"
	"$(built cli/make_modules)" "$BATS_TEST_TMPDIR/n.darshan" names
	"$IOSCRIBE" report -o "$page" "$BATS_TEST_TMPDIR/n.darshan"
	python3 "$BATS_TEST_DIRNAME/report_values.py" "$IOSCRIBE" "$BATS_TEST_TMPDIR/n.darshan" "$page"
	python3 -c "open('$page', encoding='utf-8').read()"
	cd "$BATS_TEST_TMPDIR"
	python3 "$BATS_TEST_DIRNAME/named_log.py" '</script><script>alert(1)</script><!--' "$(printf 'a"\\\n\t<b>&amp;')" \
		"$(printf 'x%.0s' $(seq 4000))" >markup.darshan
	"$IOSCRIBE" report -o "$page" markup.darshan
	[ "$(grep -c '<script' "$page")" -eq 2 ]
	[ "$(grep -o '</script>' "$page" | wc -l)" -eq 2 ]
	none -F 'alert(1)</script>' "$page"
	grep -qF '&lt;/script>' "$page"
	python3 "$BATS_TEST_DIRNAME/report_values.py" "$IOSCRIBE" markup.darshan "$page"
}

@test "a directory: a row a log, with the figures of its summary; what is no log is named and left out" {
	local dir="$BATS_TEST_TMPDIR/logs" page="$BATS_TEST_TMPDIR/page.html"
	mkdir -p "$dir/2026/11"
	cp "$LOGS"/*.darshan "$dir/2026/11/"
	cp "$LOGS/skew-app.darshan" "$dir/again.darshan"
	echo none >"$dir/none.darshan"
	"$IOSCRIBE" report -o "$page" "$dir" 2>"$BATS_TEST_TMPDIR/err"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/err")" -eq 1 ]
	grep -qF "$dir/none.darshan: " "$BATS_TEST_TMPDIR/err"
	[ "$(python3 "$BATS_TEST_DIRNAME/report_many.py" "$IOSCRIBE" "$page" "$dir")" -ge 150 ]
	"$IOSCRIBE" report -o "$BATS_TEST_TMPDIR/slash.html" "$dir//" 2>/dev/null
	diff <(grep -o '"logs":.*' "$page") <(grep -o '"logs":.*' "$BATS_TEST_TMPDIR/slash.html")
	mkdir "$dir/empty"
	run_err 1 "$dir/empty: no logs (*.darshan) below it" "$IOSCRIBE" report -o "$page" "$dir/empty"
}

@test "two logs: the page has what summary prints of them" {
	local page="$BATS_TEST_TMPDIR/page.html" a="$LOGS/mpi-io-test-x86_64-3.4.4.darshan" b="$LOGS/mpi-io-test-x86_64-3.5.0.darshan"
	"$IOSCRIBE" report -o "$page" "$a" "$b"
	"$IOSCRIBE" summary "$a" "$b" >"$BATS_TEST_TMPDIR/text"
	[ "$(python3 "$BATS_TEST_DIRNAME/report_many.py" "$IOSCRIBE" "$page" "$BATS_TEST_TMPDIR/text")" -ge 25 ]
}

@test "no page, one line: no log, no file, no place; an old page stays" {
	local page="$BATS_TEST_TMPDIR/page.html"
	run_err 2 "--output FILE is missing" "$IOSCRIBE" report "$LOGS/skew-app.darshan"
	echo old >"$page"
	run_err 1 "No such file or directory" "$IOSCRIBE" report -o "$page" "$BATS_TEST_TMPDIR/absent"
	head -c 3000 "$LOGS/partial_data_stdio.darshan" >"$BATS_TEST_TMPDIR/cut"
	! "$IOSCRIBE" report -o "$page" "$BATS_TEST_TMPDIR/cut" 2>/dev/null || return 1
	[ "$(cat "$page")" = old ]
	[ "$(ls "$BATS_TEST_TMPDIR" | grep -c partial)" -eq 0 ]
	run_err 1 "$BATS_TEST_TMPDIR/absent/page.html: no file can be made beside it" "$IOSCRIBE" report -o "$BATS_TEST_TMPDIR/absent/page.html" "$LOGS/skew-app.darshan" ||
		run_err 1 "$BATS_TEST_TMPDIR/absent/page.html: No such file or directory" "$IOSCRIBE" report -o "$BATS_TEST_TMPDIR/absent/page.html" "$LOGS/skew-app.darshan"
}
