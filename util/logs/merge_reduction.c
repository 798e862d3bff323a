// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reduction over ranks for merge, with growing tables of common values. Several records of one rank are joined
 * first, so that variances count ranks.
 */
#include "util/logs/merge_reduction.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/counters/module.h"
#include "logfmt/records/reduce.h"
#include "logfmt/records/values.h"
#include "util/logs/merge_heat.h"

struct pair {
	uint64_t id;
	int64_t rank;
	size_t seq;
};

struct shared {
	uint64_t id;
	size_t seq;    /* of its first record, for the order of output */
	void *element; /* of the reduction; LUSTRE: lowest rank's record; MDHIM: the joined record */
	struct scribe_values *values;
};

struct twice { /* several records of one rank and file */
	uint64_t id;
	int64_t rank;
	void *record;
	size_t len;
};

struct scribe_merge_reduction {
	const struct scribe_module *module;
	int64_t nprocs;
	size_t element_bytes;
	struct pair *pairs;
	size_t npairs, cap_pairs;
	struct shared *shared; /* sorted by id */
	size_t nshared;
	struct shared **order; /* the same in the order of output */
	struct twice *twices;  /* sorted by id and rank */
	size_t ntwices;
	void *scratch; /* an element */
	void *out;     /* a record */
	struct scribe_apmpi_header_record head;
	int has_head, finished;
};

static int no_memory(const struct scribe_merge_reduction *x, struct scribe_err *err)
{
	return scribe_err_set(err, -ENOMEM, "%s module: reduction of %zu records: out of memory", x->module->name,
			      x->npairs);
}

int scribe_merge_reduction_can(int module)
{
	return scribe_reduction_bytes(module) || module == SCRIBE_MOD_LUSTRE || module == SCRIBE_MOD_HEATMAP;
}

int scribe_merge_reduction_new(int module, int64_t nprocs, struct scribe_merge_reduction **ret_x,
			       struct scribe_err *err)
{
	struct scribe_merge_reduction *x = calloc(1, sizeof(*x));

	if (!x)
		return scribe_err_set(err, -ENOMEM, "reduction: out of memory");
	x->module = scribe_module_by_id(module);
	x->nprocs = nprocs;
	/* MDHIM records vary in length with the servers: whole records are joined. */
	x->element_bytes = module == SCRIBE_MOD_MDHIM ? 0 : scribe_reduction_bytes(module);
	x->scratch = malloc(x->element_bytes ? x->element_bytes : 1);
	x->out = malloc(x->element_bytes ? scribe_reduction_record_bytes(module) : 1);
	if (!x->scratch || !x->out) {
		scribe_merge_reduction_free(x);
		return scribe_err_set(err, -ENOMEM, "reduction: out of memory");
	}
	*ret_x = x;
	return 0;
}

struct scribe_merge_reduction *scribe_merge_reduction_free(struct scribe_merge_reduction *x)
{
	if (!x)
		return NULL;
	for (size_t i = 0; i < x->nshared; i++) {
		free(x->shared[i].element);
		scribe_values_free(x->shared[i].values);
	}
	for (size_t i = 0; i < x->ntwices; i++)
		free(x->twices[i].record);
	free(x->shared);
	free(x->order);
	free(x->twices);
	free(x->pairs);
	free(x->scratch);
	free(x->out);
	free(x);
	return NULL;
}

static int is_head(const struct scribe_merge_reduction *x, size_t len)
{
	/* APMPI's head describes the module, not a rank, and is shorter. */
	return x->module->id == SCRIBE_MOD_APMPI && len < sizeof(struct scribe_apmpi_record);
}

int scribe_merge_reduction_note(struct scribe_merge_reduction *x, const void *record, size_t len,
				struct scribe_err *err)
{
	const struct scribe_base_record *base = record;

