// SPDX-License-Identifier: BSD-3-Clause
/*
 * Taking things out of the kernel's tables (uprobes/attach/kernel_tables.h), on tables of our own:
 * nothing is lost, nothing is taken that is wanted, every entry is met once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "logfmt/rules/lib_rules.h"
#include "uprobes/attach/kernel_tables.h"
#include "uprobes/wire.h"

struct taken {
	unsigned char *times; /* by number of shape */
	int64_t n;
	unsigned wrong;
};

/* The n-th shape and its key tell of each other. */
static struct scribe_access_pattern shape_of(int64_t n)
{
	return (struct scribe_access_pattern){.bytes = 3 * n, .length = {n, n + 1}, .stride = {1, 2}};
}

static int64_t key_of(int64_t n)
{
	struct scribe_access_pattern s = shape_of(n);

	return scribe_access_pattern_key(&s);
}

static void take(void *ctx, int64_t key, const struct scribe_access_pattern *shape)
{
	struct taken *t = ctx;
	int64_t n = shape->bytes / 3;
	struct scribe_access_pattern want = shape_of(n);

	if (n < 0 || n >= t->n || key != scribe_access_pattern_key(&want) || memcmp(shape, &want, sizeof(want)))
		t->wrong++;
	else
		t->times[n]++;
}

static int table(size_t key_bytes, size_t value_bytes, uint32_t entries)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_NO_PREALLOC);
	int fd = bpf_map_create(BPF_MAP_TYPE_HASH, "scribe_test", (uint32_t)key_bytes, (uint32_t)value_bytes, entries,
				&opts);

	assert_true(fd >= 0);
	return fd;
}

static void put_shapes(int fd, int64_t from, int64_t to)
{
	for (int64_t n = from; n < to; n++) {
		struct scribe_access_pattern s = shape_of(n);
		int64_t key = key_of(n);

		assert_int_equal(bpf_map_update_elem(fd, &key, &s, BPF_NOEXIST), 0);
	}
}

static void shapes_move_when_half_full(void **state)
{
	int64_t half = SCRIBE_ACCESS_PATTERNS_MAX / 2, key;
	int fd = table(sizeof(int64_t), sizeof(struct scribe_access_pattern), SCRIBE_ACCESS_PATTERNS_MAX);
	struct taken t = {.times = calloc((size_t)half + 1, 1), .n = half + 1};
	struct scribe_access_pattern s;

	(void)state;
	assert_non_null(t.times);
	scribe_tables_move_shapes(fd, take, &t); /* empty */
	put_shapes(fd, 0, half - 1);
	scribe_tables_move_shapes(fd, take, &t);
	for (int64_t n = 0; n < half - 1; n++) {
		key = key_of(n);
		assert_int_equal(t.times[n], 0);
		assert_int_equal(bpf_map_lookup_elem(fd, &key, &s), 0);
	}
	put_shapes(fd, half - 1, half);
	scribe_tables_move_shapes(fd, take, &t);
	assert_int_equal(t.wrong, 0);
	for (int64_t n = 0; n < half; n++) {
		key = key_of(n);
		assert_int_equal(t.times[n], 1);
		assert_int_not_equal(bpf_map_lookup_elem(fd, &key, &s), 0);
	}
	/* one that is met again goes on */
	put_shapes(fd, 7, 8);
	scribe_tables_move_shapes(fd, take, &t);
	key = key_of(7);
	assert_int_equal(bpf_map_lookup_elem(fd, &key, &s), 0);
	assert_int_equal(t.times[7], 1);
	free(t.times);
	close(fd);
}

struct living {
	int table;
	unsigned asked;
};

static bool even_lives(void *ctx, uint32_t proc_id)
{
	struct scribe_handle_key late = {.handle = 1, .proc_id = 99999};
	struct living *l = ctx;
	uint64_t value = 1;

	/* one that opens something only now was not among those that were met */
	if (!l->asked++)
		assert_int_equal(bpf_map_update_elem(l->table, &late, &value, BPF_ANY), 0);
	return proc_id % 2 == 0;
}

static void handles_of_the_dead_go(void **state)
{
	uint64_t value = 0;
	struct living l = {.table = table(sizeof(struct scribe_handle_key), sizeof(value), 10000)};
	struct scribe_handle_key late = {.handle = 1, .proc_id = 99999};

	(void)state;
	for (uint32_t i = 0; i < 5000; i++) {
		struct scribe_handle_key key = {.handle = i / 10, .proc_id = i % 10, .layer = i % 3};

		assert_int_equal(bpf_map_update_elem(l.table, &key, &value, BPF_ANY), 0);
	}
	scribe_tables_sweep(l.table, even_lives, &l);
	assert_int_equal(l.asked, 5000);
	for (uint32_t i = 0; i < 5000; i++) {
		struct scribe_handle_key key = {.handle = i / 10, .proc_id = i % 10, .layer = i % 3};

		assert_int_equal(bpf_map_lookup_elem(l.table, &key, &value) == 0, i % 2 == 0);
	}
	assert_int_equal(bpf_map_lookup_elem(l.table, &late, &value), 0);
	scribe_tables_sweep(-1, even_lives, &l); /* a build without the table */
	close(l.table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes_move_when_half_full),
		cmocka_unit_test(handles_of_the_dead_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
