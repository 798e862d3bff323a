/* SPDX-License-Identifier: BSD-3-Clause */
/* One message as text: a line of JSON, or of CSV. */
#ifndef UTIL_PUBLISH_MESSAGE_LINE_H
#define UTIL_PUBLISH_MESSAGE_LINE_H

#include "logfmt/base/publish_ring.h"
#include "util/text/outbuf.h"

/* -1 for numbers that the operation has not. Texts are borrowed; NULL: none, as of all but opens. */
struct scribe_message_line {
	const struct scribe_publish_job *job;
	const struct scribe_publish_event *e;
	const char *exe, *file;
	size_t exe_bytes, file_bytes;
	const char *op;
	const char *module; /* NULL: the operation's */
	uint64_t total_ns;
	int64_t max_byte, switches, flushes, cnt, off, len;
	int64_t points, irregular, regular, ndims, npoints;
};

/* The line with its end, in lasting order of its fields (docs/streams.md). */
void scribe_message_json(struct scribe_out *out, const struct scribe_message_line *l);
void scribe_message_csv(struct scribe_out *out, const struct scribe_message_line *l);
/* The columns' names, as LDMS's store has them. */
void scribe_message_csv_header(struct scribe_out *out);

#endif
