/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduction over ranks and merging within a rank. Elements have no pointers, so that MPI can send them. Must not know
 * MPI.
 */
#include "logfmt/records/reduce.h"

#include <stdint.h>
#include <string.h>

#include "logfmt/base/err.h"
#include "logfmt/counters/module.h"
#include "logfmt/records/join.h"
#include "logfmt/records/sum.h"

#define KEEP_MAX 12 /* counters with rule KEEP that a module may have */

/* A population variance in progress (Chan, Golub, LeVeque 1983). */
struct spread {
	double mean, s;
};

struct elem {
	double n; /* records joined */
	struct spread time, bytes;
	int64_t lowest;
	int64_t keep_rank[KEEP_MAX]; /* rank of each KEEP counter's value; INT64_MAX: none */
	int32_t used[2];
	int64_t words[];
};

struct view {
	const struct scribe_module *m;
	const struct scribe_join_plan *plan;
	size_t record_bytes;
};

/* False: records of the module are not reduced. */
static bool view_of(int module, struct view *v)
{
	v->m = scribe_module_by_id(module);
	v->plan = scribe_join_plan(module);
	if (!v->m || !v->plan || !v->m->reduces)
		return false;
	v->record_bytes = scribe_reduction_record_bytes(module);
	return true;
}

size_t scribe_reduction_record_bytes(int module)
{
	const struct scribe_module *m = scribe_module_by_id(module);

	if (!m || !m->reduces)
		return 0;
	/* The length depends on the number of servers, which is limited in an element. */
	if (module == SCRIBE_MOD_MDHIM)
		return sizeof(struct scribe_mdhim_record) + SCRIBE_REDUCTION_MDHIM_SERVERS * 8;
	return module == SCRIBE_MOD_APMPI ? sizeof(struct scribe_apmpi_record) : m->record_bytes;
}

static size_t table_words(const struct scribe_value_group *g)
{
	return g->width ? (size_t)SCRIBE_REDUCTION_VALUES * (size_t)(g->width + 1) : 0;
}

size_t scribe_reduction_bytes(int module)
{
	/* An MPI operation requires that the size depends only on the module. */
	struct view v;

	if (!view_of(module, &v))
		return 0;
	return sizeof(struct elem) + v.record_bytes +
	       8 * (table_words(&v.plan->values[0]) + table_words(&v.plan->values[1]));
}

static void *record_of(const struct elem *e)
{
	return (void *)e->words;
}

static int64_t *counters_of(const struct view *v, const struct elem *e)
{
	return (int64_t *)((char *)record_of(e) + v->m->counters_at);
}

static double *fcounters_of(const struct view *v, const struct elem *e)
{
	return (double *)((char *)record_of(e) + v->m->fcounters_at);
}

static int64_t *table_of(const struct view *v, const struct elem *e, int which)
{
	return (int64_t *)((char *)record_of(e) + v->record_bytes) + (which ? table_words(&v->plan->values[0]) : 0);
}

/* `table` has twice the size, because the other element's values are added. */
static void load_table(const struct view *v, const struct elem *e, int which, struct scribe_common *table, int *used)
{
	int width = v->plan->values[which].width;
	const int64_t *w = table_of(v, e, which);

	*used = 0;
	for (int i = 0; i < e->used[which]; i++, w += width + 1)
		scribe_common_add(table, used, 2 * SCRIBE_REDUCTION_VALUES, w, width, w[width]);
}

/* The rarer values of a sorted table are lost. */
static void store_table(const struct view *v, struct elem *e, int which, const struct scribe_common *table, int used)
{
	int width = v->plan->values[which].width;
	int64_t *w = table_of(v, e, which);

	e->used[which] = used < SCRIBE_REDUCTION_VALUES ? used : SCRIBE_REDUCTION_VALUES;
	/* The rest is already zero, because the number of values never decreases. */
	for (int i = 0; i < e->used[which]; i++, w += width + 1) {
		memcpy(w, table[i].value, (size_t)width * 8);
		w[width] = table[i].count;
	}
}

static void begin_ranks(const struct view *v, struct elem *e)
{
	const struct scribe_join_plan *p = v->plan;
	struct scribe_base_record *base = record_of(e);
	int64_t *c = counters_of(v, e);
	double *f = fcounters_of(v, e);

	e->n = 1;
	if (v->m->id == SCRIBE_MOD_APMPI) { /* the last two: times in MPI calls and in synchronisation */
		e->time.mean = f[v->m->nfcounters - 2];
		e->bytes.mean = f[v->m->nfcounters - 1];
	}
	if (p->rank < 0)
		return;
	e->time.mean = f[p->read_time] + f[p->write_time] + f[p->meta_time];
	e->bytes.mean = (double)c[p->bytes_read] + (double)c[p->bytes_written];
	if (base->rank < 0)
		return;
	c[p->rank] = c[p->rank + 2] = base->rank;
	c[p->rank + 1] = c[p->rank + 3] = scribe_sum(c[p->bytes_read], c[p->bytes_written]);
	f[p->rank_time] = f[p->rank_time + 1] = e->time.mean;
}

