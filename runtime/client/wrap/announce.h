/* SPDX-License-Identifier: BSD-3-Clause */
/* errno is kept. */
#ifndef RUNTIME_CLIENT_WRAP_ANNOUNCE_H
#define RUNTIME_CLIENT_WRAP_ANNOUNCE_H

#include <stdbool.h>
#include <stdint.h>

#include "logfmt/rules/streams.h"

/* <stdio.h> has macros and inline forms of functions defined here. */
typedef struct _IO_FILE FILE;

extern bool scribe_shm_counters_on __attribute__((visibility("hidden"))); /* set at load */

/* A descriptor or standard stream is counted at `index` of a memory. Not in sealed programs. */
void scribe_announce_use(int fd, uint32_t memory, uint32_t index, uint32_t gen, enum scribe_announce_use what);
/* Before and after an open by name; NULL: it failed. */
void scribe_stream_opening(void);
void scribe_stream_opened(const FILE *f);
/* Its number; negative: not a standard stream, or reopened by name. */
int scribe_stream_standard(const FILE *f);

#endif
