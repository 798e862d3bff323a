/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables whose keys users and logs choose: keys that met in one place, while places were found by a public
 * multiplication, are as good as any. Counted by steps, not by time: the longest rows of taken places decide
 * what a look-up costs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "logfmt/base/keyed.h"
#include "logfmt/nodes/id_table.h"
#include "logfmt/records/bundle.h"
#include "logfmt/records/hashmap.h"
#include "tests/harness/chosen.h"

#define KEYS 100000

/* So many steps do searches for what is not there take, from each place once. */
struct steps {
	uint64_t row, all;
};

static void step(struct steps *s, int taken)
{
	s->row = taken ? s->row + 1 : 0;
	s->all += s->row;
}

static uint64_t map_steps(uint64_t (*key)(uint64_t i))
{
	struct scribe_map map = {0};
	struct steps s = {0};

	for (uint64_t i = 1; i <= KEYS; i++)
		assert_int_equal(scribe_map_put(&map, key(i), &map), 0);
	assert_int_equal(map.used, KEYS);
	for (size_t i = 0; i < map.buckets; i++)
		step(&s, map.entry[i].value != NULL);
	scribe_map_clear(&map);
	return s.all;
}

static uint64_t id_table_steps(uint64_t (*key)(uint64_t i))
{
	struct scribe_id_table table = {0};
	struct steps s = {0};

	for (uint64_t i = 1; i <= KEYS; i++)
		assert_int_equal(scribe_id_table_add(&table, &(struct scribe_id_seen){.id = key(i), .records = 1}), 0);
	assert_int_equal(table.used, KEYS);
	for (size_t i = 0; i < table.slots; i++)
		step(&s, table.slot[i].records != 0);
	scribe_id_table_clear(&table);
	return s.all;
}

static void chosen_keys_cost_what_others_do(void **state)
{
	(void)state;
	assert_true(map_steps(chosen_id) < 2 * map_steps(other_id));
	assert_true(id_table_steps(chosen_id) < 2 * id_table_steps(other_id));
}

/* Records of a log: pairs of id and rank that met in one key were one chain. */
static void chosen_ranks_make_no_chain(void **state)
{
	struct scribe_bundle b = {0};

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		struct scribe_posix_record r = {
			.base = {.id = 7 ^ (i + 1) * 0x9e3779b97f4a7c15ull, .rank = (int64_t)i}};

		assert_int_equal(scribe_bundle_add(&b, SCRIBE_MOD_POSIX, &r, sizeof(r)), 0);
	}
	assert_int_equal(b.n, 1000);
	for (size_t i = 0; i < b.n; i++)
		assert_null(b.rec[i]->same);
	scribe_bundle_clear(&b);
}

/* The order of a table is no order for an output. */
static void keys_come_in_their_order(void **state)
{
	struct scribe_map map = {0};
	uint64_t *keys;

	(void)state;
	for (uint64_t i = 1; i <= 1000; i++)
		assert_int_equal(scribe_map_put(&map, other_id(i), &map), 0);
	keys = scribe_map_keys(&map);
	assert_non_null(keys);
	for (size_t i = 1; i < map.used; i++)
		assert_true(keys[i - 1] < keys[i]);
	assert_ptr_equal(scribe_map_get(&map, keys[0]), &map);
	free(keys);
	scribe_map_clear(&map);
	keys = scribe_map_keys(&map);
	assert_non_null(keys);
	free(keys);
}

/* Each byte of a key counts, and its length; no length reads beyond the key. */
static void every_byte_counts(void **state)
{
	(void)state;
	for (size_t len = 0; len < 40; len++) {
		unsigned char *key = calloc(1, len + 1), *exact = malloc(len ? len : 1);
		const uint64_t zeros = scribe_keyed(key, len);

		assert_int_not_equal(zeros, scribe_keyed(key, len + 1));
		for (size_t i = 0; i < len; i++) {
			memset(exact, 0, len);
			exact[i] = 1;
			assert_int_not_equal(zeros, scribe_keyed(exact, len));
		}
		assert_int_equal(zeros, scribe_keyed(key, len));
		free(key);
		free(exact);
	}
	assert_int_equal(scribe_keyed(NULL, 0), scribe_keyed("", 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chosen_keys_cost_what_others_do),
		cmocka_unit_test(chosen_ranks_make_no_chain),
		cmocka_unit_test(keys_come_in_their_order),
		cmocka_unit_test(every_byte_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
