/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to logfmt/. */
#ifndef LOGFMT_FILE_PACK_H
#define LOGFMT_FILE_PACK_H

#include <stdbool.h>
#include <stddef.h>

#include "logfmt/counters/records.h"

struct scribe_pack;

/* Writes bytes. 0, or a negative code that ends the pack. */
typedef int scribe_pack_sink(void *to, const void *bytes, size_t n);

/* `level` 0: default. NULL: out of memory. */
struct scribe_pack *scribe_pack_new(enum scribe_compression comp, int level, scribe_pack_sink *sink, void *to);
struct scribe_pack *scribe_pack_free(struct scribe_pack *p); /* returns NULL */

/* Any put so far. */
bool scribe_pack_is_used(const struct scribe_pack *p);
/* 0, the sink's code, -SCRIBE_E_COMPRESSION or -ENOMEM. */
int scribe_pack_put(struct scribe_pack *p, const void *bytes, size_t n);
/* Afterwards all bytes are at the sink, and the pack must only be freed. */
int scribe_pack_end(struct scribe_pack *p);

#endif
