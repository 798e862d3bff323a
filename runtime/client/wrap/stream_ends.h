/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a stream stands, and how far its bytes go: asked of the C library. errno is kept. */
#ifndef RUNTIME_CLIENT_WRAP_STREAM_ENDS_H
#define RUNTIME_CLIENT_WRAP_STREAM_ENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "logfmt/rules/streams.h"
#include "runtime/client/wrap/announce.h"

/* Position of the program in the stream; negative: none, or it cannot be asked for. */
int64_t scribe_stream_tell(FILE *f);
/* The last byte of a stream that appends, before it is closed or after it was flushed, into its place. */
void scribe_append_end(struct scribe_counter_slot *s, FILE *f, bool closing);
/* That of another one that only wrote, or only read, before it is closed. */
void scribe_settle_end(struct scribe_counter_slot *s, FILE *f);

#endif
