// SPDX-License-Identifier: BSD-3-Clause
/*
 * Distinct sizes and strides of records that come together: exact up to the bound, whoever brings
 * them, and bounded whatever a user does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "logfmt/records/posix_finish.h"

#define PROCESSES 400

/* One process: four sizes in the shard, the rest of Darshan's 32 in its table; `first` and up, counts by `times`. */
static void one_process(struct scribe_posix_acc *acc, int64_t first, uint64_t times)
{
	struct scribe_posix_shard shard = {0};
	struct scribe_value_table table = {.used = SCRIBE_TABLE_LIMIT};

	for (int i = 0; i < SCRIBE_TOP_VALUES; i++)
		shard.access[i] = (struct scribe_value){first + i, times};
	for (int i = 0; i < SCRIBE_TABLE_LIMIT; i++)
		table.v[i] = (struct scribe_value){first + SCRIBE_TOP_VALUES + i, times};
	shard.ops[0] = 32 * times;
	assert_int_equal(scribe_posix_acc_add(acc, &shard, &table, NULL), 0);
}

static uint64_t count_of(const struct scribe_posix_acc *acc, int64_t value)
{
	struct scribe_value v;
	uint64_t n = 0;

	for (uint32_t i = 0; scribe_value_map_at(&acc->access, i, &v); i++)
		n += v.value == value ? v.count : 0;
	return n;
}

/* All that the bound promises: eight processes with sizes of their own, and every one is exact. */
static void exact_up_to_the_bound(void **state)
{
	struct scribe_posix_acc acc = {0};

	(void)state;
	for (int p = 0; p < SCRIBE_MAP_MOST / 32; p++)
		one_process(&acc, 1 + p * 32, 10 + (uint64_t)p);
	assert_int_equal(acc.access.used, SCRIBE_MAP_MOST);
	assert_int_equal(acc.access.dropped, 0);
	for (int v = 1; v <= SCRIBE_MAP_MOST; v++)
		assert_int_equal(count_of(&acc, v), 10 + (v - 1) / 32);
	/* known ones go on beyond it */
	one_process(&acc, 1, 1000);
	assert_int_equal(acc.access.dropped, 0);
	assert_int_equal(count_of(&acc, 1), 1010);
	assert_int_equal(count_of(&acc, 32), 1010);
	assert_int_equal(count_of(&acc, 33), 11);
	scribe_posix_acc_free(&acc);
}

static void bounded_beyond(void **state)
{
	struct scribe_posix_acc acc = {0}, all = {0};
	struct scribe_posix_record record;
	struct scribe_value v;
	uint64_t kept = 0;

	(void)state;
	one_process(&acc, 1, 50);
	for (int p = 1; p < PROCESSES; p++)
		one_process(&acc, 1 + p * 32, 3);
	assert_int_equal(acc.access.used, SCRIBE_MAP_MOST);
	assert_true(acc.access.capacity <= 2 * SCRIBE_MAP_MOST);
	for (uint32_t i = 0; scribe_value_map_at(&acc.access, i, &v); i++)
		kept += v.count;
	assert_int_equal(kept + acc.access.dropped, 32 * (50 + 3 * (PROCESSES - 1)));
	assert_int_equal(acc.sum.ops[0], kept + acc.access.dropped);
	/* joined with another such, too; what came first is still the commonest */
	assert_int_equal(scribe_posix_acc_join(&all, &acc), 0);
	one_process(&acc, 1000000, 1);
	assert_int_equal(scribe_posix_acc_join(&all, &acc), 0);
	assert_int_equal(all.access.used, SCRIBE_MAP_MOST);
	scribe_posix_acc_record(&all, 7, 0, 0, 0, 0, 0, 0, &record);
	for (int i = 0; i < SCRIBE_TOP_VALUES; i++) {
		assert_int_equal(record.counters[SCRIBE_POSIX_ACCESS1_ACCESS + i], 32 - i);
		assert_int_equal(record.counters[SCRIBE_POSIX_ACCESS1_COUNT + i], 100);
	}
	scribe_posix_acc_free(&acc);
	scribe_posix_acc_free(&all);
}

