/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory depends on the number of records, not on rank numbers, which come from the file. */
#ifndef UTIL_LOGS_RANK_TIMES_H
#define UTIL_LOGS_RANK_TIMES_H

#include <stddef.h>
#include <stdint.h>

#include "logfmt/records/hashmap.h"

struct scribe_rank_time {
	int64_t rank;           /* >= 0 */
	double total, rw, meta; /* seconds */
};

/* Zero-initialised: empty. */
struct scribe_rank_times {
	struct scribe_rank_time *entries;
	struct scribe_map by_rank; /* 1 + index in entries */
	size_t n, capacity;
	size_t last; /* index of the last result */
};

/* Finds or adds an entry, valid until the next call. NULL: out of memory. */
struct scribe_rank_time *scribe_rank_time_of(struct scribe_rank_times *t, int64_t rank);
void scribe_rank_times_clear(struct scribe_rank_times *t);

#endif