/* Indices of KEEP counters, integers first; returns their number. */
static int keep_list(const struct view *v, int list[KEEP_MAX])
{
	int n = 0;

	for (int i = 0; i < v->m->ncounters && n < KEEP_MAX; i++) {
		if (v->m->counters[i].rule == SCRIBE_RULE_KEEP)
			list[n++] = i;
	}
	for (int i = 0; i < v->m->nfcounters && n < KEEP_MAX; i++) {
		if (v->m->fcounters[i].rule == SCRIBE_RULE_KEEP)
			list[n++] = v->m->ncounters + i;
	}
	return n;
}

static int64_t *keep_word(const struct view *v, const struct elem *e, int which)
{
	return which < v->m->ncounters ? counters_of(v, e) + which
				       : (int64_t *)(fcounters_of(v, e) + which - v->m->ncounters);
}

int scribe_reduction_begin(int module, const void *rank_record, void *ret_elem)
{
	const struct scribe_base_record *base = rank_record;
	struct elem *e = ret_elem;
	struct scribe_common table[2 * SCRIBE_REDUCTION_VALUES];
	size_t bytes;
	int words[KEEP_MAX];
	int nkeep, used;
	struct view v;

	if (!view_of(module, &v))
		return -SCRIBE_E_UNSUPPORTED;
	bytes = scribe_record_length(module, rank_record, SIZE_MAX);
	if (bytes == 0 || bytes > v.record_bytes)
		return -SCRIBE_E_LIMIT;
	if (module == SCRIBE_MOD_APMPI && bytes < v.record_bytes)
		return -SCRIBE_E_UNSUPPORTED;
	memset(e, 0, scribe_reduction_bytes(module));
	memcpy(record_of(e), rank_record, bytes);
	e->lowest = base->rank;
	nkeep = keep_list(&v, words);
	for (int i = 0; i < KEEP_MAX; i++)
		/* A value of 0 has the same bits in both types, and means that the rank has none. */
		e->keep_rank[i] = i < nkeep && *keep_word(&v, e, words[i]) ? base->rank : INT64_MAX;
	begin_ranks(&v, e);
	for (int i = 0; i < 2; i++) {
		used = 0;
		scribe_common_take(&v.plan->values[i], counters_of(&v, e), table, &used, 2 * SCRIBE_REDUCTION_VALUES);
		scribe_common_sort(table, used, v.plan->values[i].width);
		if (v.plan->values[i].width)
			store_table(&v, e, i, table, used);
	}
	return 0;
}

static void join_spread(struct spread *a, double na, const struct spread *b, double nb)
{
	/* Chan's pairwise formula is independent of the grouping, except for rounding. */
	double d = b->mean - a->mean;

	a->s += b->s + d * d * na * nb / (na + nb);
	a->mean = (na * a->mean + nb * b->mean) / (na + nb);
}

/* The other record: of another rank, of the same rank, or of ranks that can overlap. */
enum whose { OTHER_RANK, SAME_RANK, SOME_RANKS };

/* Counts of ranks, like RANKS_READ. */
static int64_t join_rank_counts(enum whose whose, int64_t a, int64_t b)
{
	if (whose == SAME_RANK && a >= 0 && b >= 0)
		return a > b ? a : b;
	/* A sum over sets that overlap would count a rank twice. */
	if (whose == SOME_RANKS && a > 0 && b > 0)
		return -1;
	return scribe_join_int(SCRIBE_RULE_RANKS, a, b);
}

static void join_plain(const struct scribe_module *m, const struct scribe_join_plan *p, enum whose whose, void *rec,
		       const void *other)
{
	int64_t *c = (int64_t *)((char *)rec + m->counters_at);
	double *f = (double *)((char *)rec + m->fcounters_at);
	const int64_t *oc = scribe_record_counters(m, other);
	const double *of = scribe_record_fcounters(m, other);

	/* First, because the module's reduction needs all counters unchanged. */
	if (p->own)
		p->own(rec, other);
	for (int i = 0; i < m->ncounters; i++)
		c[i] = m->counters[i].rule == SCRIBE_RULE_RANKS ? join_rank_counts(whose, c[i], oc[i])
								: scribe_join_int(m->counters[i].rule, c[i], oc[i]);
	for (int i = 0; i < m->nfcounters; i++)
		f[i] = scribe_join_float(m->fcounters[i].rule, f[i], of[i]);
}

