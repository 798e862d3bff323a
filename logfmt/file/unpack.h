/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to logfmt/. */
#ifndef LOGFMT_FILE_UNPACK_H
#define LOGFMT_FILE_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

#include "logfmt/counters/records.h"

#define SCRIBE_UNPACK_WHY 128 /* bytes of an error's text */

struct scribe_unpack;

/* NULL: out of memory. Not for SCRIBE_COMP_NONE. */
struct scribe_unpack *scribe_unpack_new(enum scribe_compression comp);
struct scribe_unpack *scribe_unpack_free(struct scribe_unpack *u); /* returns NULL */

/* Within a stream. */
bool scribe_unpack_is_within(const struct scribe_unpack *u);
/* *ret_taken and *ret_n (bytes used, plain bytes) are always set. -SCRIBE_E_COMPRESSION or -ENOMEM: see `why`. */
int scribe_unpack_step(struct scribe_unpack *u, const unsigned char *in, size_t n, size_t *ret_taken, unsigned char *to,
		       size_t capacity, size_t *ret_n, char why[SCRIBE_UNPACK_WHY]);

#endif
