// SPDX-License-Identifier: BSD-3-Clause
// The runtime's reading of the daemon's image: what is right is read, and of an
// image that is cut or has any byte changed nothing beyond it is touched.
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <cmocka.h>

#include "logfmt/base/hash.h"
#include "logfmt/file/writer.h"
#include "runtime/client/mpi/log_image.h"
#include "runtime/client/mpi/zlib_compress.h"

enum { FILES = 5 };

static int memory_file(const void *bytes, size_t n, int sealed)
{
	int fd = memfd_create("image", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), n);
	if (sealed)
		assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE), 0);
	return fd;
}

/* A good image: five files, POSIX records. The caller frees. */
static char *good(size_t *ret_n)
{
	struct scribe_writer_options o = {.compression = SCRIBE_COMP_NONE};
	struct scribe_log_job job = {.start_time_sec = 100, .start_time_nsec = 5, .end_time_sec = 200, .nprocs = 4};
	struct scribe_posix_record rec = {.base.rank = 2};
	int fd = memfd_create("image", MFD_CLOEXEC);
	struct scribe_writer *w;
	char name[32], *bytes;
	off_t n;

	assert_int_equal(scribe_writer_create_fd(fd, &o, &w, NULL), 0);
	assert_int_equal(scribe_writer_job(w, &job, "a program", &(struct scribe_mount){"ext4", "/"}, 1), 0);
	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "/data/file.%d", i);
		assert_int_equal(scribe_writer_name(w, scribe_record_id(name, strlen(name)), name, strlen(name)), 0);
	}
	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "/data/file.%d", i);
		rec.base.id = scribe_record_id(name, strlen(name));
		rec.counters[SCRIBE_POSIX_WRITES] = i;
		rec.fcounters[SCRIBE_POSIX_F_WRITE_START_TIMESTAMP] = i;
		rec.fcounters[SCRIBE_POSIX_F_WRITE_TIME] = 0.5;
		assert_int_equal(scribe_writer_record(w, SCRIBE_MOD_POSIX, &rec, sizeof(rec)), 0);
	}
	assert_int_equal(scribe_writer_finish(w), 0);
	scribe_writer_free(w);
	n = lseek(fd, 0, SEEK_END);
	bytes = malloc((size_t)n);
	assert_int_equal(pread(fd, bytes, (size_t)n, 0), n);
	close(fd);
	*ret_n = (size_t)n;
	return bytes;
}

/* Touch all that an image holds; returns names + records met. */
static size_t walk(const struct scribe_log_image *image)
{
	struct scribe_log_image_module m;
	volatile unsigned char sum = 0;
	size_t at = 0, len, n = 0;
	const char *name;
	uint64_t id;

	for (; scribe_log_image_name(image, &at, &id, &name, &len); n++)
		for (size_t i = 0; i <= len; i++)
			sum += (unsigned char)name[i];
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++) {
		if (!scribe_log_image_module(image, i, &m))
			continue;
		scribe_log_image_rebase(&m, 1000000000);
		for (size_t b = 0; b < m.bytes; b++)
			sum += (unsigned char)m.records[b];
		n += m.n;
	}
	return strlen(image->exe) <= SCRIBE_EXE_BYTES ? n : 0;
}

static void reads_what_is_right(void **state)
{
	size_t n;
	char *bytes = good(&n);
	struct scribe_log_image image;
	struct scribe_log_image_module m;
	struct scribe_posix_record rec;

	assert_int_equal(scribe_log_image_open(&image, memory_file(bytes, n, 1), n), 0);
	assert_int_equal(scribe_log_image_start_ns(&image), 100000000005ll);
	assert_int_equal(scribe_log_image_end_ns(&image), 200000000000ll);
	assert_true(strncmp(image.exe, "a program", 9) == 0);
	assert_true(scribe_log_image_module(&image, SCRIBE_MOD_POSIX, &m));
	assert_int_equal(m.n, FILES);
	assert_false(scribe_log_image_module(&image, SCRIBE_MOD_STDIO, &m));
	assert_true(scribe_log_image_module(&image, SCRIBE_MOD_POSIX, &m));
	scribe_log_image_rebase(&m, 2500000000ll);
	memcpy(&rec, m.records + 3 * sizeof(rec), sizeof(rec));
	assert_true(rec.fcounters[SCRIBE_POSIX_F_WRITE_START_TIMESTAMP] == 5.5);
	assert_true(rec.fcounters[SCRIBE_POSIX_F_WRITE_TIME] == 0.5); /* a duration stays */
	memcpy(&rec, m.records, sizeof(rec));
	assert_true(rec.fcounters[SCRIBE_POSIX_F_WRITE_START_TIMESTAMP] == 0); /* never set stays so */
	assert_int_equal(walk(&image), 2 * FILES);
	scribe_log_image_close(&image);
	free(bytes);
}

static void refuses_what_can_change(void **state)
{
	size_t n;
	char *bytes = good(&n);
	struct scribe_log_image image;

	assert_true(scribe_log_image_open(&image, memory_file(bytes, n, 0), n) < 0);     /* not sealed */
	assert_true(scribe_log_image_open(&image, memory_file(bytes, n, 1), n + 1) < 0); /* another size */
	assert_true(scribe_log_image_open(&image, memory_file(bytes, 100, 1), 100) < 0); /* no header */
	free(bytes);
}

static void survives_every_cut(void **state)
{
	size_t n;
	char *bytes = good(&n);
	struct scribe_log_image image;

	for (size_t cut = 0; cut < n; cut += cut < 2500 ? 1 : 7) {
		if (scribe_log_image_open(&image, memory_file(bytes, cut, 1), cut) < 0)
			continue;
		walk(&image);
		scribe_log_image_close(&image);
	}
	free(bytes);
}

static void survives_every_changed_byte(void **state)
{
	static const unsigned char values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
	size_t n;
	char *bytes = good(&n);
	struct scribe_log_image image;

	for (size_t i = 0; i < n; i++) {
		char kept = bytes[i];

		if (i >= 2700 && i % 5)
			continue; /* counters: any value is right */
		for (size_t v = 0; v < sizeof(values); v++) {
			bytes[i] = (char)values[v];
			if (scribe_log_image_open(&image, memory_file(bytes, n, 1), n) < 0)
				continue;
			walk(&image);
			scribe_log_image_close(&image);
		}
		bytes[i] = kept;
	}
	free(bytes);
}

static void squeezed_is_zlib(void **state)
{
	static const size_t sizes[] = {1, 2, 100, 65534, 65535, 65536, 131070, 1000003};

	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		size_t n = sizes[s], bound = scribe_zlib_compress_bound(n), got;
		unsigned char *in = malloc(n), *out = malloc(bound), *back = malloc(n);
		unsigned long back_n = n;

		for (size_t i = 0; i < n; i++)
			in[i] = (unsigned char)(rand() >> (i % 3 * 4));
		got = scribe_zlib_compress(in, n, out);
		assert_true(got <= bound);
		assert_int_equal(uncompress(back, &back_n, out, got), Z_OK);
		assert_int_equal(back_n, n);
		assert_memory_equal(in, back, n);
		free(in);
		free(out);
		free(back);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_is_right), cmocka_unit_test(refuses_what_can_change),
		cmocka_unit_test(survives_every_cut),  cmocka_unit_test(survives_every_changed_byte),
		cmocka_unit_test(squeezed_is_zlib),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
