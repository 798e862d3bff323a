/* SPDX-License-Identifier: BSD-3-Clause */
/* Record ids, equal to Darshan's. */
#ifndef LOGFMT_BASE_HASH_H
#define LOGFMT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* bytes may be NULL when len is 0. */
uint64_t scribe_hash64(const void *bytes, size_t len, uint64_t level);

/* level 0; len without the NUL. */
uint64_t scribe_record_id(const void *name, size_t len);

#endif
