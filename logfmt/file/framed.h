/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to logfmt/. */
#ifndef LOGFMT_FILE_FRAMED_H
#define LOGFMT_FILE_FRAMED_H

#include "logfmt/file/region_stream.h"
#include "logfmt/file/unified.h"

struct scribe_framed;

/* Owns `plain`, also on failure. modules: bit per module with records; sorted: modules ascend. */
struct scribe_framed *scribe_framed_new(struct scribe_region_stream *plain, bool swapped, bool sorted,
					uint64_t modules);
struct scribe_framed *scribe_framed_free(struct scribe_framed *f); /* returns NULL */

/* -1: not read yet. */
int scribe_framed_module(const struct scribe_framed *f);

/*
 * Records of one module as in a region per module: id, rank and the rest; opaque records without id and rank. Owns
 * `f`, also on failure. One piece never holds two records.
 */
struct scribe_framed_want {
	int module;
	unsigned version;   /* required of every record */
	size_t fixed_bytes; /* required length with base record; 0: any */
	bool raw;           /* no requirements */
};
struct scribe_region_stream *scribe_framed_stream(struct scribe_framed *f, const char *label, const char *region,
						  const struct scribe_framed_want *want);
/* The position, for another module's stream; owned by the caller. NULL: not such a stream. */
struct scribe_framed *scribe_framed_take(struct scribe_region_stream *s);

#endif
