# SPDX-License-Identifier: BSD-3-Clause
# Names may be any bytes: object ids, control characters, no UTF-8, none.

load helper

maker() {
	"$(built cli/make_modules)" "$@"
}

escaped_names() {
	"$IOSCRIBE" parse --escape "$1" | awk -F'\t' '$4 == "POSIX_OPENS" { print $3, $6 }'
}

expected_names() {
	cat <<'TEXT'
101 \x01\x02\xfe\xff\x80
102 /tmp/new\nline
103 /tmp/tab\there
104 /tmp/\xc3(
105 /tmp/back\\slash
106 /tmp/ü
107 
108 (null)
109 \x00\x00\x00\x00\x00\x00\x10\x00*\x00\x00\x00\xff\xfe\x00\x00
110 \x00
111 /tmp/nul\x00behind
TEXT
}

@test "parse --escape: one record a name, one line a row" {
	maker "$BATS_TEST_TMPDIR/n.darshan" names
	diff <(expected_names) <(escaped_names "$BATS_TEST_TMPDIR/n.darshan")
	[ "$("$IOSCRIBE" parse --escape "$BATS_TEST_TMPDIR/n.darshan" | grep -c '^POSIX')" -eq $((11 * 86)) ]
}

@test "dxt --escape: one line a name" {
	maker "$BATS_TEST_TMPDIR/n.darshan" names
	diff <(expected_names) <("$IOSCRIBE" dxt --escape "$BATS_TEST_TMPDIR/n.darshan" |
		sed -n 's/^# DXT, file_id: \([0-9]*\), file_name: \(.*\)$/\1 \2/p')
	[ "$("$IOSCRIBE" dxt --escape "$BATS_TEST_TMPDIR/n.darshan" | grep -c '^# DXT, rank: 0, hostname: node0$')" -eq 11 ]
}

@test "parse without --escape prints the bytes as they are" {
	maker "$BATS_TEST_TMPDIR/n.darshan" names
	"$IOSCRIBE" parse "$BATS_TEST_TMPDIR/n.darshan" >"$BATS_TEST_TMPDIR/text"
	LC_ALL=C grep -aq $'\x01\x02\xfe\xff\x80' "$BATS_TEST_TMPDIR/text"
	[ "$(grep -ac '^line	' "$BATS_TEST_TMPDIR/text")" -eq 86 ]
}

@test "odd names survive convert, merge and diff" {
	cd "$BATS_TEST_TMPDIR"
	maker n.darshan names
	"$IOSCRIBE" convert --bzip2 n.darshan c.darshan
	"$IOSCRIBE" convert --uncompressed c.darshan u.darshan
	diff <(expected_names) <(escaped_names u.darshan)
	"$IOSCRIBE" merge --output m.darshan n.darshan c.darshan
	diff <(expected_names) <(escaped_names c.darshan)
	diff <(expected_names | sort) <(escaped_names m.darshan | sort -u)
	run "$IOSCRIBE" diff n.darshan c.darshan
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	"$IOSCRIBE" convert --file 111 n.darshan o.darshan
	[ "$(escaped_names o.darshan)" = '111 /tmp/nul\x00behind' ]
}

@test "names that differ behind a NUL are different names" {
	cd "$BATS_TEST_TMPDIR"
	maker n.darshan names
	"$IOSCRIBE" convert --uncompressed n.darshan u.darshan
	chmod +w u.darshan
	python3 - <<'PY'
b = bytearray(open("u.darshan", "rb").read())
assert b.count(b"nul\0behind") == 1
at = b.index(b"nul\0behind")
b[at + 4:at + 10] = b"before"
open("u.darshan", "wb").write(b)
PY
	run_err 1 "record 111 is '/tmp/nul\\x00before' here and '/tmp/nul\\x00behind' in another log" \
		"$IOSCRIBE" merge --output m.darshan n.darshan u.darshan
}

@test "readers that take C strings see the escape of a name with a NUL" {
	cd "$BATS_TEST_TMPDIR"
	maker n.darshan names
	"$IOSCRIBE" convert --uncompressed n.darshan u.darshan
	python3 - <<'PY'
import struct
b = open("u.darshan", "rb").read()
off, length = struct.unpack_from("<QQ", b, 32)
names, at = {}, off
while at < off + length:
    end = b.index(b"\0", at + 8)
    names[struct.unpack_from("<Q", b, at)[0]] = b[at + 8:end]
    at = end + 1
assert names[110] == rb"\x00" and names[111] == rb"/tmp/nul\x00behind" and names[106] == b"/tmp/\xc3\xbc", names
assert all(struct.unpack_from("<QQ", b, 48 + 16 * i) == (0, 0) for i in range(18, 64))
PY
}

@test "odd names come out of every export" {
	cd "$BATS_TEST_TMPDIR"
	maker n.darshan names
	"$IOSCRIBE" export --json n.darshan >j.json
	"$IOSCRIBE" export --csv --table file n.darshan >f.csv
	"$IOSCRIBE" export --sqlite n.db n.darshan
	python3 - <<'PY'
import csv, json, re, sqlite3
want = {101: b"\x01\x02\xfe\xff\x80", 102: b"/tmp/new\nline", 103: b"/tmp/tab\there", 104: b"/tmp/\xc3(",
        105: b"/tmp/back\\slash", 106: b"/tmp/\xc3\xbc", 107: b"",
        109: b"\0\0\0\0\0\0\x10\0*\0\0\0\xff\xfe\0\0", 110: b"\0", 111: b"/tmp/nul\0behind"}
def unescape(t):
    out = re.sub(rb"\\(x[0-9a-fA-F]{2}|.)", lambda m: bytes([int(m[1][1:], 16)]) if m[1][:1] == b"x" else
                 {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"\\": b"\\"}[m[1]], t.encode())
    return out
j = {int(r["record_id"]): r for r in json.load(open("j.json"))["file"]}
for i, name in want.items():
    r = j[i]
    got = r["name"].encode() if "name" in r else unescape(r["name_escaped"])
    assert got == name, (i, got)
db = {i: n for i, n in sqlite3.connect("n.db").execute("select record_id, name from file")}
for i, name in want.items():
    got = db[i].encode() if isinstance(db[i], str) else db[i]
    assert got == name, (i, got)
rows = {int(r["record_id"]): r["name"] for r in csv.DictReader(open("f.csv", newline=""))}
for i in want:
    assert unescape(rows[i]) == want[i], (i, rows[i])
assert rows[106] == "/tmp/ü"
PY
}

@test "summary shows odd names without breaking its lines" {
	maker "$BATS_TEST_TMPDIR/n.darshan" names
	run "$IOSCRIBE" summary "$BATS_TEST_TMPDIR/n.darshan"
	[ "$status" -eq 0 ]
	[[ "$output" == *'/tmp/new\nline'* ]]
	[[ "$output" == *'\x01\x02\xfe\xff\x80'* ]]
}
