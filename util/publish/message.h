/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations as the messages of Darshan's connector for LDMS: one JSON object each, with counters that
 * run on. What a record's last open was is remembered, so that it can be told again to whoever begins
 * to listen later.
 */
#ifndef UTIL_PUBLISH_MESSAGE_H
#define UTIL_PUBLISH_MESSAGE_H

#include <stdbool.h>

#include "logfmt/base/publish_ring.h"
#include "util/text/outbuf.h"

struct scribe_messages;

/* 0 or -ENOMEM; free takes NULL and returns NULL. */
int scribe_messages_new(struct scribe_messages **ret, struct scribe_err *err);
struct scribe_messages *scribe_messages_free(struct scribe_messages *m);

/*
 * A frame. Of an operation its message is put out, a line with its end. 1: a message; 0: none; -ENOMEM.
 */
int scribe_messages_take(struct scribe_messages *m, const struct scribe_publish_frame *frame, struct scribe_out *out);
/* The last open of each record again, as it was told: for somebody who has begun to listen. */
void scribe_messages_opens(struct scribe_messages *m, struct scribe_out *out);

#endif
