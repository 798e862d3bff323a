/* SPDX-License-Identifier: BSD-3-Clause */
/* A map from 64-bit keys to pointers (not NULL), which it does not own. */
#ifndef LOGFMT_RECORDS_HASHMAP_H
#define LOGFMT_RECORDS_HASHMAP_H

#include <stddef.h>
#include <stdint.h>

struct scribe_map_entry {
	uint64_t key;
	void *value; /* NULL: empty */
};

struct scribe_map {
	struct scribe_map_entry *entry; /* `buckets`, a power of two, or NULL */
	size_t buckets;
	size_t used;
};

void *scribe_map_get(const struct scribe_map *map, uint64_t key);
/* Replaces. 0 or -ENOMEM. */
int scribe_map_put(struct scribe_map *map, uint64_t key, void *value);
/* Returns the value or NULL. */
void *scribe_map_take(struct scribe_map *map, uint64_t key);
/*
 * Ascending; freed by the caller. NULL: out of memory. Needed for all output, because the order of `entry`
 * differs between runs.
 */
uint64_t *scribe_map_keys(const struct scribe_map *map);
void scribe_map_clear(struct scribe_map *map);

#endif
