/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What reduction and merging share: which counters of a module belong together,
 * and tables of common values. Private to logfmt/.
 */
#ifndef LOGFMT_RECORDS_JOIN_H
#define LOGFMT_RECORDS_JOIN_H

#include <stdint.h>

#include "logfmt/counters/module.h"

#define SCRIBE_VALUE_WIDTH 11 /* access size, 5 lengths, 5 strides */
#define SCRIBE_TOP 4          /* common values of a record */

/* Four common values of `width` words at counters[at], their counts at counters[count_at]. */
struct scribe_value_group {
	int width; /* 0: no such group */
	int at, count_at;
};

/*
 * A module's own reduction: sets the counters of rule CUSTOM in `rec` to what they are of both records, in any
 * order and grouping. Called before the rules, with all other counters as they were. Ranks, daemon and
 * merge call it alike, so it has no communicator: it cannot wait for anybody.
 */
typedef void scribe_own_join(void *rec, const void *other);

/* Counters that are joined together; indices into counters or fcounters, -1 none. */
struct scribe_join_plan {
	int id;
	struct scribe_value_group values[2];
	int bytes_read, bytes_written;       /* counters */
	int read_time, write_time, meta_time; /* fcounters */
	int slow_size, slow_time; /* first of two (read, write): counters, fcounters */
	int rank, rank_time;      /* FASTEST_RANK and the three behind it; FASTEST_RANK_TIME and SLOWEST */
	int variance;             /* VARIANCE_RANK_TIME, then _BYTES: fcounters */
	scribe_own_join *own;     /* NULL: the rules of the counters say all */
};

/* The plan of a module; NULL when its records cannot be joined. */
const struct scribe_join_plan *scribe_join_plan(int module);

struct scribe_common {
	int64_t value[SCRIBE_VALUE_WIDTH];
	int64_t count; /* 0: empty */
};

/*
 * Add `count` of a value to a table of `room` places of which *used are in use.
 * Full: the least common entry (by count, then value) goes.
 */
void scribe_common_add(struct scribe_common *table, int *used, int room, const int64_t *value, int width,
		       int64_t count);
/* By count, then value, descending. */
void scribe_common_sort(struct scribe_common *table, int used, int width);
/* A record's own four into a table; the table's first four into a record. */
void scribe_common_take(const struct scribe_value_group *g, const int64_t *counters,
			struct scribe_common *table, int *used, int room);
void scribe_common_give(const struct scribe_value_group *g, const struct scribe_common *table, int used,
			int64_t *counters);

/* One counter by its rule, for the rules that need nothing else. */
int64_t scribe_join_int(enum scribe_rule rule, int64_t a, int64_t b);
double scribe_join_float(enum scribe_rule rule, double a, double b);

/* Longest read and write with their sizes: of equal ones the larger size. */
void scribe_join_slowest(const struct scribe_join_plan *p, int64_t *c, double *f, const int64_t *oc,
			 const double *of);
/* Fastest and slowest rank: of equal times the lower rank. */
void scribe_join_ranks(const struct scribe_join_plan *p, int64_t *c, double *f, const int64_t *oc,
		       const double *of);

#endif
