/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to logfmt/. */
#ifndef LOGFMT_NODES_SPOOL_H
#define LOGFMT_NODES_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum scribe_spool_kind {
	SCRIBE_SPOOL_PACKED = 1, /* a module's records as in the log, compressed */
	SCRIBE_SPOOL_CARRIED,    /* a record that other batches also have */
	SCRIBE_SPOOL_REDUCED,    /* element (reduce.h) of a record of all ranks */
};

struct scribe_spool_item {
	uint32_t kind, module;
	uint64_t id, bytes; /* of what follows, padded to 8 */
};

struct scribe_parts_spool;

/* Replaces a file. `plan`: identifies the input. NULL and errno. */
struct scribe_parts_spool *scribe_spool_create(const char *path, uint64_t plan);
int scribe_spool_put(struct scribe_parts_spool *s, enum scribe_spool_kind kind, int module, uint64_t id,
		     const void *bytes, size_t n);
/* Frees `s` in any case. whole: the file becomes valid. */
int scribe_spool_finish(struct scribe_parts_spool *s, bool whole);

/* A valid file of that plan. */
bool scribe_spool_is_whole(const char *path, uint64_t plan);
/* Maps a valid file; NULL and errno. */
void *scribe_spool_map(const char *path, uint64_t plan, size_t *ret_bytes);
void scribe_spool_unmap(void *spool, size_t bytes);
/* The item at *at (0: the first), which moves to the next. NULL: end. */
const struct scribe_spool_item *scribe_spool_next(const void *spool, size_t bytes, size_t *at, const void **ret_data);

#endif