/* Counts of two shards are added; what the kernel does not show is -1; nothing but zeros is no record. */
static void page_cache(void **state)
{
	const uint64_t often[SCRIBE_CACHE_OFTEN] = {4096, 8192}, none[SCRIBE_CACHE_ALL] = {0};
	uint64_t seldom[SCRIBE_CACHE_ALL - SCRIBE_CACHE_OFTEN] = {0};
	const uint32_t known = (1u << SCRIBE_CACHE_ALL) - 1;
	struct scribe_posix_acc acc = {0}, all = {0}, fresh = {0};
	struct scribe_ext_shard ext = {{0}};
	struct scribe_cache_record r;

	assert_int_equal(scribe_posix_acc_cache_record(&acc, 7, 0, known, &r), 0);
	seldom[SCRIBE_CACHE_MAJOR_FAULTS - SCRIBE_CACHE_OFTEN] = 3;
	seldom[SCRIBE_CACHE_COUNT + SCRIBE_CACHE_F_FETCH_TIME - SCRIBE_CACHE_OFTEN] = 1500000000;
	scribe_posix_acc_add_cache(&acc, often, seldom);
	scribe_posix_acc_add_cache(&acc, none, none);
	assert_int_equal(scribe_posix_acc_join(&all, &acc), 0);
	assert_int_equal(scribe_posix_acc_join(&all, &acc), 0);
	assert_int_equal(scribe_posix_acc_cache_record(&all, 7, 5, known & ~(1u << SCRIBE_CACHE_BYTES_DIRTIED), &r), 1);
	assert_int_equal(r.base.id, 7);
	assert_int_equal(r.base.rank, 5);
	assert_int_equal(r.counters[SCRIBE_CACHE_BYTES_FETCHED], 8192);
	assert_int_equal(r.counters[SCRIBE_CACHE_BYTES_DIRTIED], -1);
	assert_int_equal(r.counters[SCRIBE_CACHE_MAJOR_FAULTS], 6);
	assert_true(r.fcounters[SCRIBE_CACHE_F_FETCH_TIME] == 3.0);
	assert_true(r.fcounters[SCRIBE_CACHE_F_THROTTLED_TIME] == 0);
	assert_int_equal(scribe_posix_acc_cache_record(&all, 7, 0, 0, &r), 0);
	/* of all faults, fewer than those that fetched: some were requests for read-ahead */
	assert_int_equal(scribe_posix_acc_cache_record(&all, 7, 0, known, &r), 1);
	assert_int_equal(r.counters[SCRIBE_CACHE_MINOR_FAULTS], 0);
	seldom[SCRIBE_CACHE_MINOR_FAULTS - SCRIBE_CACHE_OFTEN] = 10;
	scribe_posix_acc_add_cache(&all, none, seldom);
	assert_int_equal(scribe_posix_acc_cache_record(&all, 7, 0, known, &r), 1);
	assert_int_equal(r.counters[SCRIBE_CACHE_MAJOR_FAULTS], 9);
	assert_int_equal(r.counters[SCRIBE_CACHE_MINOR_FAULTS], 1);
	assert_int_equal(scribe_posix_acc_cache_record(&all, 7, 0, known & ~(1u << SCRIBE_CACHE_MAJOR_FAULTS), &r), 1);
	assert_int_equal(r.counters[SCRIBE_CACHE_MINOR_FAULTS], 10);
	all.faults_lost = true;
	assert_int_equal(scribe_posix_acc_cache_record(&all, 7, 0, known, &r), 1);
	assert_int_equal(r.counters[SCRIBE_CACHE_MINOR_FAULTS], -1);
	assert_int_equal(r.counters[SCRIBE_CACHE_BYTES_FETCHED], 8192);
	/* a file that another kernel thread read */
	ext.v[SCRIBE_EXT_URING_OPS] = 1;
	assert_int_equal(scribe_posix_acc_add_ext(&fresh, &ext), 0);
	assert_int_equal(scribe_posix_acc_cache_record(&fresh, 7, 0, known, &r), 1);
	assert_int_equal(r.counters[SCRIBE_CACHE_BYTES_FETCHED], -1);
	assert_true(r.fcounters[SCRIBE_CACHE_F_FETCH_TIME] == -1);
	assert_int_equal(r.counters[SCRIBE_CACHE_MAJOR_FAULTS], 0);
	scribe_posix_acc_free(&acc);
	scribe_posix_acc_free(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_up_to_the_bound),
		cmocka_unit_test(bounded_beyond),
		cmocka_unit_test(page_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