static void join_keeps(const struct view *v, struct elem *e, const struct elem *o)
{
	int words[KEEP_MAX];
	int n = keep_list(v, words);

	for (int i = 0; i < n; i++) {
		if (o->keep_rank[i] >= e->keep_rank[i])
			continue;
		*keep_word(v, e, words[i]) = *keep_word(v, o, words[i]);
		e->keep_rank[i] = o->keep_rank[i];
	}
}

/* Bytes that are not counters (file id, uuids, object id). */
static void join_rest(const struct view *v, struct elem *e, const struct elem *o)
{
	char *to = record_of(e);
	const char *from = record_of(o);
	size_t base = sizeof(struct scribe_base_record);
	size_t end = v->m->fcounters_at + (size_t)v->m->nfcounters * 8;

	if (v->m->id == SCRIBE_MOD_MDHIM) {
		int64_t *h = (int64_t *)(to + end);
		const int64_t *oh = (const int64_t *)(from + end);

		for (int i = 0; i < SCRIBE_REDUCTION_MDHIM_SERVERS; i++)
			h[i] = scribe_join_int(SCRIBE_RULE_SUM, h[i], oh[i]);
	} else if (o->lowest < e->lowest) {
		memcpy(to + base, from + base, v->m->counters_at - base);
		memcpy(to + end, from + end, v->record_bytes - end);
	}
	if (o->lowest < e->lowest)
		e->lowest = o->lowest;
}

int scribe_reduction_join(int module, void *elem, const void *other)
{
	struct elem *e = elem;
	const struct elem *o = other;
	struct scribe_common table[2 * SCRIBE_REDUCTION_VALUES];
	struct view v;
	int64_t *c, *oc;
	double *f, *of;

	if (!view_of(module, &v))
		return -SCRIBE_E_UNSUPPORTED;
	c = counters_of(&v, e);
	oc = counters_of(&v, o);
	f = fcounters_of(&v, e);
	of = fcounters_of(&v, o);
	join_plain(v.m, v.plan, OTHER_RANK, record_of(e), record_of(o));
	scribe_join_slowest(v.plan, c, f, oc, of);
	scribe_join_ranks(v.plan, c, f, oc, of);
	join_keeps(&v, e, o);
	join_rest(&v, e, o);
	join_spread(&e->time, e->n, &o->time, o->n);
	join_spread(&e->bytes, e->n, &o->bytes, o->n);
	e->n += o->n;
	for (int i = 0; i < 2; i++) {
		int width = v.plan->values[i].width, used;
		const int64_t *w = table_of(&v, o, i);

		if (!width)
			continue;
		load_table(&v, e, i, table, &used);
		for (int k = 0; k < o->used[i]; k++, w += width + 1)
			scribe_common_add(table, &used, 2 * SCRIBE_REDUCTION_VALUES, w, width, w[width]);
		scribe_common_sort(table, used, width);
		store_table(&v, e, i, table, used);
	}
	return 0;
}

int scribe_reduction_end(int module, const void *elem, void *ret_record)
{
	const struct elem *e = elem;
	struct scribe_common table[2 * SCRIBE_REDUCTION_VALUES];
	struct scribe_base_record *base = ret_record;
	struct view v;
	double *f;
	int used;

	if (!view_of(module, &v))
		return -SCRIBE_E_UNSUPPORTED;
	memcpy(ret_record, record_of(e), scribe_record_length(module, record_of(e), v.record_bytes));
	base->rank = -1;
	f = (double *)((char *)ret_record + v.m->fcounters_at);
	if (v.plan->variance >= 0) {
		f[v.plan->variance] = e->time.s / e->n;
		f[v.plan->variance + 1] = e->bytes.s / e->n;
	}
	for (int i = 0; i < 2; i++) {
		if (!v.plan->values[i].width)
			continue;
		load_table(&v, e, i, table, &used);
		scribe_common_give(&v.plan->values[i], table, used, (int64_t *)((char *)ret_record + v.m->counters_at));
	}
	return 0;
}

int scribe_reduction_variances(int module, const void *elem, double ret_variances[2])
{
	const struct elem *e = elem;

	if (!scribe_reduction_bytes(module))
		return -SCRIBE_E_UNSUPPORTED;
	ret_variances[0] = e->time.s / e->n;
	ret_variances[1] = e->bytes.s / e->n;
	return 0;
}

/* One even without servers. */
static int64_t places(const struct scribe_mdhim_record *m)
{
	int64_t servers = m->counters[SCRIBE_MDHIM_SERVERS];

	return servers < 1 ? 1 : servers;
}

