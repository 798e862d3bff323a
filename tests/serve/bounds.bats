# SPDX-License-Identifier: BSD-3-Clause
# ioscribe serve: what a client, a request, a question can cost; that it ends when it is to.

load ../cli/helper
load helper
load ../harness/wait

setup_file() {
	make_events 3000 3 8 >"$BATS_FILE_TMPDIR/e.json"
	"$IOSCRIBE" store --db "$BATS_FILE_TMPDIR/io.sqlite" "$BATS_FILE_TMPDIR/e.json"
}

bounds() {
	python3 "$BATS_TEST_DIRNAME/bounds.py" "$PLACE" "$TOKEN" "$@"
}

@test "serve: slow connections without the token keep nobody waiting; a body without an end is cut" {
	serve "$BATS_FILE_TMPDIR/io.sqlite"
	[ "$(bounds slow)" = "10 answered" ]
	[ "$(bounds endless-body)" = cut ]
	[ "$(bounds ask /api/questions)" = 200 ]
}

@test "serve: a request has a time for its head and one for its body, whatever bytes come" {
	serve "$BATS_FILE_TMPDIR/io.sqlite"
	[ "$(bounds drops)" = closed ]
	[ "$(bounds ask /api/questions)" = 200 ]
}