	if (base->rank < 0 || base->rank >= x->nprocs || is_head(x, len))
		return 0;
	if (x->npairs == x->cap_pairs) {
		size_t cap = x->cap_pairs ? 2 * x->cap_pairs : 1024;
		struct pair *bigger = realloc(x->pairs, cap * sizeof(*bigger));

		if (!bigger)
			return no_memory(x, err);
		x->pairs = bigger;
		x->cap_pairs = cap;
	}
	x->pairs[x->npairs] = (struct pair){base->id, base->rank, x->npairs};
	x->npairs++;
	return 0;
}

static int by_pair(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* The pairs of one id from `i`: end, distinct ranks, ranks with several records, first seq. */
static size_t run_of(const struct scribe_merge_reduction *x, size_t i, int64_t *ret_ranks, size_t *ret_twices,
		     size_t *ret_seq)
{
	const struct pair *p = x->pairs;
	size_t j = i;

	*ret_ranks = 0;
	*ret_twices = 0;
	*ret_seq = p[i].seq;
	for (; j < x->npairs && p[j].id == p[i].id; j++) {
		int again = j > i && p[j].rank == p[j - 1].rank;

		*ret_ranks += !again;
		/* count a rank once, at its second record */
		*ret_twices += again && (j - i < 2 || p[j].rank != p[j - 2].rank);
		if (p[j].seq < *ret_seq)
			*ret_seq = p[j].seq;
	}
	return j;
}

static void plan_twices(struct scribe_merge_reduction *x, size_t from, size_t to)
{
	for (size_t j = from + 1; j < to; j++)
		if (x->pairs[j].rank == x->pairs[j - 1].rank &&
		    (j - from < 2 || x->pairs[j].rank != x->pairs[j - 2].rank))
			x->twices[x->ntwices++] = (struct twice){x->pairs[j].id, x->pairs[j].rank, NULL, 0};
}

static int is_shared(const struct scribe_merge_reduction *x, int64_t ranks)
{
	/* Heatmaps stay per rank. */
	return x->module->id != SCRIBE_MOD_HEATMAP && ranks == x->nprocs;
}

static int are_joined(const struct scribe_merge_reduction *x, int64_t ranks)
{
	return x->module->id == SCRIBE_MOD_HEATMAP || is_shared(x, ranks);
}

int scribe_merge_reduction_plan(struct scribe_merge_reduction *x, struct scribe_err *err)
{
	size_t nshared = 0, ntwices = 0, twices, seq, end;
	int64_t ranks;

	if (x->npairs)
		qsort(x->pairs, x->npairs, sizeof(*x->pairs), by_pair);
	/* Two passes: count, allocate once, fill. */
	for (size_t i = 0; i < x->npairs; i = end) {
		end = run_of(x, i, &ranks, &twices, &seq);
		nshared += (size_t)is_shared(x, ranks);
		ntwices += are_joined(x, ranks) ? twices : 0;
	}
	x->shared = calloc(nshared + 1, sizeof(*x->shared));
	x->order = calloc(nshared + 1, sizeof(*x->order));
	x->twices = calloc(ntwices + 1, sizeof(*x->twices));
	if (!x->shared || !x->order || !x->twices)
		return no_memory(x, err);
	for (size_t i = 0; i < x->npairs; i = end) {
		end = run_of(x, i, &ranks, &twices, &seq);
		if (is_shared(x, ranks))
			x->shared[x->nshared++] = (struct shared){x->pairs[i].id, seq, NULL, NULL};
		if (are_joined(x, ranks))
			plan_twices(x, i, end);
	}
	free(x->pairs);
	x->pairs = NULL;
	return 0;
}

static struct shared *shared_of(const struct scribe_merge_reduction *x, uint64_t id)
{
	size_t from = 0, to = x->nshared;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (x->shared[mid].id == id)
			return &x->shared[mid];
		if (x->shared[mid].id < id)
			from = mid + 1;
		else
			to = mid;
	}
	return NULL;
}

static struct twice *twice_of(const struct scribe_merge_reduction *x, uint64_t id, int64_t rank)
{
	size_t from = 0, to = x->ntwices;

	while (from < to) {
		size_t mid = from + (to - from) / 2;
		struct twice *t = &x->twices[mid];

		if (t->id == id && t->rank == rank)
			return t;
		if (t->id < id || (t->id == id && t->rank < rank))
			from = mid + 1;
		else
			to = mid;
	}
	return NULL;
}

