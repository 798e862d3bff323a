/* SPDX-License-Identifier: BSD-3-Clause */
/* Darshan's descriptions of counters. */
#ifndef UTIL_TEXT_DESCRIBE_H
#define UTIL_TEXT_DESCRIBE_H

#include <stddef.h>

#include "util/text/outbuf.h"

/* Prints the description for a record version; our own modules use the counter lists. */
void scribe_describe(struct scribe_out *out, int module, unsigned version);

#endif
