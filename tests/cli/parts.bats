# SPDX-License-Identifier: BSD-3-Clause
# ioscribe merge DIRECTORY: the parts of a job of many nodes, made by tests/bench/make_parts; of each 4 ranks, which have
# one file in common, and 6 files of their own.

load helper
bats_require_minimum_version 1.5.0

NODES=200
PARTS=u_app_id4242.parts
WORLD=00112233aabbccdd

setup_file() {
	mkdir -m 700 "$BATS_FILE_TMPDIR/$PARTS"
	"$(built bench/make_parts)" "$BATS_FILE_TMPDIR/$PARTS" $NODES 4 10
}

# A fresh copy of the parts, in the current directory.
copy() {
	cd "$BATS_TEST_TMPDIR"
	rm -rf "$PARTS" ./*.darshan
	cp -a "$BATS_FILE_TMPDIR/$PARTS" .
}

log() {
	ls "$PWD"/u_app_id4242_*.darshan
}

@test "one log, each record once, that of all ranks a shared one" {
	copy
	# the oracle: every part by itself
	for f in "$PARTS"/*.part; do "$IOSCRIBE" parse "$f"; done | grep '^POSIX' >all
	run -0 "$IOSCRIBE" merge --threads 3 "$PARTS"
	[ ! -e "$PARTS" ]
	"$IOSCRIBE" parse "$(log)" >one
	grep -qx "# nprocs: $((4 * NODES))" one
	! grep -q missing_nodes one || return 1
	diff <(grep 'node[0-9]' all | sort) <(grep '^POSIX	[0-9]' one | sort)
	for c in POSIX_OPENS POSIX_WRITES POSIX_BYTES_WRITTEN POSIX_SIZE_WRITE_1K_10K; do
		[ "$(awk -F'\t' -v c=$c '/shared.h5/ && $4 == c { print $5 }' one)" = \
			"$(awk -F'\t' -v c=$c '/shared.h5/ && $4 == c { n += $5 } END { print n }' all)" ]
	done
	[ "$(grep -c '	POSIX_OPENS	' one)" = $((6 * NODES + 1)) ]
	[ "$(grep '^PROCESS' one | cut -f2,3 | sort -u | wc -l)" = $((4 * NODES)) ]
}

@test "the number of threads changes no byte" {
	copy
	"$IOSCRIBE" merge --threads 1 "$PARTS"
	mv "$(log)" one
	copy
	"$IOSCRIBE" merge --threads 4 "$PARTS"
	cmp one "$(log)"
}

@test "parts that are cut short, changed or there twice are named, one line each, and nothing is made" {
	copy
	chmod u+w "$PARTS"/*.part
	truncate -s -20 "$PARTS/$WORLD.node00003.part"
	printf '\125\252\125' | dd of="$PARTS/$WORLD.node00150.part" bs=1 seek=1500 conv=notrunc status=none
	cp "$PARTS/$WORLD.node00010.part" "$PARTS/$WORLD.node00777.part"
	ls "$PARTS" >before
	run -1 --separate-stderr "$IOSCRIBE" merge "$PARTS"
	[ -z "$output" ]
	[ "$(grep -c 'node00003.part' <<<"$stderr")" = 1 ]
	[ "$(grep -c 'node00150.part' <<<"$stderr")" = 1 ]
	[ "$(grep -c 'node00777.part: rank 40 is in the part of node00010, too' <<<"$stderr")" = 1 ]
	grep -q "3 of 201 parts of $WORLD cannot be used" <<<"$stderr"
	[ "$(wc -l <<<"$stderr")" = 4 ]
	diff before <(ls "$PARTS")
	run -0 --separate-stderr "$IOSCRIBE" merge --without-bad "$PARTS"
	# of 198 nodes, and not all ranks have the common file now
	"$IOSCRIBE" parse --show-incomplete "$(log)" >one
	[ "$(grep -c '	POSIX_OPENS	' one)" = $((198 * 10)) ]
	! grep -q 'node00003-\|node00150-' one || return 1
	[ "$(ls "$PARTS"/*.part | wc -l)" = 3 ]
	grep -q 'lacks what these nodes had: node00003,node00150,node00777' <<<"$stderr"
}

@test "a merge that could not end goes on behind the batches that were done" {
	copy
	"$IOSCRIBE" merge --threads 1 "$PARTS"
	mv "$(log)" whole
	copy
	mkdir "$PARTS/$WORLD.2.batch" # in the way of the third of four
	run -1 "$IOSCRIBE" merge --threads 1 "$PARTS"
	[[ "$output" == *"$WORLD.2.batch"* ]]
	[ "$(ls "$PARTS"/*.part | wc -l)" = $NODES ]
	rmdir "$PARTS/$WORLD.2.batch"
	run -0 --separate-stderr "$IOSCRIBE" merge --threads 1 "$PARTS"
	grep -q "going on where a merge of $WORLD stopped: 2 of 4 batches were done" <<<"$stderr"
	cmp whole "$(log)"
	[ ! -e "$PARTS" ]
}

@test "a merge that was killed goes on, and who died holds no claim" {
	copy
	"$IOSCRIBE" merge --threads 1 "$PARTS"
	mv "$(log)" whole
	copy
	"$IOSCRIBE" merge --threads 1 "$PARTS" &
	until compgen -G "$PARTS/*.batch" >/dev/null || ! kill -0 $!; do :; done
	kill -KILL $! && wait $! || true
	[ -e "$PARTS/merging" ] # it was in the midst of it
	run -0 "$IOSCRIBE" merge "$PARTS"
	cmp whole "$(log)"
}
