/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a batch of parts gives for the log, in a file of its own: a merge that was stopped goes on from the
 * batches that are whole. Read only by the program that wrote it. Private to logfmt/.
 */
#ifndef LOGFMT_NODES_SPOOL_H
#define LOGFMT_NODES_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum scribe_spool_kind {
	SCRIBE_SPOOL_PACKED = 1, /* records of a module as they stand in the log, compressed */
	SCRIBE_SPOOL_CARRIED,    /* a record that other batches have something of, too */
	SCRIBE_SPOOL_REDUCED,    /* the element (reduce.h) of a record that all ranks have */
};

struct scribe_spool_item {
	uint32_t kind, module;
	uint64_t id, bytes; /* these follow, padded to 8 */
};

struct scribe_parts_spool;

/* A new file in place of what is there; `plan` says of what it is made. NULL and errno. */
struct scribe_parts_spool *scribe_spool_create(const char *path, uint64_t plan);
int scribe_spool_put(struct scribe_parts_spool *s, enum scribe_spool_kind kind, int module, uint64_t id,
		     const void *bytes, size_t n);
/* Makes it whole: 0 or -errno. It is freed in any case. */
int scribe_spool_finish(struct scribe_parts_spool *s, bool whole);

/* Does a whole one of that plan stand there? */
bool scribe_spool_is_whole(const char *path, uint64_t plan);
/* The whole one as it lies in memory (mapped, *ret_bytes of it); NULL and errno. */
void *scribe_spool_map(const char *path, uint64_t plan, size_t *ret_bytes);
void scribe_spool_unmap(void *spool, size_t bytes);
/* The item at *at (0: the first) and its bytes; *at is the next one's then. NULL: there is none. */
const struct scribe_spool_item *scribe_spool_next(const void *spool, size_t bytes, size_t *at,
						  const void **ret_data);

#endif
