/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One record of extended tracing as text, as darshan-dxt-parser prints it.
 */
#ifndef UTIL_TEXT_DXT_TEXT_H
#define UTIL_TEXT_DXT_TEXT_H

#include <stdbool.h>

#include "logfmt/file/reader.h"
#include "logfmt/counters/records.h"
#include "util/text/rows.h"

struct scribe_dxt_place {
	const char *name; /* NULL: the log has none */
	size_t name_len;
	const char *mount, *fs;
	const struct scribe_lustre_record *layout; /* of a file on Lustre; counts for DXT_POSIX only */
};

/*
 * A record of module DXT_POSIX or DXT_MPIIO. threads: the log names the thread
 * of each operation, which gives a line and two columns more.
 */
void scribe_dxt_text(struct scribe_out *out, int module, const struct scribe_dxt_record *r,
		     const struct scribe_dxt_place *at, bool threads);
/* The same piece by piece, of a log that names no threads: how many there were is told first. */
void scribe_dxt_text_piece(struct scribe_out *out, int module, const struct scribe_dxt_piece *p,
			   const struct scribe_dxt_place *at);

#endif
