// SPDX-License-Identifier: BSD-3-Clause
/*
 * The journal's promise: whatever instruction its writer dies at, and wherever the file ends
 * or a byte of it has changed, what is read are whole entries as they were put, in order from
 * the first, and no more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/daemon/base/journal_file.h"
#include "tests/harness/seed.h"

#define LAYOUT  7u
#define ENTRIES 24
#define MOST    64 /* bytes of an entry here */
#define ROUNDS  30 /* writers that are killed */

static char dir[] = "/tmp/ioscribe-journal.XXXXXX", path[64];
static uint64_t state;

/* The file system as the test says, in the C library's place. */
static struct statvfs fs = {.f_frsize = 4096, .f_blocks = 1 << 28, .f_bavail = 1 << 28};
static int fs_error;

int fstatvfs(int fd, struct statvfs *ret)
{
	(void)fd;
	errno = fs_error;
	*ret = fs;
	return fs_error ? -1 : 0;
}

static uint64_t random_bits(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Entry `i` is the same whenever it is asked for: the oracle of all tests. */
static size_t entry_of(uint64_t i, uint32_t *ret_type, unsigned char *ret)
{
	size_t bytes = i % 5 == 4 ? 0 : 1 + i * 7 % (MOST - 1);

	for (size_t k = 0; k < bytes; k++)
		ret[k] = (unsigned char)(i * 31 + k * 17 + 1);
	*ret_type = (uint32_t)(i % 11);
	return bytes;
}

static int put(struct scribe_journal *j, uint64_t i)
{
	unsigned char data[MOST];
	uint32_t type;
	size_t bytes = entry_of(i, &type, data), half = bytes / 3;
	struct scribe_journal_piece piece[3] = {{data, half}, {NULL, 0}, {data + half, bytes - half}};

	return scribe_journal_put(j, type, piece, 3);
}

struct seen {
	uint64_t n;
	uint64_t stop_at; /* refuse that one; 0: none */
};

static int look(void *ctx, uint32_t type, const void *data, size_t bytes)
{
	struct seen *s = ctx;
	unsigned char want[MOST];
	uint32_t want_type;
	size_t want_bytes = entry_of(s->n, &want_type, want);

	assert_int_equal(type, want_type);
	assert_int_equal(bytes, want_bytes);
	if (bytes)
		assert_memory_equal(data, want, bytes);
	s->n++;
	return s->stop_at && s->n == s->stop_at ? -ECANCELED : 0;
}

/* What is in the file: its number of entries, each as it was put; what the reader returned. */
static uint64_t read_all(int *ret_rc)
{
	struct scribe_journal j;
	struct seen s = {0};
	int rc = scribe_journal_open(&j, path, LAYOUT);

	if (rc == 0) {
		rc = scribe_journal_each(&j, look, &s);
		scribe_journal_close(&j);
	} else {
		assert_false(scribe_journal_is_open(&j));
	}
	if (ret_rc)
		*ret_rc = rc;
	return s.n;
}

static void write_some(uint64_t n)
{
	struct scribe_journal j;

	unlink(path);
	assert_int_equal(scribe_journal_create(&j, path, LAYOUT), 0);
	for (uint64_t i = 0; i < n; i++)
		assert_int_equal(put(&j, i), 0);
	scribe_journal_close(&j);
}

/* All of the file's bytes that may matter, and where its entries end. */
static char *load(size_t *ret_bytes, uint64_t *ret_end)
{
	struct scribe_journal_head head;
	struct stat st;
	int fd = open(path, O_RDONLY);
	char *all;

	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	all = malloc((size_t)st.st_size);
	assert_non_null(all);
	assert_int_equal(read(fd, all, (size_t)st.st_size), st.st_size);
	close(fd);
	memcpy(&head, all, sizeof(head));
	*ret_bytes = (size_t)st.st_size;
	*ret_end = head.end;
	return all;
}

static void change(off_t at, const void *from, size_t bytes)
{
	int fd = open(path, O_WRONLY);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, from, bytes, at), bytes);
	close(fd);
}