static int failed(const struct scribe_merge_reduction *x, int rc, struct scribe_err *err)
{
	if (rc == -ENOMEM)
		return no_memory(x, err);
	return scribe_err_set(err, rc, "%s module: %s", x->module->name, scribe_strerror(rc));
}

static int join_layout(struct scribe_merge_reduction *x, struct shared *s, const void *record, size_t len,
		       struct scribe_err *err)
{
	const struct scribe_base_record *base = record, *now = s->element;
	void *copy;

	if (now && now->rank <= base->rank)
		return 1;
	copy = realloc(s->element, len);
	if (!copy)
		return no_memory(x, err);
	s->element = copy;
	memcpy(copy, record, len);
	return 1;
}

/* MDHIM: the record grows to the largest number of servers. */
static int join_servers(struct scribe_merge_reduction *x, void **into, const void *record, size_t len,
			struct scribe_err *err)
{
	size_t have = *into ? scribe_record_length(SCRIBE_MOD_MDHIM, *into, SIZE_MAX) : 0;
	void *more = len > have ? realloc(*into, len) : *into;

	if (!more)
		return no_memory(x, err);
	*into = more;
	if (have)
		scribe_mdhim_merge(more, record);
	else
		memcpy(more, record, len);
	return 1;
}

static int join(struct scribe_merge_reduction *x, struct shared *s, const void *record, size_t len,
		struct scribe_err *err)
{
	int rc;

	if (x->module->id == SCRIBE_MOD_LUSTRE)
		return join_layout(x, s, record, len, err);
	if (x->module->id == SCRIBE_MOD_MDHIM)
		return join_servers(x, &s->element, record, len, err);
	if (!s->element) {
		s->element = malloc(x->element_bytes);
		if (!s->element)
			return no_memory(x, err);
		rc = scribe_reduction_begin(x->module->id, record, s->element);
	} else {
		rc = scribe_reduction_begin(x->module->id, record, x->scratch);
		if (rc >= 0)
			rc = scribe_reduction_join(x->module->id, s->element, x->scratch);
	}
	return rc < 0 ? failed(x, rc, err) : 1;
}

static int count_values(struct scribe_merge_reduction *x, struct shared *s, const void *record, struct scribe_err *err)
{
	/* Common values are counted per piece, before pieces are joined. */
	if (!s->values && scribe_values_new(x->module->id, &s->values) < 0)
		return no_memory(x, err);
	return scribe_values_add(s->values, record) < 0 ? no_memory(x, err) : 0;
}

/* Keeps the smallest of a rank's layouts, so that the order of records does not matter. */
static void choose_layout(struct twice *t, const void *record, size_t len)
{
	if (len < t->len || (len == t->len && memcmp(record, t->record, len) < 0)) {
		memcpy(t->record, record, len);
		t->len = len;
	}
}

/* Pieces are joined to the shared record in finish(). */
static int join_piece(struct scribe_merge_reduction *x, struct twice *t, const void *record, size_t len,
		      struct scribe_err *err)
{
	size_t capacity = x->element_bytes ? scribe_reduction_record_bytes(x->module->id) : len;
	int rc;

	if (x->module->id == SCRIBE_MOD_MDHIM) {
		rc = join_servers(x, &t->record, record, len, err);
		t->len = rc < 0 ? 0 : scribe_record_length(SCRIBE_MOD_MDHIM, t->record, SIZE_MAX);
		return rc;
	}
	if (!t->record) {
		t->record = calloc(1, capacity > len ? capacity : len);
		if (!t->record)
			return no_memory(x, err);
		memcpy(t->record, record, len);
		t->len = len;
		return 1;
	}
	if (x->module->id == SCRIBE_MOD_LUSTRE) {
		choose_layout(t, record, len);
		return 1;
	}
	if (x->module->id == SCRIBE_MOD_HEATMAP)
		rc = scribe_merge_heat_add(t->record, record);
	else
		rc = scribe_record_merge(x->module->id, t->record, record);
	return rc < 0 ? failed(x, rc, err) : 1;
}

