/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages as lines. */
#ifndef UTIL_PUBLISH_MESSAGE_LINE_H
#define UTIL_PUBLISH_MESSAGE_LINE_H

#include "logfmt/base/publish_ring.h"
#include "util/text/outbuf.h"

/* -1: the operation lacks this value. Texts are borrowed; only opens have them. */
struct scribe_message_line {
	const struct scribe_publish_job *job;
	const struct scribe_publish_event *e;
	const char *exe, *file;
	size_t exe_bytes, file_bytes;
	const char *op;
	const char *module;
	uint64_t total_ns;
	int64_t max_byte, switches, flushes, cnt, off, len;
	int64_t points, irregular, regular, ndims, npoints;
};

/* The order of fields is stable (docs/streams.md). */
void scribe_message_json(struct scribe_out *out, const struct scribe_message_line *l);
void scribe_message_csv(struct scribe_out *out, const struct scribe_message_line *l);
void scribe_message_csv_header(struct scribe_out *out);

#endif
