/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decompression of a region's bytes, which are complete streams one after another. Private to logfmt/.
 */
#ifndef LOGFMT_FILE_UNPACK_H
#define LOGFMT_FILE_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

#include "logfmt/counters/records.h"

#define SCRIBE_UNPACK_WHY 128 /* room for what is wrong with the bytes */

struct scribe_unpack;

/* NULL: no memory. `comp` is one that needs decompression. */
struct scribe_unpack *scribe_unpack_new(enum scribe_compression comp);
struct scribe_unpack *scribe_unpack_free(struct scribe_unpack *u); /* NULL allowed; returns NULL */

/* Is a stream begun and not ended? */
bool scribe_unpack_is_within(const struct scribe_unpack *u);
/*
 * From `n` bytes of input up to `room` plain bytes; what of both was used in *ret_taken and *ret_n, which are
 * set in any case. A stream's end makes the next bytes a new one. -SCRIBE_E_COMPRESSION or -ENOMEM: see
 * `why`.
 */
int scribe_unpack_step(struct scribe_unpack *u, const unsigned char *in, size_t n, size_t *ret_taken,
		       unsigned char *to, size_t room, size_t *ret_n, char why[SCRIBE_UNPACK_WHY]);

#endif
