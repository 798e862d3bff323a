/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stock description of each module's counters, as printed before its records.
 */
#ifndef UTIL_TEXT_DESCRIBE_H
#define UTIL_TEXT_DESCRIBE_H

#include <stddef.h>

#include "util/text/outbuf.h"

/*
 * The description of a module's counters as text of that module version. Our own
 * modules are described from their counter lists.
 */
void scribe_describe(struct scribe_out *out, int module, unsigned version);

#endif
