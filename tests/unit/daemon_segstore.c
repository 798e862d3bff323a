// SPDX-License-Identifier: BSD-3-Clause
/*
 * Segments kept packed: what comes out is what was put in, sorted by start, whatever
 * the order, in memory and from the file; the bound holds, and everything is given back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/daemon/segments/segment_pack.h"
#include "runtime/daemon/segments/segment_store.h"
#include "tests/harness/seed.h"

#define TRACKS 40
#define MANY   200000

static uint64_t state = 0x9e3779b97f4a7c15;

static uint64_t random_bits(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void assert_same(const struct scribe_seg *a, const struct scribe_seg *b)
{
	assert_int_equal(a->start_ns, b->start_ns);
	assert_int_equal(a->end_ns, b->end_ns);
	assert_int_equal(a->offset, b->offset);
	assert_int_equal(a->bytes, b->bytes);
	assert_int_equal(a->thread, b->thread);
}

static void packs_extremes(void **unused)
{
	const struct scribe_seg all[] = {
		{0, 0, 0, 0, 0},
		{INT64_MAX, UINT64_MAX, 1, UINT64_MAX, UINT64_MAX},
		{INT64_MIN, 1, 1, 1, 7},
		{-1, 0, UINT64_MAX - 1, UINT64_MAX, 7},
		{4096, 4096, UINT64_MAX, UINT64_MAX, 7},
	};
	unsigned char bytes[5 * SCRIBE_SEGPACK_MOST];
	struct scribe_segpack put = {0}, get = {0};
	size_t n = 0, at = 0;

	(void)unused;
	for (size_t i = 0; i < 5; i++) {
		size_t more = scribe_segpack_put(&put, &all[i], bytes + n);

		assert_in_range(more, 3, SCRIBE_SEGPACK_MOST);
		n += more;
	}
	for (size_t i = 0; i < 5; i++) {
		struct scribe_segpack before = get;
		struct scribe_seg seg = {0};
		size_t took = scribe_segpack_get(&get, bytes + at, n - at, &seg);

		assert_true(took > 0);
		assert_same(&seg, &all[i]);
		/* not one that is cut */
		for (size_t cut = 0; cut < took; cut++) {
			struct scribe_segpack again = before;

			assert_int_equal(scribe_segpack_get(&again, bytes + at, cut, &seg), 0);
		}
		at += took;
	}
	assert_int_equal(at, n);
}

static void regular_is_small(void **unused)
{
	struct scribe_segpack p = {0};
	unsigned char bytes[SCRIBE_SEGPACK_MOST];
	size_t n = 0;

	(void)unused;
	for (uint64_t i = 0; i < 1000; i++) {
		const struct scribe_seg seg = {(int64_t)(i * 4096), 4096, i * 5000, i * 5000 + 900, 1};

		n += scribe_segpack_put(&p, &seg, bytes);
	}
	assert_in_range(n, 3000, 6000);
}