int scribe_merge_reduction_takes(const struct scribe_merge_reduction *x, const void *record, size_t len)
{
	const struct scribe_base_record *base = record;

	if (is_head(x, len))
		return x->nshared > 0;
	return base->rank >= 0 && base->rank < x->nprocs &&
	       (shared_of(x, base->id) || twice_of(x, base->id, base->rank));
}

int scribe_merge_reduction_add(struct scribe_merge_reduction *x, const void *record, size_t len, struct scribe_err *err)
{
	const struct scribe_base_record *base = record;
	struct shared *s;
	struct twice *t;

	if (!scribe_merge_reduction_takes(x, record, len))
		return 0;
	if (is_head(x, len)) {
		/* One head for all ranks replaces each rank's head. */
		uint32_t sync = x->head.sync_flag;

		memcpy(&x->head, record, sizeof(x->head));
		x->head.sync_flag |= sync;
		x->has_head = 1;
		return 1;
	}
	s = shared_of(x, base->id);
	if (s && count_values(x, s, record, err) < 0)
		return -1;
	t = twice_of(x, base->id, base->rank);
	return t ? join_piece(x, t, record, len, err) : join(x, s, record, len, err);
}

static int by_seq(const void *a, const void *b)
{
	const struct shared *x = *(struct shared *const *)a, *y = *(struct shared *const *)b;

	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static int finish(struct scribe_merge_reduction *x, struct scribe_err *err)
{
	for (size_t i = 0; i < x->ntwices; i++) {
		struct twice *t = &x->twices[i];
		struct shared *s = shared_of(x, t->id);
		int rc = s && t->record ? join(x, s, t->record, t->len, err) : 0;

		if (rc < 0)
			return rc;
	}
	for (size_t i = 0; i < x->nshared; i++)
		x->order[i] = &x->shared[i];
	if (x->nshared)
		qsort(x->order, x->nshared, sizeof(struct shared *), by_seq);
	x->finished = 1;
	return 0;
}

static int shared_record(struct scribe_merge_reduction *x, struct shared *s, const void **ret_record, size_t *ret_len,
			 struct scribe_err *err)
{
	struct scribe_base_record *base = s->element;
	int rc;

	if (x->module->id == SCRIBE_MOD_LUSTRE || x->module->id == SCRIBE_MOD_MDHIM) {
		base->rank = -1;
		*ret_record = base;
	} else {
		rc = scribe_reduction_end(x->module->id, s->element, x->out);
		if (rc < 0)
			return failed(x, rc, err);
		scribe_values_give(s->values, x->out);
		*ret_record = x->out;
	}
	*ret_len = scribe_record_length(x->module->id, *ret_record, SIZE_MAX);
	return 1;
}

static int head_record(struct scribe_merge_reduction *x, const void **ret_record, size_t *ret_len)
{
	double variances[2];

	if (scribe_reduction_variances(x->module->id, x->order[0]->element, variances) == 0) {
		x->head.variance_total_mpitime = variances[0];
		x->head.variance_total_mpisynctime = variances[1];
	}
	*ret_record = &x->head;
	*ret_len = sizeof(x->head);
	return 1;
}

/* Order: APMPI's head, shared records by first appearance, joined heatmaps. */
int scribe_merge_reduction_record(struct scribe_merge_reduction *x, size_t i, const void **ret_record, size_t *ret_len,
				  struct scribe_err *err)
{
	int rc = x->finished ? 0 : finish(x, err);

	if (rc < 0)
		return rc;
	if (x->has_head && i-- == 0)
		return head_record(x, ret_record, ret_len);
	if (i < x->nshared)
		return shared_record(x, x->order[i], ret_record, ret_len, err);
	i -= x->nshared;
	if (x->module->id != SCRIBE_MOD_HEATMAP || i >= x->ntwices)
		return 0;
	*ret_record = x->twices[i].record;
	*ret_len = x->twices[i].len;
	return 1;
}
