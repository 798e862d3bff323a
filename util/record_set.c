// SPDX-License-Identifier: BSD-3-Clause
/*
 * Records held in memory and grouped by id. Must not know: what they mean.
 */
#include "util/record_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int add(struct scribe_record_set *s, int module, const void *data, size_t len)
{
	const struct scribe_base_record *base = data;
	struct scribe_record *r;

	if (s->nrecords == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 256;
		struct scribe_record *bigger = realloc(s->records, cap * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		s->records = bigger;
		s->cap = cap;
	}
	r = &s->records[s->nrecords];
	*r = (struct scribe_record){base->id, module, base->rank, malloc(len), len, s->nrecords, 0};
	if (!r->data)
		return -ENOMEM;
	memcpy(r->data, data, len);
	s->nrecords++;
	return 0;
}

static int load_module(struct scribe_record_set *s, struct scribe_reader *r, int module,
		       struct scribe_err *err)
{
	const void *data;
	size_t len;
	int rc;

	while ((rc = scribe_reader_borrow_record(r, module, &data, &len)) > 0)
		if (add(s, module, data, len) < 0)
			return scribe_err_set(err, -ENOMEM, "%zu records in memory: out of memory",
					      s->nrecords);
	if (rc < 0 && err)
		*err = *scribe_reader_error(r);
	return rc;
}

static int by_id_seq(const void *a, const void *b)
{
	const struct scribe_record *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

int scribe_record_compare(const struct scribe_record *a, const struct scribe_record *b)
{
	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static int by_order(const void *a, const void *b)
{
	const struct scribe_record *x = a, *y = b;
	int c;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	c = scribe_record_compare(x, y);
	if (c)
		return c;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static int by_group_id(const void *a, const void *b, void *ctx)
{
	const struct scribe_record_group *g = ctx;
	uint64_t x = g[*(const size_t *)a].id, y = g[*(const size_t *)b].id;

	return x < y ? -1 : x > y;
}

static int group(struct scribe_record_set *s)
{
	size_t n = s->nrecords;

	if (n == 0)
		return 0;
	qsort(s->records, n, sizeof(*s->records), by_id_seq);
	for (size_t i = 0; i < n; i++)
		s->records[i].order = i && s->records[i].id == s->records[i - 1].id ? s->records[i - 1].order
										    : s->records[i].seq;
	qsort(s->records, n, sizeof(*s->records), by_order);
	s->groups = calloc(n, sizeof(*s->groups));
	s->by_id = calloc(n, sizeof(*s->by_id));
	if (!s->groups || !s->by_id)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (!i || s->records[i].id != s->records[i - 1].id)
			s->groups[s->ngroups++] = (struct scribe_record_group){s->records[i].id, i, 0, 0};
		s->groups[s->ngroups - 1].count++;
	}
	for (size_t i = 0; i < s->ngroups; i++)
		s->by_id[i] = i;
	qsort_r(s->by_id, s->ngroups, sizeof(*s->by_id), by_group_id, s->groups);
	return 0;
}

int scribe_record_set_load(struct scribe_record_set *s, struct scribe_reader *r,
			   int (*wanted)(void *ctx, int module), void *ctx, struct scribe_err *err)
{
	memset(s, 0, sizeof(*s));
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++) {
		int rc = scribe_reader_has(r, i) && wanted(ctx, i) ? load_module(s, r, i, err) : 0;

		if (rc < 0)
			return rc;
	}
	if (group(s) < 0)
		return scribe_err_set(err, -ENOMEM, "groups of %zu records: out of memory", s->nrecords);
	return 0;
}

void scribe_record_set_free(struct scribe_record_set *s)
{
	for (size_t i = 0; i < s->nrecords; i++)
		free(s->records[i].data);
	free(s->records);
	free(s->groups);
	free(s->by_id);
	memset(s, 0, sizeof(*s));
}

struct scribe_record_group *scribe_record_set_find(struct scribe_record_set *s, uint64_t id)
{
	size_t from = 0, to = s->ngroups;

	while (from < to) {
		size_t mid = from + (to - from) / 2;
		struct scribe_record_group *g = &s->groups[s->by_id[mid]];

		if (g->id == id)
			return g;
		if (g->id < id)
			from = mid + 1;
		else
			to = mid;
	}
	return NULL;
}

int scribe_record_group_has(const struct scribe_record_set *s, const struct scribe_record_group *g,
			    int module)
{
	for (size_t i = 0; i < g->count; i++)
		if (s->records[g->first + i].module == module)
			return 1;
	return 0;
}
