/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of extended tracing piece by piece: the same as whole ones, whatever their lengths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "logfmt/file/reader.h"
#include "logfmt/file/writer.h"

static const struct counts {
	int64_t writes, reads;
} counts[] = {
	{0, 0},    {1, 0},     {0, 1},     {1023, 0}, {1024, 0},    {1025, 0},
	{0, 1024}, {1000, 24}, {1000, 25}, {0, 0},    {3000, 2000},
};

#define RECORDS (sizeof(counts) / sizeof(counts[0]))

/* A log with these records, plain: its descriptor. */
static int make_log(int module)
{
	int fd = memfd_create("pieces", MFD_CLOEXEC);
	struct scribe_log_job job = {.nprocs = 1};
	struct scribe_writer_options options = {.compression = SCRIBE_COMP_NONE};
	struct scribe_writer *w;

	assert_true(fd >= 0);
	assert_int_equal(scribe_writer_create_fd(fd, &options, &w, NULL), 0);
	assert_int_equal(scribe_writer_job(w, &job, "exe", NULL, 0), 0);
	for (size_t i = 0; i < RECORDS; i++) {
		size_t n = (size_t)(counts[i].writes + counts[i].reads);
		size_t bytes = sizeof(struct scribe_dxt_record) + n * sizeof(struct scribe_dxt_segment);
		struct scribe_dxt_record *r = calloc(1, bytes);

		assert_non_null(r);
		r->base.id = 1 + i;
		r->write_count = counts[i].writes;
		r->read_count = counts[i].reads;
		for (size_t k = 0; k < n; k++)
			r->segments[k] = (struct scribe_dxt_segment){
				.offset = (int64_t)(1000 * i + k), .length = (int64_t)k, .start = 1, .end = 2};
		assert_int_equal(scribe_writer_record(w, module, r, bytes), 0);
		free(r);
	}
	assert_int_equal(scribe_writer_finish(w), 0);
	scribe_writer_free(w);
	return fd;
}

static struct scribe_reader *reader_of(int fd, bool pieces)
{
	struct scribe_reader *r = NULL;

	assert_int_equal(scribe_reader_open_fd(fd, "pieces", &r, NULL), 0);
	scribe_reader_dxt_in_pieces(r, pieces);
	return r;
}

static void same_pieces(int module)
{
	int fd = make_log(module);
	struct scribe_reader *whole = reader_of(fd, false), *cut = reader_of(fd, true);
	const void *record;
	size_t len;

	for (size_t i = 0; i < RECORDS; i++) {
		int64_t n = counts[i].writes + counts[i].reads, at = 0;
		const struct scribe_dxt_record *r;

		assert_int_equal(scribe_reader_borrow_record(whole, module, &record, &len), 1);
		r = record;
		assert_int_equal(r->base.id, 1 + i);
		do {
			const struct scribe_dxt_piece *p;

			assert_int_equal(scribe_reader_borrow_record(cut, module, &record, &len), 1);
			p = record;
			assert_int_equal(len, sizeof(*p));
			assert_memory_equal(&p->head, r, sizeof(p->head));
			assert_int_equal(p->first, at);
			assert_true(p->n <= 1024 && (p->n > 0 || n == 0));
			assert_memory_equal(p->segments, r->segments + at, (size_t)p->n * sizeof(*p->segments));
			at += p->n;
		} while (at < n);
		assert_int_equal(at, n);
	}
	assert_int_equal(scribe_reader_borrow_record(whole, module, &record, &len), 0);
	assert_int_equal(scribe_reader_borrow_record(cut, module, &record, &len), 0);
	scribe_reader_free(whole);
	scribe_reader_free(cut);
	close(fd);
}

static void pieces_are_the_record(void **state)
{
	(void)state;
	same_pieces(SCRIBE_MOD_DXT_POSIX);
	same_pieces(SCRIBE_MOD_DXT_MPIIO);
}

/* Segments that the region does not hold. */
static void refuses_a_cut_record(void **state)
{
	int fd = make_log(SCRIBE_MOD_DXT_POSIX), rc;
	struct scribe_log_header h;
	struct scribe_reader *r;
	const void *record;
	size_t len;

	(void)state;
	assert_int_equal(pread(fd, &h, sizeof(h), 0), sizeof(h));
	h.mod_map[SCRIBE_MOD_DXT_POSIX].len -= 3200;
	assert_int_equal(pwrite(fd, &h, sizeof(h), 0), sizeof(h));
	r = reader_of(fd, true);
	while ((rc = scribe_reader_borrow_record(r, SCRIBE_MOD_DXT_POSIX, &record, &len)) > 0)
		;
	assert_int_equal(rc, -SCRIBE_E_TRUNCATED);
	assert_non_null(strstr(scribe_reader_error(r)->text, "ends in the middle of a record"));
	assert_int_equal(scribe_reader_borrow_record(r, SCRIBE_MOD_DXT_POSIX, &record, &len), rc);
	scribe_reader_free(r);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_are_the_record),
		cmocka_unit_test(refuses_a_cut_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
