# SPDX-License-Identifier: BSD-3-Clause
# What steers a terminal is shown, not sent: names, programs and messages of anybody's.

load helper

setup() {
	ODD="$BATS_TEST_TMPDIR/n.darshan"
	"$(built cli/make_modules)" "$ODD" names
	cat >"$BATS_TEST_TMPDIR/term.py" <<'P'
import os, pty, sys
got = []
def read(fd):
    data = os.read(fd, 65536)
    got.append(data)
    return data
pty.spawn(sys.argv[1:], read)
data = b"".join(got).replace(b"\r\n", b"\n")
bad = [c for c in data if c < 32 and c not in (9, 10) or c == 127]
try:
    data.decode()
except UnicodeDecodeError as e:
    bad.append(e)
open("shown", "wb").write(data)
sys.exit(f"steers: {bad[:5]}" if bad or not data else 0)
P
	cd "$BATS_TEST_TMPDIR"
}

terminal() {
	python3 "$BATS_TEST_TMPDIR/term.py" "$@" </dev/null >/dev/null
}

@test "tools on a terminal: names and programs" {
	local c
	for c in "parse" "parse --all" "summary" "summary --brief" "diff $LOGS/skew-app.darshan" "analyze"; do
		echo "$c"
		# (a bar of progress goes back to the start of its line)
		terminal sh -c "'$IOSCRIBE' $c '$ODD' 2>/dev/null"
		[ "$c" = analyze ] || [ "$c" = "summary --brief" ] || grep -q '\\x01\\x02' shown
	done
	# no line of a name's own making
	terminal "$IOSCRIBE" parse "$ODD"
	grep -q '/tmp/new\\nline' shown
	# elsewhere the text is as it was: Darshan's
	"$IOSCRIBE" parse "$ODD" | grep -qa $'\x01\x02'
}

@test "messages" {
	run "$IOSCRIBE" parse $'/none/\e[31mred\nsecond'
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == *'/none/\x1b[31mred\nsecond'* ]]
	[[ "$output" != *$'\e'* ]]
}
