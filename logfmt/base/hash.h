/* SPDX-License-Identifier: BSD-3-Clause */
/* Record ids: the 64-bit hash of a record's name, as Darshan makes them. */
#ifndef LOGFMT_BASE_HASH_H
#define LOGFMT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/*
 * Bob Jenkins' 64-bit hash of 1997 ("lookup8") of `len` bytes, starting from
 * `level`. Any bytes; name may be NULL when len is 0.
 */
uint64_t scribe_hash64(const void *bytes, size_t len, uint64_t level);

/* Record id of a name (level 0), without its NUL. */
uint64_t scribe_record_id(const void *name, size_t len);

#endif
