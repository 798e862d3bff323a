/* SPDX-License-Identifier: BSD-3-Clause */
/* Darshan's reductions (3.5.0), but independent of order. Must not know ranks' records. */
#include "logfmt/records/join.h"

#include <stdlib.h>
#include <string.h>

#include "logfmt/records/layers.h"
#include "logfmt/records/null_join.h"
#include "logfmt/records/sum.h"

/* -1: the module lacks the counter. */
#define NO_VALUES \
	{ \
		{0, 0, 0}, \
		{ \
			0, 0, 0 \
		} \
	}
#define NO_TIMES \
	.bytes_read = -1, .bytes_written = -1, .read_time = -1, .write_time = -1, .meta_time = -1, .slow_size = -1, \
	.slow_time = -1, .rank = -1, .rank_time = -1, .variance = -1
#define TIMES(M) \
	.bytes_read = SCRIBE_##M##_BYTES_READ, .bytes_written = SCRIBE_##M##_BYTES_WRITTEN, \
	.read_time = SCRIBE_##M##_F_READ_TIME, .write_time = SCRIBE_##M##_F_WRITE_TIME, \
	.meta_time = SCRIBE_##M##_F_META_TIME, .rank = SCRIBE_##M##_FASTEST_RANK, \
	.rank_time = SCRIBE_##M##_F_FASTEST_RANK_TIME
#define SLOW(M)     .slow_size = SCRIBE_##M##_MAX_READ_TIME_SIZE, .slow_time = SCRIBE_##M##_F_MAX_READ_TIME
#define VARIANCE(M) .variance = SCRIBE_##M##_F_VARIANCE_RANK_TIME
#define ACCESS(M, width) \
	{ \
		width, SCRIBE_##M##_ACCESS1_ACCESS, SCRIBE_##M##_ACCESS1_COUNT \
	}

/* Related counters. DFS and DAOS lack the variance, STDIO the slowest operation. */
static const struct scribe_join_plan plans[] = {
	{SCRIBE_MOD_NULL, NO_VALUES, NO_TIMES, .own = scribe_null_join},
	{SCRIBE_MOD_POSIX,
	 {{1, SCRIBE_POSIX_STRIDE1_STRIDE, SCRIBE_POSIX_STRIDE1_COUNT}, ACCESS(POSIX, 1)},
	 TIMES(POSIX),
	 SLOW(POSIX),
	 VARIANCE(POSIX)},
	{SCRIBE_MOD_MPIIO, {ACCESS(MPIIO, 1), {0, 0, 0}}, TIMES(MPIIO), SLOW(MPIIO), VARIANCE(MPIIO)},
	{SCRIBE_MOD_H5F, NO_VALUES, NO_TIMES},
	{SCRIBE_MOD_H5D, {ACCESS(H5D, 1 + 2 * SCRIBE_H5D_DIMS), {0, 0, 0}}, TIMES(H5D), SLOW(H5D), VARIANCE(H5D)},
	{SCRIBE_MOD_PNETCDF_FILE, NO_VALUES, NO_TIMES},
	{SCRIBE_MOD_PNETCDF_VAR,
	 {ACCESS(PNETCDF_VAR, 1 + 2 * SCRIBE_PNETCDF_VAR_DIMS), {0, 0, 0}},
	 TIMES(PNETCDF_VAR),
	 SLOW(PNETCDF_VAR),
	 VARIANCE(PNETCDF_VAR)},
	{SCRIBE_MOD_BGQ, NO_VALUES, NO_TIMES},
	{SCRIBE_MOD_STDIO, NO_VALUES, TIMES(STDIO), .slow_size = -1, .slow_time = -1, VARIANCE(STDIO)},
	{SCRIBE_MOD_MDHIM, NO_VALUES, NO_TIMES},
	{SCRIBE_MOD_APMPI, NO_VALUES, NO_TIMES},
	{SCRIBE_MOD_DFS, {ACCESS(DFS, 1), {0, 0, 0}}, TIMES(DFS), SLOW(DFS), .variance = -1},
	{SCRIBE_MOD_DAOS, {ACCESS(DAOS, 1), {0, 0, 0}}, TIMES(DAOS), SLOW(DAOS), .variance = -1},
	{SCRIBE_MOD_POSIX_EXT, NO_VALUES, NO_TIMES},
	{SCRIBE_MOD_LEDGER, NO_VALUES, NO_TIMES},
	{SCRIBE_MOD_MOUNTS, NO_VALUES, NO_TIMES},
	{SCRIBE_MOD_CACHE, NO_VALUES, NO_TIMES},
	{SCRIBE_MOD_CUFILE, NO_VALUES, TIMES(CUFILE), SLOW(CUFILE), .variance = -1},
	{SCRIBE_MOD_LAYERS, NO_VALUES, NO_TIMES, .own = scribe_layers_join},
};

const struct scribe_join_plan *scribe_join_plan(int module)
{
	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		if (plans[i].id == module)
			return &plans[i];
	}
	return NULL;
}

