# SPDX-License-Identifier: BSD-3-Clause
# ioscribe analyze over the sample logs.

load helper

@test "the figures of the stock tool" {
	mkdir -p "$BATS_TEST_TMPDIR/logs/deep"
	cp "$LOGS"/*.darshan "$BATS_TEST_TMPDIR/logs"
	mv "$BATS_TEST_TMPDIR/logs/skew-app.darshan" "$BATS_TEST_TMPDIR/logs/deep"
	"$IOSCRIBE" analyze "$BATS_TEST_TMPDIR/logs" >"$BATS_TEST_TMPDIR/out"
	# recorded from darshan-analyzer on the same logs
	sed 1d "$BATS_TEST_TMPDIR/out" | head -13 | diff - <(cat <<'TEXT'
total logs: 22
      shared file access: 0.545455 [12]
file-per-proccess access: 0.318182 [7]
             mpio access: 0.590909 [13]
          pnetcdf access: 0.045455 [1]
             hdf5 access: 0.136364 [3]

I/O percentage of runtime:
0.00-0.20: 15
0.20-0.40: 0
0.40-0.60: 1
0.60-0.80: 0
0.80-1.00: 6
TEXT
)
	ln -s "$(command -v "$IOSCRIBE")" "$BATS_TEST_TMPDIR/darshan-analyzer"
	[ "$("$BATS_TEST_TMPDIR/darshan-analyzer" "$BATS_TEST_TMPDIR/logs" | wc -l)" -eq 14 ]
}

@test "totals by user, program and file system add up" {
	"$IOSCRIBE" analyze --top 0 "$LOGS" >"$BATS_TEST_TMPDIR/out" 2>/dev/null || true
	grep -Eq '^ +11 .* 1000$' "$BATS_TEST_TMPDIR/out"
	grep -Eq '^ +10 .* mpi-io-test$' "$BATS_TEST_TMPDIR/out"
	grep -Eq '^ +1 +0 B +40.6 GiB .* /lus/theta-fs0 \(lustre\)$' "$BATS_TEST_TMPDIR/out"
	grep -Eq '^ +22 +2.5 GiB +59.6 GiB .* in all$' "$BATS_TEST_TMPDIR/out"
}

@test "the number of threads does not change the result" {
	local n
	for n in 1 2 7 64; do
		"$IOSCRIBE" analyze --jobs $n "$LOGS"/*.darshan | sed 1d >"$BATS_TEST_TMPDIR/$n"
	done
	diff "$BATS_TEST_TMPDIR/1" "$BATS_TEST_TMPDIR/2"
	diff "$BATS_TEST_TMPDIR/1" "$BATS_TEST_TMPDIR/7"
	diff "$BATS_TEST_TMPDIR/1" "$BATS_TEST_TMPDIR/64"
}

@test "--top limits the lists" {
	run "$IOSCRIBE" analyze --top 1 "$LOGS"/*.darshan
	[ "$status" -eq 0 ]
	[ "$(grep -c 'and [0-9]* more' <<<"$output")" -eq 3 ]
}

@test "a terminal sees a bar go to its end; files and pipes see none" {
	"$IOSCRIBE" analyze "$LOGS"/*.darshan 2>"$BATS_TEST_TMPDIR/err" >/dev/null
	[ ! -s "$BATS_TEST_TMPDIR/err" ]
	python3 - "$IOSCRIBE" "$LOGS"/*.darshan <<'PY'
import os, pty, subprocess, sys
mine, its = pty.openpty()
p = subprocess.Popen([sys.argv[1], "analyze"] + sys.argv[2:], stdout=subprocess.DEVNULL, stderr=its)
os.close(its)
shown = b""
try:
    while True:
        piece = os.read(mine, 4096)
        if not piece:
            break
        shown += piece
except OSError:  # the other end is closed
    pass
assert p.wait() == 0
steps = shown.decode().split("\r")
assert steps[-1] == "\n" and steps[-2] == "[" + 40 * "#" + "] 22 of 22 logs", steps[-3:]
assert any("#" in s and " of 22" in s and not s.startswith("[" + 40 * "#") for s in steps), steps
PY
}

@test "files that are no logs are named, the others are analyzed" {
	mkdir "$BATS_TEST_TMPDIR/mixed"
	cp "$LOGS/skew-app.darshan" "$BATS_TEST_TMPDIR/mixed"
	echo text >"$BATS_TEST_TMPDIR/mixed/notes.txt"
	run_err 1 notes.txt "$IOSCRIBE" analyze "$BATS_TEST_TMPDIR/mixed"
	grep -q '^total logs: 1$' "$BATS_TEST_TMPDIR/out"
}

@test "a folder that cannot be read is named, the others are analyzed" {
	local name i
	cd "$BATS_TEST_TMPDIR"
	mkdir logs
	cp "$LOGS/skew-app.darshan" logs
	# deeper than a path may be: no rights help
	name=$(head -c 250 /dev/zero | tr '\0' d)
	cd logs
	for i in $(seq 20); do
		mkdir "$name"
		cd "$name"
	done
	cd "$BATS_TEST_TMPDIR"
	run_err 1 "...ddd" "$IOSCRIBE" analyze logs # the path is cut, not what is wrong
	grep -q '^ioscribe analyze: logs/ddd.*ddd: File name too long$' err
	grep -q '^total logs: 1$' out
	ln -s "$(command -v "$IOSCRIBE")" darshan-analyzer
	run_err 0 "File name too long" ./darshan-analyzer logs # as that tool, which says nothing
	grep -q '^total logs: 1$' out
}

@test "no folder, an empty folder, wrong numbers" {
	run_err 1 "No such file or directory" "$IOSCRIBE" analyze "$BATS_TEST_TMPDIR/absent"
	mkdir "$BATS_TEST_TMPDIR/empty"
	run_err 1 "no files" "$IOSCRIBE" analyze "$BATS_TEST_TMPDIR/empty"
	ln -s "$(command -v "$IOSCRIBE")" "$BATS_TEST_TMPDIR/darshan-analyzer"
	"$BATS_TEST_TMPDIR/darshan-analyzer" "$BATS_TEST_TMPDIR/empty" | grep -qx 'total logs: 0' # as that tool
	run_err 2 "--jobs takes a number" "$IOSCRIBE" analyze --jobs 0 "$LOGS"
	run_err 2 "--top takes a number" "$IOSCRIBE" analyze --top few "$LOGS"
	run_err 2 "DIR... expected" "$IOSCRIBE" analyze
}
