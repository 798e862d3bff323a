/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The journal's file, mapped shared: a write costs no system call, and stays in the page cache when the daemon is
 * killed. Must not know jobs or records.
 */
#include "runtime/daemon/base/journal_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define GROW_BYTES  (1u << 20) /* steps of file and mapping: remapping is rare, a small file has 1 MiB */
#define MAGIC       "ioscribe"
#define LEAVE_BYTES (256u << 20) /* left free on the file system, at most 1/8 of it; small journals leave half */

#define CHECK_START 0x6a09e667f3bcc908ull
#define CHECK_TIMES 0x9e3779b97f4a7c15ull /* odd, so each step is reversible and one wrong word is always found */

struct entry {
	uint32_t type, bytes; /* of the data; entries are aligned to 8 */
	uint64_t check;       /* over type, bytes and data */
};

/* Detects damage, not forgery: the file has mode 0600. */
static uint64_t check_step(uint64_t check, uint64_t word)
{
	check = (check ^ word) * CHECK_TIMES;
	return check ^ check >> 29;
}

static uint64_t check_of(const struct entry *e, const char *data)
{
	/* The length distinguishes data that differs only in trailing zeros. */
	uint64_t check = check_step(CHECK_START, (uint64_t)e->type << 32 | e->bytes), word = 0;
	size_t n = e->bytes, i = 0;

	for (; n - i >= sizeof(word); i += sizeof(word)) {
		memcpy(&word, data + i, sizeof(word));
		check = check_step(check, word);
	}
	word = 0;
	memcpy(&word, data + i, n - i);
	return check_step(check, word);
}

static int map(struct scribe_journal *j, uint64_t bytes)
{
	char *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, j->fd, 0);

	/* The old mapping is removed after this succeeded: on failure the journal is unchanged. */
	if (mem == MAP_FAILED)
		return -errno;
	if (j->mem)
		munmap(j->mem, j->bytes);
	j->mem = mem;
	j->head = (struct scribe_journal_head *)(void *)mem;
	j->bytes = bytes;
	return 0;
}

static bool has_room(const struct scribe_journal *j, uint64_t bytes)
{
	struct statvfs fs;
	uint64_t reserve;

	if (fstatvfs(j->fd, &fs) < 0)
		return false;
	reserve = (uint64_t)fs.f_blocks * fs.f_frsize / 8;
	if (reserve > LEAVE_BYTES)
		reserve = LEAVE_BYTES;
	if (bytes <= SCRIBE_JOURNAL_SMALL)
		reserve /= 2;
	return (uint64_t)fs.f_bavail * fs.f_frsize >= bytes - j->bytes + reserve;
}

uint64_t scribe_journal_room(const char *dir)
{
	struct statvfs fs;

	return statvfs(dir, &fs) < 0 ? 0 : (uint64_t)fs.f_blocks * fs.f_frsize / 2;
}

static int grow(struct scribe_journal *j, uint64_t need)
{
	/* Blocks are reserved first: a store into a mapped page without one raises SIGBUS. */
	uint64_t bytes = (need + GROW_BYTES - 1) / GROW_BYTES * GROW_BYTES;
	int rc = bytes > SCRIBE_JOURNAL_MOST || !has_room(j, bytes) ? ENOSPC : posix_fallocate(j->fd, 0, (off_t)bytes);

	return rc ? -rc : map(j, bytes);
}

void scribe_journal_close(struct scribe_journal *j)
{
	if (j->mem)
		munmap(j->mem, j->bytes);
	if (j->fd > 0) /* 0: an all-zero struct; standard input is never a journal */
		close(j->fd);
	*j = (struct scribe_journal){0};
}

int scribe_journal_create(struct scribe_journal *j, const char *path, uint32_t layout)
{
	int rc;

	*j = (struct scribe_journal){.fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)};
	if (j->fd < 0)
		return -errno;
	rc = grow(j, GROW_BYTES);
	if (rc < 0) {
		scribe_journal_close(j);
		unlink(path);
		return rc;
	}
	j->head->version = SCRIBE_JOURNAL_VERSION;
	j->head->layout = layout;
	j->head->end = sizeof(*j->head);
	memcpy(j->head->magic, MAGIC, sizeof(j->head->magic));
	return 0;
}

