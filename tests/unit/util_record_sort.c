/* SPDX-License-Identifier: BSD-3-Clause */
/* Records in another order: each record of the log once, with its bytes, and sorted. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "util/logs/record_sort.h"

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

/* Records and the sum of their bytes, whatever their order. */
struct total {
	size_t n;
	uint64_t sum;
};

static void count(struct total *t, const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t sum = 0;

	for (size_t i = 0; i < len; i++)
		sum = sum * 31 + p[i];
	t->sum += sum;
	t->n++;
}

static struct total read_straight(const char *name)
{
	struct scribe_reader *r = open_log(name);
	struct total t = {0};
	const void *data;
	size_t len;

	for (int i = 0; i < SCRIBE_MAX_MODULES; i++)
		while (scribe_reader_has(r, i) && scribe_reader_borrow_record(r, i, &data, &len) > 0)
			count(&t, data, len);
	scribe_reader_free(r);
	return t;
}

static void one_log(const char *name)
{
	struct total want = read_straight(name), have = {0};
	struct scribe_reader *r = open_log(name);
	struct scribe_record_sort *s;
	const struct scribe_record *rec;
	struct scribe_record before = {0};
	struct scribe_err err;

	print_message("%s: %zu records\n", name, want.n);
	assert_true(want.n > 0);
	assert_int_equal(scribe_record_sort(r, all, NULL, NULL, &s, &err), 0);
	while (scribe_record_sort_next(s, &rec, &err) == 0 && rec) {
		const struct scribe_base_record *base = rec->data;

		assert_true(have.n == 0 || scribe_record_compare(&before, rec) <= 0);
		assert_int_equal(base->id, rec->id);
		assert_int_equal(base->rank, rec->rank);
		before = *rec;
		count(&have, rec->data, rec->len);
	}
	assert_int_equal(have.n, want.n);
	assert_int_equal(have.sum, want.sum);
	assert_int_equal(scribe_record_sort_next(s, &rec, &err), 0);
	assert_null(rec);
	scribe_record_sort_free(s);
	scribe_reader_free(r);
}

static void all_records_sorted(void **state)
{
	(void)state;
	one_log("logs/mpi-io-test-x86_64-3.5.0.darshan");
	one_log("logs/snyder_ior-DFS_id4681120-53379_5-8-15060-3270540599978592154_1.darshan");
	one_log("logs/skew-app.darshan");
}

static void no_place_for_them(void **state)
{
	struct scribe_reader *r = open_log("logs/skew-app.darshan");
	struct scribe_record_sort *s;
	struct scribe_err err;

	(void)state;
	setenv("TMPDIR", "/nowhere", 1);
	assert_int_equal(scribe_record_sort(r, all, NULL, NULL, &s, &err), -ENOENT);
	assert_string_equal(err.text, "a temporary file in /nowhere (TMPDIR): No such file or directory");
	assert_null(s);
	unsetenv("TMPDIR");
	scribe_reader_free(r);
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
	assert_int_equal(scribe_record_sort(r[0], all, NULL, NULL, &s[0], &err), 0);
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++)
		scribe_reader_rewind(r[0], i);
	assert_int_equal(scribe_record_sort(r[0], all, NULL, s[0], &s[1], &err), 0);
	assert_int_equal(scribe_record_sort(r[1], all, NULL, s[0], &s[2], &err), 0);
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
		cmocka_unit_test(all_records_sorted),
		cmocka_unit_test(no_place_for_them),
		cmocka_unit_test(numbers_of_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
