/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel programs are told of streams (logfmt/rules/streams.h). errno is kept. */
#ifndef RUNTIME_CLIENT_WRAP_ANNOUNCE_H
#define RUNTIME_CLIENT_WRAP_ANNOUNCE_H

#include <stdbool.h>
#include <stdint.h>

#include "logfmt/rules/streams.h"

/* The C library's stream; <stdio.h> would bring macros and inline forms of what is defined here. */
typedef struct _IO_FILE FILE;

extern bool scribe_shm_counters_on __attribute__((visibility("hidden"))); /* from the library's start on */

/* A descriptor, or a standard stream, is counted in a place of a memory. Not in a sealed program. */
void scribe_tell(int fd, uint32_t memory, uint32_t index, uint32_t gen, enum scribe_tell what);
/* A stream is about to be opened, under a name; it has been, NULL: in vain. */
void scribe_stream_opening(void);
void scribe_stream_opened(const FILE *f);
/* Which standard stream it is, negative: none, or one that was opened under another name. */
int scribe_stream_standard(const FILE *f);

#endif
