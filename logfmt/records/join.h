/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to logfmt/. */
#ifndef LOGFMT_RECORDS_JOIN_H
#define LOGFMT_RECORDS_JOIN_H

#include <stdint.h>

#include "logfmt/counters/module.h"

#define SCRIBE_VALUE_WIDTH 11 /* access size, 5 lengths, 5 strides */
#define SCRIBE_TOP         4  /* common values of a record */

/* SCRIBE_TOP values of `width` words at counters[at], their counts at counters[count_at]. */
struct scribe_value_group {
	int width; /* 0: none */
	int at, count_at;
};

/*
 * A module's reduction of the counters with rule CUSTOM, in any order and grouping, before the other rules.
 * Runs in ranks, daemon and merge: must not communicate.
 */
typedef void scribe_own_join(void *rec, const void *other);

/* Indices of related counters; -1: none. */
struct scribe_join_plan {
	int id;
	struct scribe_value_group values[2];
	int bytes_read, bytes_written;        /* counters */
	int read_time, write_time, meta_time; /* fcounters */
	int slow_size, slow_time;             /* of read, followed by write: counters, fcounters */
	int rank, rank_time;                  /* FASTEST_RANK and three more; FASTEST_RANK_TIME and SLOWEST */
	int variance;                         /* VARIANCE_RANK_TIME, _BYTES: fcounters */
	scribe_own_join *own;                 /* or NULL */
};

/* NULL: the module's records cannot be joined. */
const struct scribe_join_plan *scribe_join_plan(int module);

struct scribe_common {
	int64_t value[SCRIBE_VALUE_WIDTH];
	int64_t count; /* 0: empty */
};

/* In a full table of `capacity` entries the rarest one (by count, then value) is replaced. */
void scribe_common_add(struct scribe_common *table, int *used, int capacity, const int64_t *value, int width,
		       int64_t count);
/* Descending, by count, then value. */
void scribe_common_sort(struct scribe_common *table, int used, int width);
/* Record to table; the table's first four to the record. */
void scribe_common_take(const struct scribe_value_group *g, const int64_t *counters, struct scribe_common *table,
			int *used, int capacity);
void scribe_common_give(const struct scribe_value_group *g, const struct scribe_common *table, int used,
			int64_t *counters);

/* One counter by a rule that needs only this counter. */
int64_t scribe_join_int(enum scribe_rule rule, int64_t a, int64_t b);
double scribe_join_float(enum scribe_rule rule, double a, double b);

/* Longest read and write with sizes; of equal ones the larger. */
void scribe_join_slowest(const struct scribe_join_plan *p, int64_t *c, double *f, const int64_t *oc, const double *of);
/* Of equal times the lower rank. */
void scribe_join_ranks(const struct scribe_join_plan *p, int64_t *c, double *f, const int64_t *oc, const double *of);

#endif
