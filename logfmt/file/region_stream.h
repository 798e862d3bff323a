/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to logfmt/. */
#ifndef LOGFMT_FILE_REGION_STREAM_H
#define LOGFMT_FILE_REGION_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "logfmt/counters/records.h"

/* Limit of plain bytes per byte in the file (zlib cannot exceed 1032), and what is always allowed. */
#define SCRIBE_MAX_EXPANSION  4096u
#define SCRIBE_FREE_EXPANSION (64u << 20)

struct scribe_region_stream;

/* Borrows `fd`. NULL: out of memory. */
struct scribe_region_stream *scribe_region_stream_new(int fd, const char *label, const char *region, uint64_t off,
						      uint64_t len, enum scribe_compression comp);
struct scribe_region_stream *scribe_region_stream_free(struct scribe_region_stream *s);

/* Replaces the file as a source. `left` is NULL unless it supplies single records. */
struct scribe_region_supply {
	/* At most `capacity` bytes, never of two records; 0 bytes: the end. */
	int (*read)(void *from, void *to, size_t capacity, size_t *ret_n, struct scribe_err *err);
	/* Bytes of the current record not read yet. */
	uint64_t (*left)(const void *from);
	/* The source's own stream, for messages; or NULL. */
	const struct scribe_region_stream *(*below)(const void *from);
	void (*free)(void *from);
};
/* Owns `from`, also on failure. */
struct scribe_region_stream *scribe_region_stream_from(const struct scribe_region_supply *supply, void *from,
						       const char *label, const char *region);
/* NULL: another supply. */
void *scribe_region_stream_supplier(const struct scribe_region_stream *s, const struct scribe_region_supply *supply);

/* The whole next record; *ret_avail 0: the end. The stream must have a supply of records. */
int scribe_region_stream_need_record(struct scribe_region_stream *s, const void **ret_p, size_t *ret_avail,
				     struct scribe_err *err);
/* Within a record, not at its end. */
bool scribe_region_stream_mid_record(const struct scribe_region_stream *s);

/*
 * The next `n` bytes (fewer at the end) in one piece, valid until the next call; aligned to 8 if everything before
 * was skipped in multiples of 8.
 */
int scribe_region_stream_need(struct scribe_region_stream *s, size_t n, const void **ret_p, size_t *ret_avail,
			      struct scribe_err *err);
/* At most what the last need() returned. */
void scribe_region_stream_skip(struct scribe_region_stream *s, size_t n);

/* "LABEL: REGION region (file offset X, plain byte Y): text" */
int scribe_region_stream_error(const struct scribe_region_stream *s, struct scribe_err *err, int code, const char *fmt,
			       ...) __attribute__((format(printf, 4, 5)));

#endif