static void reads_what_was_put(void **unused)
{
	struct scribe_journal j;
	struct seen s = {.stop_at = 3};
	struct stat st;
	int rc;

	(void)unused;
	write_some(ENTRIES);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(read_all(&rc), ENTRIES);
	assert_int_equal(rc, 0);
	/* a later daemon goes on behind the last */
	assert_int_equal(scribe_journal_open(&j, path, LAYOUT), 0);
	assert_int_equal(put(&j, ENTRIES), 0);
	assert_int_equal(scribe_journal_each(&j, look, &s), -ECANCELED);
	assert_int_equal(s.n, 3);
	scribe_journal_close(&j);
	assert_int_equal(put(&j, 0), -EBADF);
	assert_int_equal(read_all(&rc), ENTRIES + 1);
	assert_int_equal(rc, 0);
	/* many, over several of its growths */
	write_some(60000);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size > 2 << 20);
	assert_int_equal(read_all(&rc), 60000);
	assert_int_equal(rc, 0);
}

static void refuses_what_is_none(void **unused)
{
	const struct {
		size_t at;
		uint32_t value;
		int rc;
	} heads[] = {
		{offsetof(struct scribe_journal_head, magic), 0x12345678, -EINVAL},
		{offsetof(struct scribe_journal_head, magic) + 4, 0x12345678, -EINVAL},
		{offsetof(struct scribe_journal_head, version), SCRIBE_JOURNAL_VERSION - 1, -EPROTONOSUPPORT},
		{offsetof(struct scribe_journal_head, layout), LAYOUT + 1, -EPROTONOSUPPORT},
		{offsetof(struct scribe_journal_head, end), sizeof(struct scribe_journal_head) - 1, -EINVAL},
		{offsetof(struct scribe_journal_head, end), (1u << 20) + 1, -EINVAL},
		{offsetof(struct scribe_journal_head, end) + 4, 1, -EINVAL},
	};
	struct scribe_journal j;
	int rc;

	(void)unused;
	unlink(path);
	assert_int_equal(scribe_journal_open(&j, path, LAYOUT), -ENOENT);
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		write_some(2);
		change((off_t)heads[i].at, &heads[i].value, sizeof(heads[i].value));
		assert_int_equal(read_all(&rc), 0);
		assert_int_equal(rc, heads[i].rc);
	}
	assert_int_equal(scribe_journal_create(&j, path, LAYOUT), -EEXIST);
	unlink(path);
	assert_int_equal(symlink("/dev/zero", path), 0);
	assert_int_equal(scribe_journal_open(&j, path, LAYOUT), -ELOOP);
	assert_int_equal(scribe_journal_create(&j, path, LAYOUT), -EEXIST);
	unlink(path);
}

/* The writer dies in the middle of an entry: so much of it is there, and the head does not tell of it. */
static void dies_at_every_byte(void **unused)
{
	uint64_t end_before, end;
	size_t bytes;
	char *before, *after;
	int rc;

	(void)unused;
	for (uint64_t n = 0; n < 12; n++) {
		write_some(n);
		before = load(&bytes, &end_before);
		write_some(n + 1);
		after = load(&bytes, &end);
		change(0, before, bytes);
		for (uint64_t at = end_before; at < end; at++) {
			change((off_t)at, after + at, 1);
			assert_int_equal(read_all(&rc), n);
			assert_int_equal(rc, 0);
		}
		change(0, after, sizeof(struct scribe_journal_head));
		assert_int_equal(read_all(&rc), n + 1);
		free(before);
		free(after);
	}
}

