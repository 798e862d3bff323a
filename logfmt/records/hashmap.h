/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A map from 64-bit keys to pointers (not NULL), open addressing. The map does
 * not own what it points to.
 */
#ifndef LOGFMT_RECORDS_HASHMAP_H
#define LOGFMT_RECORDS_HASHMAP_H

#include <stddef.h>
#include <stdint.h>

struct scribe_map_entry {
	uint64_t key;
	void *value; /* NULL: empty */
};

struct scribe_map {
	struct scribe_map_entry *entry; /* places, a power of two; NULL when none was put yet */
	size_t places;
	size_t used;
};

/* The value of `key`, or NULL. */
void *scribe_map_get(const struct scribe_map *map, uint64_t key);
/* Put or replace. 0 or -ENOMEM. */
int scribe_map_put(struct scribe_map *map, uint64_t key, void *value);
/* Remove; returns the value or NULL. */
void *scribe_map_take(struct scribe_map *map, uint64_t key);
/*
 * All `used` keys, ascending; the caller's to free. NULL: no memory. The order of `entry` differs from run to
 * run: whatever reaches a log or an output goes in this order.
 */
uint64_t *scribe_map_keys(const struct scribe_map *map);
/* Free the places; the map is empty afterwards. */
void scribe_map_clear(struct scribe_map *map);

#endif
