// SPDX-License-Identifier: BSD-3-Clause
/* Times by rank, entries in order of appearance. For accum.c and `ioscribe summary`. */
#include "util/logs/rank_times.h"

#include <stdlib.h>
#include <string.h>

struct scribe_rank_time *scribe_rank_time_of(struct scribe_rank_times *t, int64_t rank)
{
	uintptr_t at;

	/* A rank's records are adjacent in a log. */
	if (t->last < t->n && t->entries[t->last].rank == rank)
		return &t->entries[t->last];
	at = (uintptr_t)scribe_map_get(&t->by_rank, (uint64_t)rank);
	if (!at) {
		if (t->n == t->capacity) {
			size_t capacity = t->capacity ? 2 * t->capacity : 64;
			struct scribe_rank_time *entries = realloc(t->entries, capacity * sizeof(*entries));

			if (!entries)
				return NULL;
			t->entries = entries;
			t->capacity = capacity;
		}
		at = t->n + 1;
		if (scribe_map_put(&t->by_rank, (uint64_t)rank, (void *)at) < 0)
			return NULL;
		t->entries[t->n++] = (struct scribe_rank_time){.rank = rank};
	}
	t->last = at - 1;
	return &t->entries[t->last];
}

void scribe_rank_times_clear(struct scribe_rank_times *t)
{
	free(t->entries);
	scribe_map_clear(&t->by_rank);
	memset(t, 0, sizeof(*t));
}
