/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An append-only file of entries that survives the death of its writer at any
 * instruction: memory mapped, and an entry counts when the length in the head
 * includes it and its check is right. What the entries mean is job_journal.c's.
 */
#ifndef RUNTIME_DAEMON_BASE_JOURNAL_FILE_H
#define RUNTIME_DAEMON_BASE_JOURNAL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCRIBE_JOURNAL_VERSION 4u
#define SCRIBE_JOURNAL_MOST    (1ull << 30) /* bytes of a journal */

/* The first three are the same in every version. */
struct scribe_journal_head {
	char magic[8];
	uint32_t version, layout; /* of the file, and of what its entries hold */
	uint64_t end;             /* bytes that count, with this head */
	uint64_t position;        /* in the kernel's ring, behind the last event that is in here */
	uint64_t broken;          /* 1: it could not grow, and what followed is not in it */
	uint64_t read; /* times in a row that a daemon has begun to read it, and not served afterwards */
};

struct scribe_journal {
	int fd;
	struct scribe_journal_head *head; /* NULL: closed, as is one of zeros */
	char *mem;
	uint64_t bytes; /* mapped */
};

struct scribe_journal_piece {
	const void *at;
	size_t bytes;
};

/* A new file, 0600; -EEXIST as any -errno of the file system. */
int scribe_journal_create(struct scribe_journal *j, const char *path, uint32_t layout);
/* One that is there. -EINVAL: no journal; -EPROTONOSUPPORT: of another version or layout. */
int scribe_journal_open(struct scribe_journal *j, const char *path, uint32_t layout);
void scribe_journal_close(struct scribe_journal *j);
static inline bool scribe_journal_is_open(const struct scribe_journal *j)
{
	return j->head;
}
static inline bool scribe_journal_is_broken(const struct scribe_journal *j)
{
	return j->head->broken;
}
/*
 * Append an entry. -ENOSPC and the like: the journal is broken from now on, as when it would be larger
 * than SCRIBE_JOURNAL_MOST or fill its file system, which others need as well.
 */
int scribe_journal_put(struct scribe_journal *j, uint32_t type, const struct scribe_journal_piece *piece,
		       unsigned pieces);
/*
 * Every entry in order; a negative return of `fn` ends it and is returned. -EIO: what follows is not what
 * was put there.
 */
int scribe_journal_each(const struct scribe_journal *j,
			int (*fn)(void *ctx, uint32_t type, const void *data, size_t bytes), void *ctx);

/*
 * Words of 8 bytes without their zeros: a bitmap of 1 bit a word, then the words
 * that are not 0. `bytes` is a multiple of 8. Returns the packed length, at most
 * scribe_pack_room(bytes).
 */
size_t scribe_pack(const void *from, size_t bytes, void *ret);
/* The reverse; bytes taken from `from`, or -1 when there are too few. */
long scribe_unpack(const void *from, size_t have, void *ret, size_t bytes);
#define scribe_pack_room(bytes) (((bytes) / 8 + 63) / 64 * 8 + (bytes))

#endif
