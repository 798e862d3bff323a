/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One region of a log as a stream of plain bytes, through a window that grows
 * only with data that have really come. Private to logfmt/.
 */
#ifndef LOGFMT_STREAM_H
#define LOGFMT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "logfmt/records.h"

/* Plain bytes a region may hold for each byte in the file (zlib cannot exceed 1032)... */
#define SCRIBE_MAX_EXPANSION 4096u
/* ... and what it may hold in any case. */
#define SCRIBE_FREE_EXPANSION (64u << 20)

struct scribe_stream;

/* Region [off, off + len) of `fd` (borrowed), named `region` in messages. NULL: no memory. */
struct scribe_stream *scribe_stream_new(int fd, const char *label, const char *region, uint64_t off,
					uint64_t len, enum scribe_compression comp);
struct scribe_stream *scribe_stream_free(struct scribe_stream *s);

/*
 * Have the next `n` bytes (or all that are left, if fewer) in one piece.
 * *ret_p is aligned to 8 when everything before was taken in multiples of 8;
 * valid until the next call. 0 or a negative code.
 */
int scribe_stream_need(struct scribe_stream *s, size_t n, const void **ret_p, size_t *ret_avail,
		       struct scribe_err *err);
/* Pass over `n` bytes that the last need() gave. */
void scribe_stream_skip(struct scribe_stream *s, size_t n);

/* "LABEL: REGION region (file offset X, plain byte Y): text" */
int scribe_stream_error(const struct scribe_stream *s, struct scribe_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
