/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of any bytes: through writer and reader, as text, in the table. */
#include "logfmt_support.h"

#include "logfmt/file/names.h"

/* ---- names ---- */
static void names_of_any_bytes(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		int printable;
		const char *escaped;
	} cases[] = {
		{"", 0, 1, ""},
		{"/a b", 4, 1, "/a b"},
		{"/a\nb", 4, 0, "/a\\nb"},
		{"/a\tb\\", 5, 0, "/a\\tb\\\\"},
		{"\x01\xff\xfe", 3, 0, "\\x01\\xff\\xfe"},
		{"/gr\xc3\xbc\xc3\x9f", 7, 1, "/gr\xc3\xbc\xc3\x9f"},
		{"\xc0\xaf", 2, 0, "\\xc0\\xaf"},          /* overlong */
		{"\xed\xa0\x80", 3, 0, "\\xed\\xa0\\x80"}, /* surrogate */
		{"\xf0\x9f\x92\xbe", 4, 1, "\xf0\x9f\x92\xbe"},
		{"\xe2\x82", 2, 0, "\\xe2\\x82"}, /* cut */
		{"\x7f", 1, 0, "\\x7f"},
	};
	size_t n = sizeof(cases) / sizeof(cases[0]), longest = SCRIBE_MAX_NAME_BYTES;
	struct scribe_writer *w;
	struct scribe_reader *r;
	struct scribe_name name;
	char *big = malloc(longest), out[64], back[64];
	int fd = memory_file();

	memset(big, 'n', longest);
	assert_int_equal(scribe_writer_create_fd(fd, NULL, &w, NULL), 0);
	assert_int_equal(scribe_writer_job(w, some_job(), "x", NULL, 0), 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(scribe_writer_name(w, i, cases[i].bytes, cases[i].len), 0);
	assert_int_equal(scribe_writer_name(w, 99, big, longest), 0);
	assert_int_equal(scribe_writer_finish(w), 0);
	scribe_writer_free(w);
	r = must_open(fd);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(scribe_reader_next_name(r, &name), 1);
		assert_int_equal(name.id, i);
		assert_int_equal(name.len, cases[i].len);
		assert_memory_equal(name.bytes, cases[i].bytes, name.len);
		assert_int_equal(name.bytes[name.len], 0);
		/* a lone backslash prints, but its escape doubles it */
		if (!memchr(cases[i].bytes, '\\', cases[i].len))
			assert_int_equal(scribe_name_printable(name.bytes, name.len), cases[i].printable);
		assert_int_equal(scribe_name_escape(name.bytes, name.len, out, sizeof(out)), strlen(cases[i].escaped));
		assert_string_equal(out, cases[i].escaped);
		assert_int_equal(scribe_name_unescape(out, strlen(out), back), cases[i].len);
		assert_memory_equal(back, cases[i].bytes, cases[i].len);
	}
	assert_int_equal(scribe_reader_next_name(r, &name), 1);
	assert_int_equal(name.len, longest);
	assert_int_equal(scribe_reader_next_name(r, &name), 0);
	scribe_reader_free(r);
	close(fd);
	free(big);
}

/* Names with NULs: exact and first for us, their escape for who takes C strings. */
static void exact_names(void **state)
{
	static const char oid[] = "\0\1\2\0\xff";
	size_t longest = SCRIBE_MAX_NAME_BYTES, seen = 0;
	char *big = calloc(1, longest);
	struct scribe_writer *w;
	struct scribe_reader *r;
	struct scribe_name name;
	int fd = memory_file();

	memcpy(big, "big", 3);
	assert_int_equal(scribe_writer_create_fd(fd, NULL, &w, NULL), 0);
	assert_int_equal(scribe_writer_job(w, some_job(), "x", NULL, 0), 0);
	assert_int_equal(scribe_writer_name(w, 1, "plain", 5), 0);
	assert_int_equal(scribe_writer_name(w, 2, oid, sizeof(oid)), 0);
	assert_int_equal(scribe_writer_name(w, 3, big, longest), 0);
	assert_int_equal(scribe_writer_finish(w), 0);
	scribe_writer_free(w);
	r = must_open(fd);
	assert_int_equal(scribe_reader_info(r)->unknown, 0);
	assert_int_equal(scribe_reader_header(r)->mod_map[SCRIBE_EXACT_NAMES].len, 0);
	for (int pass = 0; pass < 2; pass++) { /* the second after rewinding */
		assert_int_equal(scribe_reader_next_name(r, &name), 1);
		assert_int_equal(name.id, 2);
		assert_int_equal(name.len, sizeof(oid));
		assert_memory_equal(name.bytes, oid, sizeof(oid));
		assert_int_equal(scribe_reader_next_name(r, &name), 1);
		assert_int_equal(name.id, 3);
		assert_int_equal(name.len, longest);
		assert_memory_equal(name.bytes, big, longest);
		scribe_reader_rewind_names(r);
	}
	scribe_reader_plain_names(r, true);
	while (scribe_reader_next_name(r, &name) == 1) {
		assert_int_equal(name.id, ++seen);
		assert_true(name.len == strlen(name.bytes) && name.len < 1024);
		if (name.id == 2)
			assert_string_equal(name.bytes, "\\x00\\x01\\x02\\x00\\xff\\x00");
	}
	assert_int_equal(seen, 3);
	scribe_reader_free(r);
	close(fd);
	free(big);
}

static void bad_escapes(void **state)
{
	char out[16];

	assert_int_equal(scribe_name_unescape("a\\", 2, out), -1);
	assert_int_equal(scribe_name_unescape("\\x1", 3, out), -1);
	assert_int_equal(scribe_name_unescape("\\xg1", 4, out), -1);
	assert_int_equal(scribe_name_unescape("\\q", 2, out), -1);
	/* cut output is counted in full and NUL-terminated */
	assert_int_equal(scribe_name_escape("\n\n\n", 3, out, 4), 6);
	assert_string_equal(out, "\\n\\");
	assert_int_equal(scribe_name_escape("abc", 3, NULL, 0), 3);
}

static void name_table(void **state)
{
	struct scribe_names *t = scribe_names_new();
	size_t len;
	char name[32];

	assert_null(scribe_names_find(t, 1, NULL));
	assert_int_equal(scribe_names_add(t, 1, "", 0), 0);
	assert_int_equal(scribe_names_add(t, 1, "first", 5), 0);
	assert_int_equal(scribe_names_add(t, 1, "second", 6), 0);
	assert_string_equal(scribe_names_find(t, 1, &len), "first");
	assert_int_equal(len, 5);
	for (uint64_t i = 2; i < 50000; i++) {
		snprintf(name, sizeof(name), "n%llu", (unsigned long long)i);
		assert_int_equal(scribe_names_add(t, i * 0x10001, name, strlen(name)), 0);
	}
	assert_int_equal(scribe_names_count(t), 49999);
	assert_string_equal(scribe_names_find(t, 777 * 0x10001ull, NULL), "n777");
	assert_string_equal(scribe_names_at(t, 0).bytes, "first");
	assert_null(scribe_names_find(t, 3, NULL));
	scribe_names_free(t);
	assert_null(scribe_names_free(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_any_bytes),
		cmocka_unit_test(exact_names),
		cmocka_unit_test(bad_escapes),
		cmocka_unit_test(name_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
