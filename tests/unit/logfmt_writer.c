/* SPDX-License-Identifier: BSD-3-Clause */
/* The writer: calls out of order, files that cannot be written, full devices. */
#include "logfmt_support.h"

#include <errno.h>
#include <fcntl.h>

static void must_read(int fd)
{
	struct scribe_reader *r = must_open(fd);
	struct dump d = dump_reader(r);

	assert_int_equal(d.error, 0);
	free(d.bytes);
	scribe_reader_free(r);
}

static void writer_out_of_order(void **state)
{
	struct scribe_writer_options bad = {.level = 10};
	struct scribe_posix_record rec = {.base = {1, 0}};
	struct scribe_stdio_record io = {.base = {1, 0}};
	struct scribe_writer *w = NULL;
	struct scribe_err err;
	int fd = memory_file();

#define WRONG(call, code, part) \
	do { \
		assert_int_equal(call, code); \
		if (!strstr(scribe_writer_error(w)->text, part)) \
			fail_msg("\"%s\" lacks \"%s\"", scribe_writer_error(w)->text, part); \
	} while (0)
	assert_int_equal(scribe_writer_create_fd(fd, &bad, &w, &err), -EINVAL);
	assert_string_equal(err.text, "compression level 10 is not 1 to 9");
	bad = (struct scribe_writer_options){.compression = (enum scribe_compression)7};
	assert_int_equal(scribe_writer_create_fd(fd, &bad, &w, &err), -EINVAL);
	assert_int_equal(scribe_writer_create_fd(-1, NULL, &w, &err), -EBADF);
	assert_int_equal(scribe_writer_create_fd(fd, NULL, &w, &err), 0);
	WRONG(scribe_writer_name(w, 1, "a", 1), -SCRIBE_E_ORDER, "a name before the job record");
	WRONG(scribe_writer_record(w, SCRIBE_MOD_POSIX, &rec, sizeof(rec)), -SCRIBE_E_ORDER,
	      "POSIX before the job record");
	WRONG(scribe_writer_finish(w), -SCRIBE_E_ORDER, "the end before the job record");
	assert_int_equal(scribe_writer_job(w, some_job(), "x", NULL, 0), 0);
	WRONG(scribe_writer_job(w, some_job(), "x", NULL, 0), -SCRIBE_E_ORDER, "a second job record");
	WRONG(scribe_writer_name(w, 1, "a", SCRIBE_MAX_NAME_BYTES + 1), -EINVAL, "at most 1048576");
	WRONG(scribe_writer_raw(w, SCRIBE_EXACT_NAMES, 1, "a", 1), -EINVAL, "no module can have id 63");
	assert_int_equal(scribe_writer_record(w, SCRIBE_MOD_STDIO, &io, sizeof(io)), 0);
	WRONG(scribe_writer_name(w, 1, "a", 1), -SCRIBE_E_ORDER, "a name after STDIO");
	WRONG(scribe_writer_record(w, SCRIBE_MOD_POSIX, &rec, sizeof(rec)), -SCRIBE_E_ORDER, "POSIX after STDIO");
	WRONG(scribe_writer_record(w, SCRIBE_MOD_STDIO, &io, sizeof(io) - 8), -EINVAL,
	      "240 bytes are not a STDIO record");
	WRONG(scribe_writer_record(w, SCRIBE_MOD_APXC, &io, 8), -EINVAL, "no module has id 13");
	WRONG(scribe_writer_record(w, 64, &io, 8), -EINVAL, "no module has id 64");
	/* refused calls change nothing: the log is still good */
	assert_int_equal(scribe_writer_finish(w), 0);
	WRONG(scribe_writer_finish(w), -SCRIBE_E_ORDER, "the end twice");
	WRONG(scribe_writer_record(w, SCRIBE_MOD_STDIO, &io, sizeof(io)), -SCRIBE_E_ORDER, "STDIO after the end");
	scribe_writer_free(w);
	must_read(fd);
	close(fd);
	assert_null(scribe_writer_free(NULL));
	assert_null(scribe_reader_free(NULL));
#undef WRONG
}

static void writer_files(void **state)
{
	char path[] = "/tmp/scribe-unit-XXXXXX", link[64];
	int fd = mkstemp(path);
	struct scribe_writer *w = NULL;
	struct scribe_err err;

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(scribe_writer_create(path, NULL, &w, &err), -EEXIST);
	assert_non_null(strstr(err.text, path));
	unlink(path);
	assert_int_equal(scribe_writer_create(path, NULL, &w, &err), 0);
	assert_int_equal(scribe_writer_job(w, some_job(), "x", NULL, 0), 0);
	scribe_writer_free(w); /* not finished: no file is left */
	assert_int_equal(access(path, F_OK), -1);
	snprintf(link, sizeof(link), "%s.link", path);
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(scribe_writer_create(link, NULL, &w, &err), -EEXIST);
	unlink(link);
	/* a device that is always full */
	fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(scribe_writer_create_fd(fd, NULL, &w, &err), 0);
	assert_int_equal(scribe_writer_job(w, some_job(), "x", NULL, 0), 0);
	assert_int_equal(scribe_writer_finish(w), -ENOSPC);
	assert_non_null(strstr(scribe_writer_error(w)->text, "No space left on device"));
	assert_int_equal(scribe_writer_finish(w), -ENOSPC);
	scribe_writer_free(w);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writer_out_of_order),
		cmocka_unit_test(writer_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
