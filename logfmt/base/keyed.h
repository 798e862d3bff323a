/* SPDX-License-Identifier: BSD-3-Clause */
/* For tables in memory only: differs per process. */
#ifndef LOGFMT_BASE_KEYED_H
#define LOGFMT_BASE_KEYED_H

#include <stddef.h>
#include <stdint.h>

/* Any thread. `bytes` may be NULL when len is 0. */
uint64_t scribe_keyed(const void *bytes, size_t len);

static inline uint64_t scribe_keyed_id(uint64_t id)
{
	return scribe_keyed(&id, sizeof(id));
}

#endif
