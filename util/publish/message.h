/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_PUBLISH_MESSAGE_H
#define UTIL_PUBLISH_MESSAGE_H

#include <stdbool.h>

#include "logfmt/base/publish_ring.h"
#include "util/publish/sink_kind.h"
#include "util/text/outbuf.h"

struct scribe_messages;

int scribe_messages_new(struct scribe_messages **ret, const struct scribe_sink_options *options,
			struct scribe_err *err);
struct scribe_messages *scribe_messages_free(struct scribe_messages *m);

/* 1: wrote a message as a line; 0: none; -ENOMEM. */
int scribe_messages_take(struct scribe_messages *m, const struct scribe_publish_frame *frame, struct scribe_out *out);
/* Writes what a new reader needs: CSV column names and, with `again`, each record's last open. */
void scribe_messages_begin(struct scribe_messages *m, bool again, struct scribe_out *out);
/* Totals as messages of module STREAM; `lost`: before they came here. Unchanged values are omitted unless `last`. */
void scribe_messages_totals(struct scribe_messages *m, uint64_t lost, bool last, struct scribe_out *out);

#endif