static int by_start(const void *a, const void *b)
{
	const struct scribe_seg *x = a, *y = b;

	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* Starts are all different, so that there is one order. */
static struct scribe_seg segment(uint64_t i, uint64_t disorder)
{
	const uint64_t start = (i ^ (random_bits() & disorder)) << 20 | i;

	return (struct scribe_seg){(int64_t)(random_bits() % (1 << 30)), random_bits() % 70000, start,
				   start + random_bits() % 100000, (uint32_t)(random_bits() % 3)};
}

/* Tracks at random; then each is read back and held against what was put in. */
static void round_trip(struct scribe_segpool *pool, uint64_t disorder, size_t n)
{
	static struct scribe_track tracks[TRACKS];
	struct scribe_seg *put = calloc(n, sizeof(*put));
	unsigned *where = calloc(n, sizeof(*where));
	struct scribe_segstore store;
	size_t found = 0;

	scribe_segstore_open(&store, pool);
	for (size_t i = 0; i < n; i++) {
		put[i] = segment(i, disorder);
		where[i] = (unsigned)(random_bits() % (2 * TRACKS));
		assert_int_equal(scribe_track_add(&store, &tracks[where[i] / 2], where[i], &put[i]), 0);
		assert_true(pool->memory <= pool->memory_most + 65536);
	}
	/* two tracks at a time, as records of two processes are */
	for (unsigned t = 0; t < TRACKS; t += 2)
		for (unsigned side = 0; side < 2; side++) {
			struct scribe_track *both[] = {&tracks[t], &tracks[t + 1]};
			struct scribe_seg *want = calloc(n, sizeof(*want)), seg;
			struct scribe_segmerge m;
			size_t wanted = 0, at = 0;
			int rc;

			for (size_t i = 0; i < n; i++)
				if (where[i] / 4 == t / 2 && where[i] % 2 == side)
					want[wanted++] = put[i];
			qsort(want, wanted, sizeof(*want), by_start);
			assert_int_equal(scribe_segmerge_begin(&m, both, 2, side), 0);
			while ((rc = scribe_segmerge_next(&m, &seg)) > 0) {
				assert_true(at < wanted);
				assert_same(&seg, &want[at]);
				at++;
			}
			assert_int_equal(rc, 0);
			assert_int_equal(at, wanted);
			assert_int_equal(both[0]->side[side].n + both[1]->side[side].n, wanted);
			found += at;
			scribe_segmerge_end(&m);
			free(want);
		}
	assert_int_equal(found, n);
	for (unsigned t = 0; t < TRACKS; t++)
		scribe_track_clear(&store, &tracks[t]);
	scribe_segstore_close(&store);
	assert_int_equal(pool->memory, 0);
	assert_int_equal(pool->file, 0);
	assert_null(pool->runs);
	free(where);
	free(put);
}

static void in_memory(void **unused)
{
	struct scribe_segpool pool = {.memory_most = 64 << 20};

	(void)unused;
	round_trip(&pool, 0, MANY);
	round_trip(&pool, 0xff, MANY);   /* as from threads, leaf by leaf */
	round_trip(&pool, 0xffff, 2000); /* as of asynchronous I/O of great depth */
}

static void through_the_file(void **unused)
{
	struct scribe_segpool pool = {.memory_most = 1 << 20, .file_most = 1ull << 30, .dir = "/tmp"};

	(void)unused;
	round_trip(&pool, 0, MANY);
	round_trip(&pool, 0x3f, MANY);
}

static void bound_holds(void **unused)
{
	struct scribe_segpool pool = {.memory_most = 128 << 10, .file_most = 256 << 10, .dir = "/tmp"};
	struct scribe_segstore store;
	struct scribe_track track = {0};
	size_t kept = 0, refused = 0;

	(void)unused;
	scribe_segstore_open(&store, &pool);
	for (uint64_t i = 0; i < MANY; i++) {
		const struct scribe_seg seg = segment(i, 0);
		int rc = scribe_track_add(&store, &track, 1, &seg);

		assert_true(rc == 0 || rc == -ENOSPC);
		kept += rc == 0;
		refused += rc != 0;
		assert_true(pool.memory <= pool.memory_most + 4096);
		assert_true(pool.file <= pool.file_most);
	}
	assert_true(refused > 0 && kept > 20000);
	assert_int_equal(track.side[1].n, kept);
	scribe_track_clear(&store, &track);
	scribe_segstore_close(&store);
	assert_int_equal(pool.memory, 0);
}

static void no_file_no_harm(void **unused)
{
	struct scribe_segpool pool = {.memory_most = 64 << 10, .file_most = 1 << 20, .dir = "/nowhere"};

	struct scribe_segstore store;
	struct scribe_track track = {0};
	size_t refused = 0;

	(void)unused;
	scribe_segstore_open(&store, &pool);
	for (uint64_t i = 0; i < 20000; i++) {
		const struct scribe_seg seg = segment(i, 0);

		refused += scribe_track_add(&store, &track, 0, &seg) == -ENOSPC;
	}
	assert_int_equal(track.side[0].n + refused, 20000);
	assert_true(refused > 1000);
	scribe_track_clear(&store, &track);
	scribe_segstore_close(&store);
}

/* Very many tracks: what is left in memory when all is in the file is not looked through for each segment
 * more. */
static void many_tracks(void **unused)
{
	struct scribe_segpool pool = {.memory_most = 1 << 20, .file_most = 1ull << 30, .dir = "/tmp"};
	static struct scribe_track many[20000];
	struct scribe_segstore store;
	size_t kept = 0, refused = 0, looks = 0, n = 0;

	(void)unused;
	scribe_segstore_open(&store, &pool);
	for (uint64_t i = 0; i < 20000; i++) {
		const struct scribe_seg seg = segment(i, 0);
		int rc = scribe_track_add(&store, &many[i], 0, &seg);

		assert_true(rc == 0 || rc == -ENOSPC);
		kept += rc == 0;
		refused += rc != 0;
		looks += rc != 0 && pool.skip == 0; /* the next one looks again */
		n += many[i].side[0].n;
	}
	assert_true(kept > 4000 && refused > 1000);
	assert_true(looks <= refused / 1000);
	assert_int_equal(n, kept);
	for (size_t i = 0; i < 20000; i++)
		scribe_track_clear(&store, &many[i]);
	scribe_segstore_close(&store);
	assert_int_equal(pool.memory, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packs_extremes), cmocka_unit_test(regular_is_small),
		cmocka_unit_test(in_memory),      cmocka_unit_test(through_the_file),
		cmocka_unit_test(bound_holds),    cmocka_unit_test(no_file_no_harm),
		cmocka_unit_test(many_tracks),
	};

	state = scribe_test_seed(state);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
