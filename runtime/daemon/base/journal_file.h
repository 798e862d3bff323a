/* SPDX-License-Identifier: BSD-3-Clause */
/* An append-only file of entries that survives the end of its writer at any instruction. */
#ifndef RUNTIME_DAEMON_BASE_JOURNAL_FILE_H
#define RUNTIME_DAEMON_BASE_JOURNAL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCRIBE_JOURNAL_VERSION 4u
#define SCRIBE_JOURNAL_MOST    (1ull << 30)  /* bytes */
#define SCRIBE_JOURNAL_SMALL   (16ull << 20) /* bytes; has room where others have taken all they may */

/* Magic, version and layout are the same in every version. */
struct scribe_journal_head {
	char magic[8];
	uint32_t version, layout; /* of the file, and of the entries */
	uint64_t end;             /* valid bytes, with this head */
	uint64_t position;        /* in the kernel's ring, after the last recorded event */
	uint64_t broken;          /* 1: it could not grow, and later entries are missing */
	uint64_t read;            /* consecutive starts that read it without serving */
};

struct scribe_journal {
	int fd;
	struct scribe_journal_head *head; /* NULL: closed; an all-zero struct is closed, too */
	char *mem;
	uint64_t bytes; /* mapped */
};

struct scribe_journal_piece {
	const void *at;
	size_t bytes;
};

/* Bytes of the file system of `dir` that all journals may take; 0: unknown. */
uint64_t scribe_journal_room(const char *dir);
/* A new file, mode 0600. */
int scribe_journal_create(struct scribe_journal *j, const char *path, uint32_t layout);
/* -EINVAL: not a journal; -EPROTONOSUPPORT: another version or layout. */
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
 * On error the journal is broken from then on. -ENOSPC also beyond SCRIBE_JOURNAL_MOST, or if too little disk is left.
 */
int scribe_journal_put(struct scribe_journal *j, uint32_t type, const struct scribe_journal_piece *piece,
		       unsigned pieces);
/* All entries in order; a negative result of `fn` is returned. -EIO: a damaged entry. */
int scribe_journal_each(const struct scribe_journal *j,
			int (*fn)(void *ctx, uint32_t type, const void *data, size_t bytes), void *ctx);

/*
 * Compresses 8-byte words: a bitmap of words that are not 0, then these. `bytes`: a multiple of 8. Returns the length,
 * at most scribe_pack_room(bytes).
 */
size_t scribe_pack(const void *from, size_t bytes, void *ret);
/* Returns the bytes consumed, or -1 if there are too few. */
long scribe_unpack(const void *from, size_t have, void *ret, size_t bytes);
#define scribe_pack_room(bytes) (((bytes) / 8 + 63) / 64 * 8 + (bytes))

#endif
