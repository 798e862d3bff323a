/* SPDX-License-Identifier: BSD-3-Clause */
/* Traced operations of two records of a file and rank, compared one by one. */
#ifndef UTIL_CMD_DIFF_SEGMENTS_H
#define UTIL_CMD_DIFF_SEGMENTS_H

#include "logfmt/counters/module.h"
#include "util/text/outbuf.h"

/* A record of either log; NULL: it has none. */
struct scribe_diff_segments {
	const struct scribe_dxt_record *record;
	const char *name; /* of the file, len bytes */
	size_t len;
};

/* Rows of what differs: writes, then reads, each by its number. `in` as module m has them. */
void scribe_diff_segments(struct scribe_out *out, const struct scribe_module *m,
			  const struct scribe_diff_segments in[2]);

#endif
