/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times of ranks, one entry a rank that has a record: memory follows the
 * records of the log, never the ranks that they name.
 */
#ifndef UTIL_LOGS_RANK_TIMES_H
#define UTIL_LOGS_RANK_TIMES_H

#include <stddef.h>
#include <stdint.h>

struct scribe_rank_time {
	int64_t rank;          /* >= 0 */
	double total, rw, meta; /* seconds */
};

/* All zero: empty. Entries stand in order of appearance. */
struct scribe_rank_times {
	struct scribe_rank_time *entries;
	uint32_t *places; /* open addressing: 1 + place in entries, 0 empty */
	size_t n, room, nplaces;
	size_t last; /* the entry given last: records of a rank come together */
};

/* The entry of a rank, made with zeros when new; valid until the next call. NULL: out of memory. */
struct scribe_rank_time *scribe_rank_time_of(struct scribe_rank_times *t, int64_t rank);
/* Gives the memory back; the table is empty again. */
void scribe_rank_times_clear(struct scribe_rank_times *t);

#endif
