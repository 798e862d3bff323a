/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layouts of Lustre files, from blobs (tests/data/lov, make.py says of what) to
 * records; damaged ones give nothing that is out of bounds.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/core/lov.h"

#define MIB (1ll << 20)

struct expected {
	const char *name;
	int64_t comps, stripes;
	struct scribe_lustre_comp comp[3]; /* size, count, pattern, flags, start, end, mirror */
	int64_t ost[8];
};

static const struct expected expected[] = {
	{"unknown", 0, 0, {{{0}, ""}}, {0}},
	{"untouched", 0, 0, {{{0}, ""}}, {0}},
	{"plain", 1, 2, {{{MIB, 2, 0, 0, 0, -1, 0}, ""}}, {3, 7}},
	{"big_endian", 1, 2, {{{MIB, 2, 0, 0, 0, -1, 0}, ""}}, {3, 7}},
	{"pool", 1, 4, {{{4 * MIB, 4, 0, 0, 0, -1, 0}, "flash"}}, {1, 2, 3, 0}},
	{"pool_full", 1, 1, {{{MIB, 1, 0, 0, 0, -1, 0}, "abcdefghijklmno"}}, {9}},
	{"overstriped", 1, 4, {{{MIB, 4, 4, 0, 0, -1, 0}, ""}}, {0, 0, 1, 1}},
	/* moved to an archive: it has no objects */
	{"released", 1, 2, {{{MIB, 2, 0x80000001ll, 0, 0, -1, 0}, ""}}, {-1, -1}},
	{"pfl",
	 2,
	 5,
	 {{{MIB, 1, 0, 0x10, 0, MIB, 0}, ""}, {{MIB, 4, 0, 0x10, MIB, 256 * MIB, 0}, "disk"}},
	 {5, 6, 7, 8, 0}},
	{"dom", 2, 1, {{{MIB, 0, 2, 0x10, 0, MIB, 0}, ""}, {{4 * MIB, 1, 0, 0x10, MIB, -1, 0}, ""}}, {2}},
	{"flr", 2, 3, {{{MIB, 2, 0, 0x10, 0, -1, 1}, "flash"}, {{4 * MIB, 1, 0, 0x11, 0, -1, 2}, "disk"}}, {1, 2, 12}},
	{"sel", 1, 1, {{{MIB, 1, 0, 0x10, 0, 64 * MIB, 0}, ""}}, {4}},
	{"foreign", 1, 0, {{{0, 0, 8, 0, 0, -1, 0}, ""}}, {0}},
	{"flr_foreign", 2, 1, {{{MIB, 1, 0, 0x10, 0, -1, 1}, ""}, {{0, 0, 8, 0x10, 0, -1, 2}, ""}}, {1}},
};

static size_t read_blob(const char *name, uint8_t *to, size_t cap)
{
	char path[512];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), SCRIBE_TEST_DATA "/lov/%s.lov", name);
	fd = open(path, O_RDONLY);
	n = fd < 0 ? -1 : read(fd, to, cap);
	if (n <= 0)
		fail_msg("%s", path);
	close(fd);
	return (size_t)n;
}

/* The record of exactly these bytes, in exactly its own memory; NULL none. */
static struct scribe_lustre_record *record_of(const uint8_t *blob, size_t bytes, size_t *ret_len)
{
	uint8_t *own = malloc(bytes ? bytes : 1);
	struct scribe_lustre_record *r = NULL;

	assert_non_null(own);
	if (bytes)
		memcpy(own, blob, bytes);
	*ret_len = scribe_lov_record(own, bytes, NULL);
	if (*ret_len) {
		r = calloc(1, *ret_len);
		assert_non_null(r);
		assert_int_equal(scribe_lov_record(own, bytes, r), *ret_len);
		assert_int_equal(*ret_len,
				 sizeof(*r) + (size_t)r->num_comps * sizeof(r->comps[0]) + (size_t)r->num_stripes * 8);
	}
	free(own);
	return r;
}

static void each_form(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		const struct expected *x = &expected[i];
		uint8_t blob[4096];
		size_t n = read_blob(x->name, blob, sizeof(blob)), len;
		struct scribe_lustre_record *r = record_of(blob, n, &len);

		print_message("%s\n", x->name);
		assert_int_equal(r ? r->num_comps : 0, x->comps);
		if (!r)
			continue;
		assert_int_equal(r->num_stripes, x->stripes);
		assert_memory_equal(r->comps, x->comp, (size_t)x->comps * sizeof(r->comps[0]));
		if (x->stripes)
			assert_memory_equal(&r->comps[x->comps], x->ost, (size_t)x->stripes * 8);
		free(r);
	}
}

static void cut_and_flipped(void **state)
{
	size_t records = 0, len;

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		uint8_t blob[4096];
		size_t n = read_blob(expected[i].name, blob, sizeof(blob));

		for (size_t cut = 0; cut < n; cut++)
			free(record_of(blob, cut, &len));
		for (size_t bit = 0; bit < 8 * n; bit++) {
			struct scribe_lustre_record *r;

			blob[bit / 8] ^= (uint8_t)(1u << bit % 8);
			r = record_of(blob, n, &len);
			records += r != NULL;
			assert_true(len < 1u << 20);
			free(r);
			blob[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
	}
	assert_true(records > 1000); /* most of what changes is not the form */
}

/* 1,300 components that all point at one blob of 65,000 stripes: refused, not allocated. */
static void stripes_without_end(void **state)
{
	enum { ENTRIES = 1300, BYTES = 32 + 48 * ENTRIES + 32 };
	uint8_t *blob = calloc(1, BYTES);
	uint32_t word;

	(void)state;
	assert_non_null(blob);
	word = 0x0BD60BD0;
	memcpy(blob, &word, 4);
	word = ENTRIES << 16;
	memcpy(blob + 12, &word, 4);
	for (int i = 0; i < ENTRIES; i++) {
		uint32_t entry[12] = {[1] = 0x10, [6] = 32 + 48 * ENTRIES, [7] = 32};

		memcpy(blob + 32 + 48 * i, entry, sizeof(entry));
	}
	word = 0x0BD10BD0;
	memcpy(blob + 32 + 48 * ENTRIES, &word, 4);
	word = 1;
	memcpy(blob + 32 + 48 * ENTRIES + 4, &word, 4);
	word = 40;
	memcpy(blob + 32 + 48 * ENTRIES + 28, &word, 4);
	assert_int_equal(scribe_lov_record(blob, BYTES, NULL),
			 sizeof(struct scribe_lustre_record) + ENTRIES * (72 + 40 * 8));
	word = 65000;
	memcpy(blob + 32 + 48 * ENTRIES + 28, &word, 4);
	assert_int_equal(scribe_lov_record(blob, BYTES, NULL), 0);
	free(blob);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_form),
		cmocka_unit_test(cut_and_flipped),
		cmocka_unit_test(stripes_without_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
