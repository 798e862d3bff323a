/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One region of a log as a stream of plain bytes, through a window that grows
 * only with data that have really come. Private to logfmt/.
 */
#ifndef LOGFMT_FILE_REGION_STREAM_H
#define LOGFMT_FILE_REGION_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "logfmt/counters/records.h"

/* Plain bytes a region may hold for each byte in the file (zlib cannot exceed 1032)... */
#define SCRIBE_MAX_EXPANSION 4096u
/* ... and what it may hold in any case. */
#define SCRIBE_FREE_EXPANSION (64u << 20)

struct scribe_region_stream;

/* Region [off, off + len) of `fd` (borrowed), named `region` in messages. NULL: no memory. */
struct scribe_region_stream *scribe_region_stream_new(int fd, const char *label, const char *region,
						      uint64_t off, uint64_t len,
						      enum scribe_compression comp);
struct scribe_region_stream *scribe_region_stream_free(struct scribe_region_stream *s);

/* Where a stream's bytes come from instead of a file. `left` is NULL but where they are records given singly.
 */
struct scribe_region_supply {
	/* Up to `room` bytes, never of two records; none: the end. */
	int (*read)(void *from, void *to, size_t room, size_t *ret_n, struct scribe_err *err);
	/* Bytes of the record that was begun which were not read yet. */
	uint64_t (*left)(const void *from);
	/* The stream from which the bytes come, for messages; NULL: none any more. */
	const struct scribe_region_stream *(*below)(const void *from);
	void (*free)(void *from);
};
/* `from` is owned from here on, also where there is no memory. */
struct scribe_region_stream *scribe_region_stream_from(const struct scribe_region_supply *supply, void *from,
						       const char *label, const char *region);
/* `from` of a stream of that supply; NULL: it is of another one. */
void *scribe_region_stream_supplier(const struct scribe_region_stream *s,
				    const struct scribe_region_supply *supply);

/* Have the next record whole, of whatever length: 0 and *ret_avail 0 at the end. Of a supply of records only.
 */
int scribe_region_stream_need_record(struct scribe_region_stream *s, const void **ret_p, size_t *ret_avail,
				     struct scribe_err *err);
/* Is a record begun and not yet passed over to its end? */
bool scribe_region_stream_mid_record(const struct scribe_region_stream *s);

/*
 * Have the next `n` bytes (or all that are left, if fewer) in one piece.
 * *ret_p is aligned to 8 when everything before was taken in multiples of 8;
 * valid until the next call. 0 or a negative code.
 */
int scribe_region_stream_need(struct scribe_region_stream *s, size_t n, const void **ret_p, size_t *ret_avail,
			      struct scribe_err *err);
/* Pass over `n` bytes that the last need() gave. */
void scribe_region_stream_skip(struct scribe_region_stream *s, size_t n);

/* "LABEL: REGION region (file offset X, plain byte Y): text" */
int scribe_region_stream_error(const struct scribe_region_stream *s, struct scribe_err *err, int code,
			       const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif
