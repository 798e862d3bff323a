// SPDX-License-Identifier: BSD-3-Clause
/* A hash of ranks and times, entries in order of appearance. For accum.c and `ioscribe summary`. */
#include "util/logs/rank_times.h"

#include <stdlib.h>
#include <string.h>

#include "logfmt/base/keyed.h"

static size_t place_of(const struct scribe_rank_times *t, int64_t rank)
{
	size_t at = (size_t)scribe_keyed_id((uint64_t)rank) & (t->nplaces - 1);

	while (t->buckets[at] && t->entries[t->buckets[at] - 1].rank != rank)
		at = (at + 1) & (t->nplaces - 1);
	return at;
}

/* -1: out of memory; the table stays valid. */
static int grow(struct scribe_rank_times *t)
{
	size_t capacity = t->capacity ? 2 * t->capacity : 64;
	struct scribe_rank_time *entries;
	uint32_t *buckets;

	if (capacity > UINT32_MAX / 2)
		return -1;
	entries = realloc(t->entries, capacity * sizeof(*entries));
	if (!entries)
		return -1;
	t->entries = entries;
	/* Twice as many slots as entries, a power of two. */
	buckets = calloc(2 * capacity, sizeof(*buckets));
	if (!buckets)
		return -1;
	free(t->buckets);
	t->buckets = buckets;
	t->nplaces = 2 * capacity;
	t->capacity = capacity;
	for (size_t i = 0; i < t->n; i++)
		t->buckets[place_of(t, entries[i].rank)] = (uint32_t)(i + 1);
	return 0;
}

struct scribe_rank_time *scribe_rank_time_of(struct scribe_rank_times *t, int64_t rank)
{
	size_t at;

	/* A rank's records are adjacent in a log. */
	if (t->last < t->n && t->entries[t->last].rank == rank)
		return &t->entries[t->last];
	if (t->n == t->capacity && grow(t))
		return NULL;
	at = place_of(t, rank);
	if (!t->buckets[at]) {
		t->entries[t->n] = (struct scribe_rank_time){.rank = rank};
		t->buckets[at] = (uint32_t)++t->n;
	}
	t->last = t->buckets[at] - 1;
	return &t->entries[t->last];
}

void scribe_rank_times_clear(struct scribe_rank_times *t)
{
	free(t->entries);
	free(t->buckets);
	memset(t, 0, sizeof(*t));
}
