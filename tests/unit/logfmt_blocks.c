/* SPDX-License-Identifier: BSD-3-Clause */
/* The single-region layout: transposed records, and long opaque ones. */
#include "logfmt_support.h"

#include "logfmt/file/unified.h"

/* What is written transposed takes fewer bytes, and rows are the same log. */
static void rows_and_columns(void **state)
{
	struct scribe_writer_options o = {.layout = SCRIBE_LAYOUT_UNIFIED};
	uint64_t before = seed;
	int columns = random_log(&o, ~0ull, 400, 20), rows;
	struct scribe_reader *rc, *rr;
	struct dump dc, dr;

	seed = before;
	o.rows = true;
	rows = random_log(&o, ~0ull, 400, 20);
	assert_true(lseek(columns, 0, SEEK_END) < lseek(rows, 0, SEEK_END));
	rc = must_open(columns);
	rr = must_open(rows);
	dc = dump_reader(rc);
	dr = dump_reader(rr);
	assert_same_dump(&dc, &dr);
	free(dc.bytes);
	free(dr.bytes);
	scribe_reader_free(rc);
	scribe_reader_free(rr);
	close(columns);
	close(rows);
}

/* Raw bytes longer than one opaque record. */
static void opaque_in_pieces(void **state)
{
	size_t n = 5 * (SCRIBE_UNIFIED_CHUNK / 2) + 3, got = 0, len;
	char *bytes = malloc(n);
	int fd = memory_file();
	struct scribe_writer_options o = {.layout = SCRIBE_LAYOUT_UNIFIED};
	struct scribe_writer *w;
	struct scribe_reader *r;
	const void *p;

	assert_non_null(bytes);
	for (size_t i = 0; i < n; i++)
		bytes[i] = (char)rnd();
	assert_int_equal(scribe_writer_create_fd(fd, &o, &w, NULL), 0);
	assert_int_equal(scribe_writer_job(w, some_job(), "./app", some_mounts, 3), 0);
	for (size_t at = 0; at < n; at += 1000)
		assert_int_equal(scribe_writer_raw(w, 20, 2, bytes + at, n - at < 1000 ? n - at : 1000), 0);
	assert_int_equal(scribe_writer_finish(w), 0);
	scribe_writer_free(w);
	r = must_open(fd);
	while (scribe_reader_borrow_raw(r, 20, &p, &len) == 1) {
		assert_true(got + len <= n);
		assert_memory_equal(p, bytes + got, len);
		got += len;
	}
	assert_int_equal(got, n);
	scribe_reader_free(r);
	close(fd);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_and_columns),
		cmocka_unit_test(opaque_in_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
