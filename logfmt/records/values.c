/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Growing tables of common values for `ioscribe merge`. Entries are joined only when a table is full, so most
 * additions are a copy.
 */
#include "logfmt/records/values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/records/join.h"

#define FIRST_CAPACITY 8 /* entries; most files have few values */

struct table {
	const struct scribe_value_group *group;
	int64_t *words;
	size_t used, capacity;
};

struct scribe_values {
	const struct scribe_module *module;
	struct table tables[2];
};

int scribe_values_new(int module, struct scribe_values **ret_values)
{
	const struct scribe_join_plan *plan = scribe_join_plan(module);
	struct scribe_values *v = NULL;

	if (plan && (plan->values[0].width || plan->values[1].width)) {
		v = calloc(1, sizeof(*v));
		if (!v)
			return -ENOMEM;
		v->module = scribe_module_by_id(module);
		for (int i = 0; i < 2; i++)
			v->tables[i].group = &plan->values[i];
	}
	*ret_values = v;
	return 0;
}

struct scribe_values *scribe_values_free(struct scribe_values *v)
{
	if (v)
		for (int i = 0; i < 2; i++)
			free(v->tables[i].words);
	free(v);
	return NULL;
}

static int by_value(const void *a, const void *b, void *width)
{
	/* Any total order serves, because it only makes equal values neighbours. */
	return memcmp(a, b, *(const size_t *)width * 8);
}

/* As in records: by count, then value, descending. */
static int by_count(const void *a, const void *b, void *width)
{
	const int64_t *x = a, *y = b;
	size_t w = *(const size_t *)width;

	if (x[w] != y[w])
		return x[w] > y[w] ? -1 : 1;
	for (size_t i = 0; i < w; i++)
		if (x[i] != y[i])
			return x[i] > y[i] ? -1 : 1;
	return 0;
}

static void join_equal(struct table *t)
{
	size_t width = (size_t)t->group->width, step = width + 1, used = 0;

	if (t->used == 0)
		return;
	qsort_r(t->words, t->used, step * 8, by_value, &width);
	for (size_t i = 1; i < t->used; i++) {
		int64_t *last = t->words + used * step, *next = t->words + i * step;

		if (memcmp(last, next, width * 8) != 0)
			memmove(t->words + ++used * step, next, step * 8);
		else if (__builtin_add_overflow(last[width], next[width], &last[width]))
			last[width] = INT64_MAX;
	}
	t->used = used + 1;
}

static int make_room(struct table *t)
{
	size_t width = (size_t)t->group->width, capacity = t->capacity ? 2 * t->capacity : FIRST_CAPACITY;
	int64_t *bigger;

	join_equal(t);
	if (t->used < t->capacity - t->capacity / 4)
		return 0;
	if (t->capacity == SCRIBE_VALUES_MAX) {
		qsort_r(t->words, t->used, (width + 1) * 8, by_count, &width);
		t->used = t->capacity / 2;
		return 0;
	}
	bigger = realloc(t->words, capacity * (width + 1) * 8);
	if (!bigger)
		return -ENOMEM;
	t->words = bigger;
	t->capacity = capacity;
	return 0;
}

static int add(struct table *t, const int64_t *value, int64_t count)
{
	size_t width = (size_t)t->group->width;
	int64_t *entry;

	if (t->used == t->capacity && make_room(t) < 0)
		return -ENOMEM;
	entry = t->words + t->used++ * (width + 1);
	memcpy(entry, value, width * 8);
	entry[width] = count;
	return 0;
}

int scribe_values_add(struct scribe_values *v, const void *record)
{
	const int64_t *c;

	if (!v)
		return 0;
	c = scribe_record_counters(v->module, record);
	for (int i = 0; i < 2; i++) {
		const struct scribe_value_group *g = v->tables[i].group;

		for (int k = 0; g->width && k < SCRIBE_TOP; k++)
			if (c[g->count_at + k] > 0 &&
			    add(&v->tables[i], c + g->at + k * g->width, c[g->count_at + k]) < 0)
				return -ENOMEM;
	}
	return 0;
}

/* The table remains usable, in another order. */
void scribe_values_give(struct scribe_values *v, void *record)
{
	for (int i = 0; v && i < 2; i++) {
		struct table *t = &v->tables[i];
		size_t width = (size_t)t->group->width;
		struct scribe_common top[SCRIBE_TOP];
		int n = 0;

		if (!width)
			continue;
		join_equal(t);
		if (t->used)
			qsort_r(t->words, t->used, (width + 1) * 8, by_count, &width);
		for (; n < SCRIBE_TOP && (size_t)n < t->used; n++) {
			const int64_t *entry = t->words + (size_t)n * (width + 1);

			memcpy(top[n].value, entry, width * 8);
			top[n].count = entry[width];
		}
		scribe_common_give(t->group, top, n, (int64_t *)((char *)record + v->module->counters_at));
	}
}