/* The file ends anywhere, or its head says that it does: entries from the first on, each whole. */
static void is_cut_at_every_byte(void **unused)
{
	uint64_t end, got, last = 0;
	size_t bytes;
	char *all;
	int rc;

	(void)unused;
	write_some(ENTRIES);
	all = load(&bytes, &end);
	for (uint64_t at = sizeof(struct scribe_journal_head); at <= end; at++) {
		change(offsetof(struct scribe_journal_head, end), &at, sizeof(at));
		got = read_all(&rc);
		assert_in_range(got, last, ENTRIES);
		assert_true(rc == 0 || rc == -EIO);
		last = got;
	}
	assert_int_equal(last, ENTRIES);
	/* what follows was never an entry */
	for (uint64_t at = end + 1; at < end + 100; at++) {
		change(offsetof(struct scribe_journal_head, end), &at, sizeof(at));
		assert_int_equal(read_all(&rc), ENTRIES);
		assert_int_equal(rc, -EIO);
	}
	change(0, all, bytes);
	for (uint64_t at = 0; at <= end + 8; at++) {
		assert_int_equal(truncate(path, (off_t)at), 0);
		assert_int_equal(read_all(&rc), 0);
		assert_int_equal(rc, -EINVAL);
		assert_int_equal(truncate(path, (off_t)bytes), 0);
		change(0, all, end);
	}
	for (uint64_t at = bytes - 3; at < bytes; at++) {
		assert_int_equal(truncate(path, (off_t)at), 0);
		assert_int_equal(read_all(&rc), 0);
		assert_int_equal(rc, -EINVAL);
	}
	free(all);
}

/* One bit or all of a byte: the entries before it, and none behind or other than it was. */
static void has_a_wrong_byte_anywhere(void **unused)
{
	const unsigned char masks[] = {0x01, 0x80, 0xff};
	uint64_t end, got;
	size_t bytes;
	char *all;
	int rc;

	(void)unused;
	write_some(ENTRIES);
	all = load(&bytes, &end);
	for (uint64_t at = 0; at < end; at++)
		for (size_t m = 0; m < sizeof(masks); m++) {
			char wrong = (char)(all[at] ^ masks[m]);

			change((off_t)at, &wrong, 1);
			got = read_all(&rc);
			assert_true(got <= ENTRIES);
			/* only what stands between entries, and what is of the ring, may go unseen */
			if (rc == 0 && got < ENTRIES)
				assert_in_range(at, offsetof(struct scribe_journal_head, end),
						offsetof(struct scribe_journal_head, end) + 7);
			change((off_t)at, all + at, 1);
		}
	assert_int_equal(read_all(&rc), ENTRIES);
	free(all);
}

/* A process that writes until it is killed, at any instruction; it has told how far it was. */
static void survives_its_writer(void **unused)
{
	uint64_t *done = mmap(NULL, sizeof(*done), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	(void)unused;
	assert_true(done != MAP_FAILED);
	for (int i = 0; i < ROUNDS; i++) {
		struct timespec t = {.tv_nsec = (long)(random_bits() % 8000000)};
		uint64_t got;
		pid_t pid;
		int rc;

		unlink(path);
		*done = 0;
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			struct scribe_journal j;

			if (scribe_journal_create(&j, path, LAYOUT) == 0)
				for (uint64_t n = 0; put(&j, n) == 0; n++)
					__atomic_store_n(done, n + 1, __ATOMIC_RELEASE);
			_exit(0);
		}
		while (!__atomic_load_n(done, __ATOMIC_ACQUIRE))
			;
		nanosleep(&t, NULL);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		got = read_all(&rc);
		assert_int_equal(rc, 0);
		assert_in_range(got, *done, *done + 1);
	}
	munmap(done, sizeof(*done));
}