int scribe_journal_open(struct scribe_journal *j, const char *path, uint32_t layout)
{
	struct stat st;
	int rc;

	*j = (struct scribe_journal){.fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)};
	if (j->fd < 0)
		return -errno;
	rc = fstat(j->fd, &st) < 0 ? -errno : st.st_size < (off_t)GROW_BYTES ? -EINVAL : 0;
	/* The file is a multiple of GROW_BYTES, unless growing was interrupted. */
	if (rc == 0)
		rc = map(j, (uint64_t)st.st_size / GROW_BYTES * GROW_BYTES);
	if (rc == 0 && memcmp(j->head->magic, MAGIC, sizeof(j->head->magic)))
		rc = -EINVAL;
	if (rc == 0 && (j->head->version != SCRIBE_JOURNAL_VERSION || j->head->layout != layout))
		rc = -EPROTONOSUPPORT;
	if (rc == 0 && (j->head->end < sizeof(*j->head) || j->head->end > j->bytes))
		rc = -EINVAL;
	if (rc < 0)
		scribe_journal_close(j);
	return rc;
}

int scribe_journal_put(struct scribe_journal *j, uint32_t type, const struct scribe_journal_piece *piece,
		       unsigned pieces)
{
	struct entry e = {.type = type};
	uint64_t at, end;
	int rc;

	if (!scribe_journal_is_open(j) || scribe_journal_is_broken(j))
		return -EBADF;
	for (unsigned i = 0; i < pieces; i++)
		e.bytes += (uint32_t)piece[i].bytes;
	at = j->head->end;
	end = at + (sizeof(e) + e.bytes + 7) / 8 * 8;
	rc = end > j->bytes ? grow(j, end) : 0;
	if (rc < 0) {
		j->head->broken = 1;
		return rc;
	}
	for (unsigned i = 0, n = sizeof(e); i < pieces; i++) {
		if (piece[i].bytes)
			memcpy(j->mem + at + n, piece[i].at, piece[i].bytes);
		n += (unsigned)piece[i].bytes;
	}
	e.check = check_of(&e, j->mem + at + sizeof(e));
	memcpy(j->mem + at, &e, sizeof(e));
	/*
	 * The commit point. Release order keeps the entry's bytes before it, as seen by a process that maps the file
	 * after this one has died.
	 */
	__atomic_store_n(&j->head->end, end, __ATOMIC_RELEASE);
	return 0;
}

int scribe_journal_each(const struct scribe_journal *j,
			int (*fn)(void *ctx, uint32_t type, const void *data, size_t bytes), void *ctx)
{
	uint64_t at = sizeof(*j->head), end = j->head->end;
	int rc = 0;

	while (rc >= 0 && at < end) {
		struct entry e;

		if (end - at < sizeof(e))
			return -EIO;
		memcpy(&e, j->mem + at, sizeof(e));
		if (e.bytes > end - at - sizeof(e) || e.check != check_of(&e, j->mem + at + sizeof(e)))
			return -EIO;
		rc = fn(ctx, e.type, j->mem + at + sizeof(e), e.bytes);
		at += (sizeof(e) + (uint64_t)e.bytes + 7) / 8 * 8;
	}
	return rc < 0 ? rc : 0;
}

size_t scribe_pack(const void *from, size_t bytes, void *ret)
{
	size_t words = bytes / 8, maps = (words + 63) / 64, n = maps;
	const uint64_t *in = from;
	uint64_t *out = ret;

	memset(out, 0, maps * 8);
	for (size_t i = 0; i < words; i++)
		if (in[i]) {
			out[i / 64] |= 1ull << i % 64;
			out[n++] = in[i];
		}
	return n * 8;
}

long scribe_unpack(const void *from, size_t have, void *ret, size_t bytes)
{
	size_t words = bytes / 8, maps = (words + 63) / 64, n = maps;
	const uint64_t *in = from;
	uint64_t *out = ret;

	if (have < maps * 8)
		return -1;
	for (size_t i = 0; i < words; i++) {
		bool there = in[i / 64] >> i % 64 & 1;

		if (there && (n + 1) * 8 > have)
			return -1;
		out[i] = there ? in[n++] : 0;
	}
	return (long)(n * 8);
}
