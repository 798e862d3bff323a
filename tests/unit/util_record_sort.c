/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records in another order: the same, and as sorted, whether they fit into memory
 * or go through a file in batches of one record, of some, of many.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "util/logs/record_sort.h"


struct seen {
	struct scribe_record at;
	uint64_t sum; /* of its bytes */
};

static struct seen whole[20000];

static int all(void *ctx, int module)
{
	(void)ctx, (void)module;
	return 1;
}

static struct scribe_reader *open_log(const char *name)
{
	struct scribe_reader *r;
	struct scribe_err err;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", SCRIBE_TEST_DATA, name);
	if (scribe_reader_open(path, &r, &err) < 0)
		fail_msg("%s", err.text);
	return r;
}

static uint64_t sum_of(const struct scribe_record *r)
{
	const unsigned char *p = r->data;
	uint64_t sum = 0;

	for (size_t i = 0; i < r->len; i++)
		sum = sum * 31 + p[i];
	return sum;
}

static size_t records_in(const char *name)
{
	struct scribe_reader *r = open_log(name);
	const void *data;
	size_t n = 0, len;

	for (int i = 0; i < SCRIBE_MAX_MODULES; i++)
		while (scribe_reader_has(r, i) && scribe_reader_borrow_record(r, i, &data, &len) > 0)
			n++;
	scribe_reader_free(r);
	return n;
}

static void one_log(const char *name)
{
	static const size_t batches[] = {0, 1, 3000, 100000};
	size_t want = records_in(name);

	print_message("%s: %zu records\n", name, want);
	assert_true(want > 0 && want < sizeof(whole) / sizeof(whole[0]));
	for (size_t b = 0; b < sizeof(batches) / sizeof(batches[0]); b++) {
		struct scribe_reader *r = open_log(name);
		struct scribe_record_sort *s;
		const struct scribe_record *rec;
		struct scribe_record before = {0};
		struct scribe_err err;
		size_t n = 0;

		assert_int_equal(scribe_record_sort(r, all, NULL, NULL, batches[b], &s, &err), 0);
		for (;; n++) {
			assert_int_equal(scribe_record_sort_next(s, &rec, &err), 0);
			if (!rec)
				break;
			assert_true(n == 0 || scribe_record_compare(&before, rec) <= 0);
			before = *rec;
			if (b == 0) {
				whole[n] = (struct seen){*rec, sum_of(rec)};
				continue;
			}
			assert_int_equal(rec->id, whole[n].at.id);
			assert_int_equal(rec->file, whole[n].at.file);
			assert_int_equal(rec->module, whole[n].at.module);
			assert_int_equal(rec->rank, whole[n].at.rank);
			assert_int_equal(rec->len, whole[n].at.len);
			assert_int_equal(sum_of(rec), whole[n].sum);
		}
		assert_int_equal(n, want);
		assert_int_equal(scribe_record_sort_next(s, &rec, &err), 0);
		assert_null(rec);
		scribe_record_sort_free(s);
		scribe_reader_free(r);
	}
}

static void same_in_any_batch(void **state)
{
	(void)state;
	one_log("logs/mpi-io-test-x86_64-3.5.0.darshan");
	one_log("logs/snyder_ior-DFS_id4681120-53379_5-8-15060-3270540599978592154_1.darshan");
	one_log("logs/skew-app.darshan");
}

/* What both logs have comes under the first one's numbers, the rest behind them. */
static void numbers_of_two(void **state)
{
	struct scribe_reader *r[2] = {open_log("logs/mpi-io-test-x86_64-3.5.0.darshan"),
				      open_log("logs/skew-app.darshan")};
	struct scribe_record_sort *s[3];
	const struct scribe_record *rec, *same;
	struct scribe_err err;
	uint64_t files = 0;

	(void)state;
	assert_int_equal(scribe_record_sort(r[0], all, NULL, NULL, 0, &s[0], &err), 0);
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++)
		scribe_reader_rewind(r[0], i);
	assert_int_equal(scribe_record_sort(r[0], all, NULL, s[0], 1, &s[1], &err), 0);
	assert_int_equal(scribe_record_sort(r[1], all, NULL, s[0], 1, &s[2], &err), 0);
	for (;;) {
		assert_int_equal(scribe_record_sort_next(s[0], &rec, &err), 0);
		assert_int_equal(scribe_record_sort_next(s[1], &same, &err), 0);
		assert_int_equal(!rec, !same);
		if (!rec)
			break;
		assert_int_equal(rec->file, same->file);
		files = rec->file + 1;
	}
	assert_int_equal(scribe_record_sort_next(s[2], &rec, &err), 0);
	assert_non_null(rec);
	assert_true(rec->file >= files); /* no file is in both */
	for (int i = 2; i >= 0; i--)
		scribe_record_sort_free(s[i]);
	scribe_reader_free(r[0]);
	scribe_reader_free(r[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_in_any_batch),
		cmocka_unit_test(numbers_of_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