/* No room: what is there stays, and nothing follows, in this daemon and the next. */
static void cannot_grow(void **unused)
{
	struct rlimit before, small = {1 << 20, 1 << 20};
	struct scribe_journal j;
	uint64_t n = 0;
	int rc;

	(void)unused;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small.rlim_max = before.rlim_max;
	unlink(path);
	assert_int_equal(scribe_journal_create(&j, path, LAYOUT), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	while ((rc = put(&j, n)) == 0)
		n++;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(rc, -EFBIG);
	assert_true(scribe_journal_is_broken(&j));
	assert_int_equal(put(&j, n), -EBADF);
	scribe_journal_close(&j);
	assert_int_equal(read_all(&rc), n);
	assert_int_equal(rc, 0);
	assert_int_equal(scribe_journal_open(&j, path, LAYOUT), 0);
	assert_true(scribe_journal_is_broken(&j));
	assert_int_equal(put(&j, n), -EBADF);
	scribe_journal_close(&j);
}

/* A megabyte more, and what is left for others: a sixteenth of the file system, at most 128 MiB. */
static void leaves_room_for_others(void **unused)
{
	const struct {
		uint64_t mib, free_mib; /* of a file system; `less` blocks fewer are free */
		unsigned less;
		int error, rc;
	} cases[] = {
		{16, 2, 0, 0, 0},
		{16, 2, 1, 0, -ENOSPC},
		{2032, 128, 0, 0, 0},
		{2032, 128, 1, 0, -ENOSPC},
		{1 << 20, 129, 0, 0, 0},
		{1 << 20, 129, 1, 0, -ENOSPC},
		{1 << 20, 1 << 19, 0, EIO, -ENOSPC},
	};
	const struct statvfs before = fs;

	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scribe_journal j;

		unlink(path);
		fs.f_blocks = cases[i].mib << 8;
		fs.f_bavail = (cases[i].free_mib << 8) - cases[i].less;
		fs_error = cases[i].error;
		assert_int_equal(scribe_journal_create(&j, path, LAYOUT), cases[i].rc);
		assert_int_equal(access(path, F_OK), cases[i].rc ? -1 : 0);
		assert_int_equal(scribe_journal_is_open(&j), !cases[i].rc);
		scribe_journal_close(&j);
	}
	fs = before;
	fs_error = 0;
}

/* Twice as much is left by those beyond 16 MiB. */
static void leaves_more_when_large(void **unused)
{
	static const char data[16 << 20];
	const struct scribe_journal_piece piece = {data, sizeof(data)};
	const struct statvfs before = fs;

	(void)unused;
	for (unsigned less = 0; less < 2; less++) {
		struct scribe_journal j;

		unlink(path);
		fs = before;
		assert_int_equal(scribe_journal_create(&j, path, LAYOUT), 0);
		fs.f_blocks = 1 << 28;
		fs.f_bavail = ((16 + 256) << 8) - less;
		assert_int_equal(scribe_journal_put(&j, 1, &piece, 1), less ? -ENOSPC : 0);
		scribe_journal_close(&j);
	}
	fs = before;
}

static void packs_words(void **unused)
{
	uint64_t words[130], packed[scribe_pack_room(sizeof(words)) / 8 + 1], out[130];

	(void)unused;
	for (int round = 0; round < 2000; round++) {
		size_t n = random_bits() % 130 + 1, have, used = 0;

		for (size_t i = 0; i < n; i++)
			used += !!(words[i] = random_bits() % 3 ? 0 : random_bits());
		have = scribe_pack(words, n * 8, packed);
		assert_int_equal(have, ((n + 63) / 64 + used) * 8);
		assert_int_equal(scribe_unpack(packed, have, out, n * 8), have);
		assert_memory_equal(words, out, n * 8);
		for (size_t less = 0; less < have; less += 8)
			assert_int_equal(scribe_unpack(packed, less, out, n * 8), -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_was_put),
		cmocka_unit_test(refuses_what_is_none),
		cmocka_unit_test(dies_at_every_byte),
		cmocka_unit_test(is_cut_at_every_byte),
		cmocka_unit_test(has_a_wrong_byte_anywhere),
		cmocka_unit_test(survives_its_writer),
		cmocka_unit_test(cannot_grow),
		cmocka_unit_test(leaves_room_for_others),
		cmocka_unit_test(leaves_more_when_large),
		cmocka_unit_test(packs_words),
	};
	int failed;

	state = scribe_test_seed(0);
	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/journal", dir);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	rmdir(dir);
	return failed;
}
