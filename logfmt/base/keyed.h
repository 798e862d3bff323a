/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a table in memory places a key. Differs from process to process: never stored, sent or printed. */
#ifndef LOGFMT_BASE_KEYED_H
#define LOGFMT_BASE_KEYED_H

#include <stddef.h>
#include <stdint.h>

/* All 64 bits are good. Any thread; no system call. `bytes` may be NULL when len is 0. */
uint64_t scribe_keyed(const void *bytes, size_t len);

/* The same of an id. */
static inline uint64_t scribe_keyed_id(uint64_t id)
{
	return scribe_keyed(&id, sizeof(id));
}

#endif
