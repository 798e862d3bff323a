/* SPDX-License-Identifier: BSD-3-Clause */
/* Open addressing, without tombstones, which would fill a map that lives as long as the daemon. */
#include "logfmt/records/hashmap.h"

#include <errno.h>
#include <stdlib.h>

#include "logfmt/base/keyed.h"

#define FIRST_BUCKETS 64

static size_t home(const struct scribe_map *map, uint64_t key)
{
	return (size_t)scribe_keyed_id(key) & (map->buckets - 1);
}

static struct scribe_map_entry *find(const struct scribe_map *map, uint64_t key)
{
	size_t at = home(map, key);

	while (map->entry[at].value && map->entry[at].key != key)
		at = (at + 1) & (map->buckets - 1);
	return &map->entry[at];
}

void *scribe_map_get(const struct scribe_map *map, uint64_t key)
{
	return map->buckets ? find(map, key)->value : NULL;
}

static int grow(struct scribe_map *map)
{
	struct scribe_map bigger = {.buckets = map->buckets ? map->buckets * 2 : FIRST_BUCKETS};

	bigger.entry = calloc(bigger.buckets, sizeof(*bigger.entry));
	if (!bigger.entry)
		return -ENOMEM;
	for (size_t i = 0; i < map->buckets; i++)
		if (map->entry[i].value)
			*find(&bigger, map->entry[i].key) = map->entry[i];
	bigger.used = map->used;
	free(map->entry);
	*map = bigger;
	return 0;
}

int scribe_map_put(struct scribe_map *map, uint64_t key, void *value)
{
	struct scribe_map_entry *p;

	/* At most three quarters full, so that find always ends at an empty entry. */
	if (map->used * 4 >= map->buckets * 3) {
		int rc = grow(map);

		if (rc < 0)
			return rc;
	}
	p = find(map, key);
	if (!p->value)
		map->used++;
	p->key = key;
	p->value = value;
	return 0;
}

void *scribe_map_take(struct scribe_map *map, uint64_t key)
{
	struct scribe_map_entry *p;
	size_t hole, at;
	void *value;

	if (!map->buckets)
		return NULL;
	p = find(map, key);
	value = p->value;
	if (!value)
		return NULL;
	hole = at = (size_t)(p - map->entry);
	/* Following entries move into the hole, up to an empty entry, so that every search still finds its key. */
	for (;;) {
		size_t want;

		at = (at + 1) & (map->buckets - 1);
		if (!map->entry[at].value)
			break;
		want = home(map, map->entry[at].key);
		if (((at - want) & (map->buckets - 1)) < ((at - hole) & (map->buckets - 1)))
			continue;
		map->entry[hole] = map->entry[at];
		hole = at;
	}
	map->entry[hole].value = NULL;
	map->used--;
	return value;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

uint64_t *scribe_map_keys(const struct scribe_map *map)
{
	uint64_t *keys = calloc(map->used + 1, sizeof(*keys));
	size_t n = 0;

	if (!keys)
		return NULL;
	for (size_t i = 0; i < map->buckets; i++)
		if (map->entry[i].value)
			keys[n++] = map->entry[i].key;
	qsort(keys, n, sizeof(*keys), by_value);
	return keys;
}

void scribe_map_clear(struct scribe_map *map)
{
	free(map->entry);
	*map = (struct scribe_map){0};
}
