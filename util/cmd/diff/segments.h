/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CMD_DIFF_SEGMENTS_H
#define UTIL_CMD_DIFF_SEGMENTS_H

#include "logfmt/counters/module.h"
#include "util/text/outbuf.h"

/* One log's record; NULL if it has none for this file and rank. */
struct scribe_diff_segments {
	const struct scribe_dxt_record *record;
	const char *name;
	size_t len;
};

/* Prints differing writes, then reads. `in`: the two logs' records of module m. */
void scribe_diff_segments(struct scribe_out *out, const struct scribe_module *m,
			  const struct scribe_diff_segments in[2]);

#endif
