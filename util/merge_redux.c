// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reduction over ranks for merge: by the rule of logfmt/reduce.h. Several
 * records of one rank (several logs of one process, say) are joined first, so
 * that variances count ranks, not records.
 */
#include "util/merge_redux.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/module.h"
#include "logfmt/reduce.h"

struct pair {
	uint64_t id;
	int64_t rank;
	size_t seq;
};

struct shared {
	uint64_t id;
	size_t seq; /* of its first record: the order of output */
	void *element;
};

struct twice { /* a rank's record that comes in several pieces */
	uint64_t id;
	int64_t rank;
	void *record;
};

struct scribe_merge_redux {
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
	int finished;
};

static int no_memory(const struct scribe_merge_redux *x, struct scribe_err *err)
{
	return scribe_err_set(err, -ENOMEM, "%s module: reduction of %zu records: out of memory",
			      x->module->name, x->npairs);
}

int scribe_merge_redux_new(int module, int64_t nprocs, struct scribe_merge_redux **ret_x,
			   struct scribe_err *err)
{
	struct scribe_merge_redux *x = calloc(1, sizeof(*x));

	if (!x)
		return scribe_err_set(err, -ENOMEM, "reduction: out of memory");
	x->module = scribe_module_by_id(module);
	x->nprocs = nprocs;
	x->element_bytes = scribe_redux_bytes(module);
	x->scratch = malloc(x->element_bytes ? x->element_bytes : 1);
	if (!x->scratch) {
		scribe_merge_redux_free(x);
		return scribe_err_set(err, -ENOMEM, "reduction: out of memory");
	}
	*ret_x = x;
	return 0;
}

struct scribe_merge_redux *scribe_merge_redux_free(struct scribe_merge_redux *x)
{
	if (!x)
		return NULL;
	for (size_t i = 0; i < x->nshared; i++)
		free(x->shared[i].element);
	for (size_t i = 0; i < x->ntwices; i++)
		free(x->twices[i].record);
	free(x->shared);
	free(x->order);
	free(x->twices);
	free(x->pairs);
	free(x->scratch);
	free(x);
	return NULL;
}

int scribe_merge_redux_note(struct scribe_merge_redux *x, const void *record, struct scribe_err *err)
{
	const struct scribe_base_record *base = record;

	if (base->rank < 0 || base->rank >= x->nprocs)
		return 0; /* shared already, or of no rank of this job */
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

/* The run of pairs of one id from `i` on: its end, distinct ranks, ranks with several, first place. */
static size_t run_of(const struct scribe_merge_redux *x, size_t i, int64_t *ret_ranks, size_t *ret_twices,
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
		/* counted at the second of a rank's records only */
		*ret_twices += again && (j - i < 2 || p[j].rank != p[j - 2].rank);
		if (p[j].seq < *ret_seq)
			*ret_seq = p[j].seq;
	}
	return j;
}

static void plan_twices(struct scribe_merge_redux *x, size_t from, size_t to)
{
	for (size_t j = from + 1; j < to; j++)
		if (x->pairs[j].rank == x->pairs[j - 1].rank &&
		    (j - from < 2 || x->pairs[j].rank != x->pairs[j - 2].rank))
			x->twices[x->ntwices++] = (struct twice){x->pairs[j].id, x->pairs[j].rank, NULL};
}

int scribe_merge_redux_plan(struct scribe_merge_redux *x, struct scribe_err *err)
{
	size_t nshared = 0, ntwices = 0, twices, seq, end;
	int64_t ranks;

	if (x->npairs)
		qsort(x->pairs, x->npairs, sizeof(*x->pairs), by_pair);
	for (size_t i = 0; i < x->npairs; i = end) {
		end = run_of(x, i, &ranks, &twices, &seq);
		nshared += ranks == x->nprocs;
		ntwices += ranks == x->nprocs ? twices : 0;
	}
	x->shared = calloc(nshared + 1, sizeof(*x->shared));
	x->order = calloc(nshared + 1, sizeof(*x->order));
	x->twices = calloc(ntwices + 1, sizeof(*x->twices));
	if (!x->shared || !x->order || !x->twices)
		return no_memory(x, err);
	for (size_t i = 0; i < x->npairs; i = end) {
		end = run_of(x, i, &ranks, &twices, &seq);
		if (ranks != x->nprocs)
			continue;
		x->shared[x->nshared++] = (struct shared){x->pairs[i].id, seq, NULL};
		plan_twices(x, i, end);
	}
	free(x->pairs);
	x->pairs = NULL;
	return 0;
}

static struct shared *shared_of(const struct scribe_merge_redux *x, uint64_t id)
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

static struct twice *twice_of(const struct scribe_merge_redux *x, uint64_t id, int64_t rank)
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

/* Join one rank's whole record to its shared one. */
static int join(struct scribe_merge_redux *x, struct shared *s, const void *record, struct scribe_err *err)
{
	int rc;

	if (!s->element) {
		s->element = malloc(x->element_bytes);
		if (!s->element)
			return no_memory(x, err);
		rc = scribe_redux_begin(x->module->id, record, s->element);
	} else {
		rc = scribe_redux_begin(x->module->id, record, x->scratch);
		if (rc >= 0)
			rc = scribe_redux_join(x->module->id, s->element, x->scratch);
	}
	return rc < 0 ? scribe_err_set(err, rc, "%s module: %s", x->module->name, scribe_strerror(rc)) : 1;
}

int scribe_merge_redux_takes(const struct scribe_merge_redux *x, const void *record)
{
	const struct scribe_base_record *base = record;

	return base->rank >= 0 && base->rank < x->nprocs && shared_of(x, base->id) != NULL;
}

int scribe_merge_redux_add(struct scribe_merge_redux *x, const void *record, struct scribe_err *err)
{
	const struct scribe_base_record *base = record;
	struct twice *t;
	int rc;

	if (!scribe_merge_redux_takes(x, record))
		return 0;
	t = twice_of(x, base->id, base->rank);
	if (!t)
		return join(x, shared_of(x, base->id), record, err);
	if (t->record) {
		rc = scribe_record_merge(x->module->id, t->record, record);
		return rc < 0 ? scribe_err_set(err, rc, "%s module: %s", x->module->name, scribe_strerror(rc))
			      : 1;
	}
	t->record = malloc(x->module->record_bytes);
	if (!t->record)
		return no_memory(x, err);
	memcpy(t->record, record, x->module->record_bytes);
	return 1;
}

static int by_seq(const void *a, const void *b)
{
	const struct shared *x = *(struct shared *const *)a, *y = *(struct shared *const *)b;

	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* Join what came in pieces; from now on in the order of output. */
static int finish(struct scribe_merge_redux *x, struct scribe_err *err)
{
	for (size_t i = 0; i < x->ntwices; i++) {
		struct twice *t = &x->twices[i];
		int rc = t->record ? join(x, shared_of(x, t->id), t->record, err) : 0;

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

int scribe_merge_redux_record(struct scribe_merge_redux *x, size_t i, void *ret_rec, struct scribe_err *err)
{
	int rc = x->finished ? 0 : finish(x, err);

	if (rc < 0 || i >= x->nshared)
		return rc;
	rc = scribe_redux_end(x->module->id, x->order[i]->element, ret_rec);
	return rc < 0 ? scribe_err_set(err, rc, "%s module: %s", x->module->name, scribe_strerror(rc)) : 1;
}
