/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one region of records of the single-region layout: which record is next, whose it is.
 * Private to logfmt/.
 */
#ifndef LOGFMT_FILE_FRAMED_H
#define LOGFMT_FILE_FRAMED_H

#include "logfmt/file/region_stream.h"
#include "logfmt/file/unified.h"

struct scribe_framed;

/*
 * `plain` (owned from here on, also where there is no memory) is the region; `modules` has a bit for each
 * that may have records there; `sorted`: they ascend.
 */
struct scribe_framed *scribe_framed_new(struct scribe_region_stream *plain, bool swapped, bool sorted,
					uint64_t modules);
struct scribe_framed *scribe_framed_free(struct scribe_framed *f); /* NULL allowed; returns NULL */

/* The module whose record is next, -1 where nothing is known yet. */
int scribe_framed_module(const struct scribe_framed *f);

/*
 * Records of one module, as they would stand in a region of their own: base record (id, rank) and what
 * follows, opaque records without. `f` is owned from here on, also where there is no memory. A record is
 * never given in one piece with the next one.
 */
struct scribe_framed_want {
	int module;
	unsigned version;   /* of every record */
	size_t fixed_bytes; /* of every record, with its base record; 0: any */
	bool raw;           /* version, length and encoding are no matter */
};
struct scribe_region_stream *scribe_framed_stream(struct scribe_framed *f, const char *label,
						  const char *region, const struct scribe_framed_want *want);
/* Where it is and what comes next there, to go on with another module; the caller's. NULL: not such a stream.
 */
struct scribe_framed *scribe_framed_take(struct scribe_region_stream *s);

#endif
