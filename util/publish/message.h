/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations as the messages of Darshan's connector for LDMS: one line of JSON or CSV each, with counters that
 * run on. What a record's last open was is remembered, so that it can be told again to whoever begins
 * to listen later.
 */
#ifndef UTIL_PUBLISH_MESSAGE_H
#define UTIL_PUBLISH_MESSAGE_H

#include <stdbool.h>

#include "logfmt/base/publish_ring.h"
#include "util/publish/sink_kind.h"
#include "util/text/outbuf.h"

struct scribe_messages;

/* Those that `options` ask for. 0 or -ENOMEM; free takes NULL and returns NULL. */
int scribe_messages_new(struct scribe_messages **ret, const struct scribe_sink_options *options,
			struct scribe_err *err);
struct scribe_messages *scribe_messages_free(struct scribe_messages *m);

/*
 * A frame. Of an operation that is asked for its message is put out, a line with its end. 1: a message; 0: none;
 * -ENOMEM.
 */
int scribe_messages_take(struct scribe_messages *m, const struct scribe_publish_frame *frame, struct scribe_out *out);
/*
 * What stands before all messages, for somebody who has begun to listen: the names of columns; where messages
 * were told `again`st others before, the last open of each record as it was told.
 */
void scribe_messages_begin(struct scribe_messages *m, bool again, struct scribe_out *out);
/*
 * Totals so far, as messages of module STREAM (docs/streams.md): operations sent; skipped by the options; `lost`
 * before they came here. Nothing where they are as told before, or 0; what was sent is told anyway if they are
 * the `last`.
 */
void scribe_messages_totals(struct scribe_messages *m, uint64_t lost, bool last, struct scribe_out *out);

#endif