static void merge_servers(struct scribe_mdhim_record *rec, const struct scribe_mdhim_record *other)
{
	int64_t theirs = places(other);

	for (int64_t i = places(rec); i < theirs; i++)
		rec->server_histogram[i] = 0;
	for (int64_t i = 0; i < theirs; i++)
		rec->server_histogram[i] =
			scribe_join_int(SCRIBE_RULE_SUM, rec->server_histogram[i], other->server_histogram[i]);
}

static void merge_values(const struct scribe_join_plan *p, int64_t *c, const int64_t *oc)
{
	for (int i = 0; i < 2; i++) {
		const struct scribe_value_group *g = &p->values[i];
		/* At most eight values, so the counts are exact. */
		struct scribe_common table[2 * SCRIBE_TOP];
		int used = 0;

		if (!g->width)
			continue;
		scribe_common_take(g, c, table, &used, 2 * SCRIBE_TOP);
		scribe_common_take(g, oc, table, &used, 2 * SCRIBE_TOP);
		scribe_common_sort(table, used, g->width);
		scribe_common_give(g, table, used, c);
	}
}

static void merge_records(const struct scribe_module *m, const struct scribe_join_plan *p, void *rec, const void *other)
{
	const struct scribe_base_record *base = rec, *obase = other;
	bool shared = base->rank < 0 && obase->rank < 0;
	int64_t *c = (int64_t *)((char *)rec + m->counters_at);
	double *f = (double *)((char *)rec + m->fcounters_at);
	const int64_t *oc = scribe_record_counters(m, other);
	const double *of = scribe_record_fcounters(m, other);

	if (m->id == SCRIBE_MOD_MDHIM)
		merge_servers(rec, other);
	merge_values(p, c, oc);
	for (int i = 0; i < m->ncounters; i++) {
		if (m->counters[i].rule == SCRIBE_RULE_KEEP && c[i] == 0)
			c[i] = oc[i];
	}
	for (int i = 0; i < m->nfcounters; i++) {
		if (m->fcounters[i].rule == SCRIBE_RULE_KEEP && f[i] == 0)
			f[i] = of[i];
	}
	join_plain(m, p, base->rank != obase->rank ? OTHER_RANK : shared ? SOME_RANKS : SAME_RANK, rec, other);
	scribe_join_slowest(p, c, f, oc, of);
	if (shared)
		scribe_join_ranks(p, c, f, oc, of);
	for (int i = 0; p->variance >= 0 && i < 2; i++)
		f[p->variance + i] = 0; /* unknown from two records */
}

int scribe_record_merge(int module, void *rec, const void *other)
{
	const struct scribe_module *m = scribe_module_by_id(module);
	const struct scribe_join_plan *p = scribe_join_plan(module);

	if (!m || !p)
		return -SCRIBE_E_UNSUPPORTED;
	if (m->record_bytes == 0) {
		size_t capacity = scribe_reduction_record_bytes(module),
		       mine = scribe_record_length(module, rec, SIZE_MAX),
		       theirs = scribe_record_length(module, other, SIZE_MAX);

		if (!mine || !theirs || mine > capacity || theirs > capacity)
			return -SCRIBE_E_LIMIT;
		if (module == SCRIBE_MOD_APMPI && (mine < capacity || theirs < capacity))
			return -SCRIBE_E_UNSUPPORTED;
	}
	merge_records(m, p, rec, other);
	return 0;
}

void scribe_mdhim_merge(struct scribe_mdhim_record *rec, const struct scribe_mdhim_record *other)
{
	merge_records(scribe_module_by_id(SCRIBE_MOD_MDHIM), scribe_join_plan(SCRIBE_MOD_MDHIM), rec, other);
}

int scribe_record_clear(int module, void *ret_rec)
{
	const struct scribe_module *m = scribe_module_by_id(module);

	if (!m || m->record_bytes == 0)
		return -SCRIBE_E_UNSUPPORTED;
	memset(ret_rec, 0, m->record_bytes);
	return 0;
}

static bool earlier(int64_t sec, int64_t nsec, int64_t than_sec, int64_t than_nsec)
{
	return sec < than_sec || (sec == than_sec && nsec < than_nsec);
}

bool scribe_job_earlier(const struct scribe_log_job *a, const struct scribe_log_job *b)
{
	return earlier(a->start_time_sec, a->start_time_nsec, b->start_time_sec, b->start_time_nsec);
}

void scribe_job_merge(struct scribe_log_job *job, const struct scribe_log_job *other)
{
	if (scribe_job_earlier(other, job)) {
		job->start_time_sec = other->start_time_sec;
		job->start_time_nsec = other->start_time_nsec;
	}
	if (earlier(job->end_time_sec, job->end_time_nsec, other->end_time_sec, other->end_time_nsec)) {
		job->end_time_sec = other->end_time_sec;
		job->end_time_nsec = other->end_time_nsec;
	}
	if (other->nprocs > job->nprocs)
		job->nprocs = other->nprocs;
}
