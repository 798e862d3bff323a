/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every allocation fails once: reading and writing a log must answer with an
 * error (or do without), leak nothing and crash never. It counts nothing under
 * sanitizers and valgrind, which bring allocators of their own.
 */
#include "logfmt_support.h"

#include <errno.h>

#include "logfmt/file/names.h"
#include "logfmt/records/posix_finish.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OWN_ALLOCATOR 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define OWN_ALLOCATOR 0
#endif
#endif
#ifndef OWN_ALLOCATOR
#define OWN_ALLOCATOR 1
#endif

static long countdown = -1; /* allocations until one fails; negative: none */
static long balance;        /* allocations not given back while counting */
static bool counting;

#if OWN_ALLOCATOR
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t each);
extern void *__libc_realloc(void *p, size_t n);
extern void __libc_free(void *p);

/* Seen by the C library and zlib too. */
#define EXPORTED __attribute__((visibility("default")))
EXPORTED void *malloc(size_t n);
EXPORTED void *calloc(size_t n, size_t each);
EXPORTED void *realloc(void *old, size_t n);
EXPORTED void free(void *p);

static bool fails(void)
{
	return countdown >= 0 && countdown-- == 0;
}

void *malloc(size_t n)
{
	void *p = fails() ? NULL : __libc_malloc(n);

	balance += counting && p;
	return p;
}

void *calloc(size_t n, size_t each)
{
	void *p = fails() ? NULL : __libc_calloc(n, each);

	balance += counting && p;
	return p;
}

void *realloc(void *old, size_t n)
{
	void *p = fails() ? NULL : __libc_realloc(old, n);

	balance += counting && p && !old;
	return p;
}

void free(void *p)
{
	balance -= counting && p;
	__libc_free(p);
}
#endif

/* All of a log; 0 or the first error. */
static int read_it(int fd)
{
	struct scribe_reader *r = NULL;
	struct scribe_err err = {0};
	struct scribe_names *names;
	int rc = scribe_reader_open_fd(fd, "log", &r, &err);

	if (rc)
		return err.text[0] ? rc : -EPROTO; /* an error says something */
	names = scribe_names_new();
	rc = names ? scribe_names_load(names, r, &err) : -ENOMEM;
	scribe_names_free(names);
	for (int id = 0; id < ALL_MODULES && rc == 0; id++) {
		const void *rec;
		size_t len;

		while ((rc = scribe_reader_borrow_record(r, id, &rec, &len)) > 0)
			;
	}
	scribe_reader_free(r);
	return rc;
}

/* zstd is the single-region layout's. */
static struct scribe_writer_options options_of(int comp)
{
	return (struct scribe_writer_options){.compression = (enum scribe_compression)comp,
					      .layout = comp == SCRIBE_COMP_ZSTD ? SCRIBE_LAYOUT_UNIFIED
										 : SCRIBE_LAYOUT_DEFAULT};
}

static int write_it(int fd, int comp, const void *dxt, size_t len)
{
	struct scribe_writer_options o = options_of(comp);
	struct scribe_process_record process = {.base = {1, 0}};
	struct scribe_writer *w = NULL;
	int rc = scribe_writer_create_fd(fd, &o, &w, NULL);

	if (rc)
		return rc;
	rc = scribe_writer_job(w, some_job(), "x", some_mounts, 3);
	if (rc == 0)
		rc = scribe_writer_name(w, 1, "abc", 3);
	if (rc == 0)
		rc = scribe_writer_record(w, SCRIBE_MOD_DXT_POSIX, dxt, len);
	if (rc == 0)
		rc = scribe_writer_record(w, SCRIBE_MOD_PROCESS, &process, sizeof(process));
	if (rc == 0)
		rc = scribe_writer_finish(w);
	scribe_writer_free(w);
	return rc;
}

static void reading(void **state)
{
	for (int comp = SCRIBE_COMP_ZLIB; comp <= SCRIBE_COMP_ZSTD; comp++) {
		struct scribe_writer_options o = options_of(comp);
		int fd = random_log(&o, ~0ull, 2, 5), rc;
		long k = 0;

		do {
			balance = 0;
			counting = true;
			countdown = OWN_ALLOCATOR ? k : -1;
			rc = read_it(fd);
			countdown = -1;
			counting = false;
			if (rc != 0 && rc != -ENOMEM)
				fail_msg("allocation %ld: code %d", k, rc);
			assert_int_equal(balance, 0);
			k++;
		} while (rc != 0 && k < 10000);
		assert_int_equal(rc, 0);
		assert_true(!OWN_ALLOCATOR || k > 50);
		close(fd);
	}
}

static void writing(void **state)
{
	static uint64_t dxt[VARIABLE_ROOM / 8];
	size_t len = some_record(scribe_module_by_id(SCRIBE_MOD_DXT_POSIX), 0, 3, dxt);

	for (int comp = SCRIBE_COMP_ZLIB; comp <= SCRIBE_COMP_ZSTD; comp++) {
		int fd = memory_file(), rc;
		long k = 0;

		do {
			balance = 0;
			counting = true;
			countdown = OWN_ALLOCATOR ? k++ : -1;
			rc = write_it(fd, comp, dxt, len);
			countdown = -1;
			counting = false;
			if (rc != 0 && rc != -ENOMEM)
				fail_msg("allocation %ld: code %d", k, rc);
			assert_int_equal(balance, 0);
		} while (rc != 0 && k < 10000);
		assert_int_equal(read_it(fd), 0);
		close(fd);
	}
}

/* Value maps that must grow and cannot. */
static void adding_shards(void **state)
{
	struct scribe_posix_shard shard = {0};
	struct scribe_value_table t = {.used = SCRIBE_TABLE_LIMIT};

	for (int i = 0; i < SCRIBE_TABLE_LIMIT; i++)
		t.v[i] = (struct scribe_value){100 + i, 1};
	for (long k = 0; k < 4; k++) {
		struct scribe_posix_acc acc, copy;
		int rc;

		scribe_posix_acc_init(&acc);
		scribe_posix_acc_init(&copy);
		balance = 0;
		counting = true;
		countdown = OWN_ALLOCATOR ? k : -1;
		rc = scribe_posix_acc_add(&acc, &shard, &t, NULL);
		if (rc == 0)
			rc = scribe_posix_acc_join(&copy, &acc);
		countdown = -1;
		assert_true(rc == 0 || rc == -ENOMEM);
		scribe_posix_acc_free(&acc);
		scribe_posix_acc_free(&copy);
		counting = false;
		assert_int_equal(balance, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reading),
		cmocka_unit_test(writing),
		cmocka_unit_test(adding_shards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
