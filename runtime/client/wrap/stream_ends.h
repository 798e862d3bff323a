/* SPDX-License-Identifier: BSD-3-Clause */
/* errno is kept. */
#ifndef RUNTIME_CLIENT_WRAP_STREAM_ENDS_H
#define RUNTIME_CLIENT_WRAP_STREAM_ENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "logfmt/rules/streams.h"
#include "runtime/client/wrap/announce.h"

/* Of the program; negative: none, or not allowed. */
int64_t scribe_stream_position(FILE *f);
/* Last byte of an appending stream, before close or after a flush. */
void scribe_append_end(struct scribe_counter_slot *s, FILE *f, bool closing);
/* Last byte of a stream that only wrote or only read, before close. */
void scribe_stream_end_position(struct scribe_counter_slot *s, FILE *f);

#endif
