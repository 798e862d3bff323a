/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces as text. */
#ifndef UTIL_TEXT_DXT_TEXT_H
#define UTIL_TEXT_DXT_TEXT_H

#include <stdbool.h>

#include "logfmt/counters/records.h"
#include "logfmt/file/reader.h"
#include "util/text/rows.h"

struct scribe_dxt_place {
	const char *name; /* NULL: not in the log */
	size_t name_len;
	const char *mount, *fs;
	const struct scribe_lustre_record *layout; /* NULL: not on Lustre; used for DXT_POSIX */
};

/* threads: the log has thread ids, which adds a line and two columns. */
void scribe_dxt_text(struct scribe_out *out, int module, const struct scribe_dxt_record *r,
		     const struct scribe_dxt_place *at, bool threads);
/* A piece of a record without thread ids, because their number belongs into the head. */
void scribe_dxt_text_piece(struct scribe_out *out, int module, const struct scribe_dxt_piece *p,
			   const struct scribe_dxt_place *at);

#endif