/* > 0: a sorts before b. */
static int before(const struct scribe_common *a, const struct scribe_common *b, int width)
{
	if (a->count != b->count)
		return a->count > b->count ? 1 : -1;
	/* With equal counts the value decides, so that the result does not depend on the order of joining. */
	for (int i = 0; i < width; i++) {
		if (a->value[i] != b->value[i])
			return a->value[i] > b->value[i] ? 1 : -1;
	}
	return 0;
}

void scribe_common_sort(struct scribe_common *table, int used, int width)
{
	for (int i = 1; i < used; i++) { /* insertion: tables are short and nearly sorted */
		struct scribe_common e = table[i];
		int at = i;

		for (; at > 0 && before(&e, &table[at - 1], width) > 0; at--)
			table[at] = table[at - 1];
		table[at] = e;
	}
}

void scribe_common_add(struct scribe_common *table, int *used, int capacity, const int64_t *value, int width,
		       int64_t count)
{
	struct scribe_common e = {.count = count};
	int least = 0;

	memcpy(e.value, value, (size_t)width * sizeof(*value));
	for (int i = 0; i < *used; i++) {
		/* Over the full width: unused words are zero in all entries. */
		if (memcmp(table[i].value, e.value, sizeof(e.value)) == 0) {
			if (__builtin_add_overflow(table[i].count, count, &table[i].count))
				table[i].count = INT64_MAX;
			return;
		}
		if (before(&table[least], &table[i], width) > 0)
			least = i;
	}
	if (*used < capacity)
		table[(*used)++] = e;
	else if (before(&e, &table[least], width) > 0)
		table[least] = e;
}

void scribe_common_take(const struct scribe_value_group *g, const int64_t *counters, struct scribe_common *table,
			int *used, int capacity)
{
	for (int i = 0; g->width && i < SCRIBE_TOP; i++) {
		const int64_t *value = counters + g->at + i * g->width;
		int64_t count = counters[g->count_at + i];

		if (count > 0)
			scribe_common_add(table, used, capacity, value, g->width, count);
	}
}

void scribe_common_give(const struct scribe_value_group *g, const struct scribe_common *table, int used,
			int64_t *counters)
{
	for (int i = 0; g->width && i < SCRIBE_TOP; i++) {
		int64_t *value = counters + g->at + i * g->width;

		memset(value, 0, (size_t)g->width * sizeof(*value));
		counters[g->count_at + i] = 0;
		if (i >= used)
			continue;
		memcpy(value, table[i].value, (size_t)g->width * sizeof(*value));
		counters[g->count_at + i] = table[i].count;
	}
}

int64_t scribe_join_int(enum scribe_rule rule, int64_t a, int64_t b)
{
	switch (rule) {
	case SCRIBE_RULE_SUM:
		return scribe_sum(a, b);
	case SCRIBE_RULE_UNKNOWN:
	case SCRIBE_RULE_RANKS:
		/* -1 means "not monitored", so the sum is unknown, too. */
		return a < 0 || b < 0 ? -1 : scribe_sum(a, b);
	case SCRIBE_RULE_MAX:
		return a > b ? a : b;
	case SCRIBE_RULE_FIRST:
		return a == 0 || (b != 0 && b < a) ? b : a;
	default:
		return a;
	}
}

/* The smaller of positive times; without any, -1 (unknown) if one is, otherwise 0. */
static double earliest(double a, double b)
{
	if (a > 0 && b > 0)
		return a < b ? a : b;
	if (a > 0 || b > 0)
		return a > 0 ? a : b;
	return a < 0 || b < 0 ? -1 : 0;
}

double scribe_join_float(enum scribe_rule rule, double a, double b)
{
	switch (rule) {
	case SCRIBE_RULE_SUM:
		return a == -1 || b == -1 ? -1 : a + b; /* -1: not monitored */
	case SCRIBE_RULE_MAX:
		return a > b ? a : b;
	case SCRIBE_RULE_FIRST:
		return earliest(a, b);
	default:
		return a;
	}
}

void scribe_join_slowest(const struct scribe_join_plan *p, int64_t *c, double *f, const int64_t *oc, const double *of)
{
	for (int i = 0; p->slow_time >= 0 && i < 2; i++) {
		int t = p->slow_time + i, s = p->slow_size + i;

		/* The size belongs to the longest operation, so both are copied together. */
		if (of[t] > f[t] || (of[t] == f[t] && oc[s] > c[s])) {
			f[t] = of[t];
			c[s] = oc[s];
		}
	}
}

void scribe_join_ranks(const struct scribe_join_plan *p, int64_t *c, double *f, const int64_t *oc, const double *of)
{
	for (int i = 0; p->rank >= 0 && i < 2; i++) {
		int t = p->rank_time + i, r = p->rank + 2 * i;
		bool further = i == 0 ? of[t] < f[t] : of[t] > f[t];

		if (further || (of[t] == f[t] && oc[r] < c[r])) {
			f[t] = of[t];
			c[r] = oc[r];
			c[r + 1] = oc[r + 1];
		}
	}
}
