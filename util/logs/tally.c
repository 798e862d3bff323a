// SPDX-License-Identifier: BSD-3-Clause
/* Totals by key in a sorted array. For `ioscribe analyze`; the caller locks. */
#include "util/logs/tally.h"
#include "util/logs/sum.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void scribe_totals_add(struct scribe_totals *to, const struct scribe_totals *from)
{
	to->logs = scribe_sum(to->logs, from->logs);
	to->bytes_read = scribe_sum(to->bytes_read, from->bytes_read);
	to->bytes_written = scribe_sum(to->bytes_written, from->bytes_written);
	to->io_time += from->io_time;
	to->run_time += from->run_time;
}

static size_t find_slot(const struct scribe_tally *t, const char *key, int *ret_found)
{
	size_t from = 0, to = t->n;

	*ret_found = 0;
	while (from < to) {
		size_t mid = from + (to - from) / 2;
		int c = strcmp(t->entries[mid].key, key);

		if (c == 0) {
			*ret_found = 1;
			return mid;
		}
		if (c < 0)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

static int insert(struct scribe_tally *t, size_t at, const char *key)
{
	char *copy = strdup(key);

	if (!copy)
		return -ENOMEM;
	if (t->n == t->cap) {
		size_t cap = t->cap ? 2 * t->cap : 64;
		struct scribe_tally_entry *bigger = realloc(t->entries, cap * sizeof(*bigger));

		if (!bigger) {
			free(copy);
			return -ENOMEM;
		}
		t->entries = bigger;
		t->cap = cap;
	}
	memmove(t->entries + at + 1, t->entries + at, (t->n - at) * sizeof(*t->entries));
	t->entries[at] = (struct scribe_tally_entry){.key = copy};
	t->n++;
	return 0;
}

int scribe_tally_add(struct scribe_tally *t, const char *key, const struct scribe_totals *v)
{
	int found;
	size_t at = find_slot(t, key, &found);

	if (!found && insert(t, at, key) < 0)
		return -ENOMEM;
	scribe_totals_add(&t->entries[at].totals, v);
	return 0;
}

static int by_bytes(const void *a, const void *b)
{
	const struct scribe_tally_entry *x = a, *y = b;
	double bx = (double)x->totals.bytes_read + (double)x->totals.bytes_written;
	double by = (double)y->totals.bytes_read + (double)y->totals.bytes_written;

	if (bx != by)
		return bx > by ? -1 : 1;
	/* The key makes the order independent of that of the logs. */
	return strcmp(x->key, y->key);
}

void scribe_tally_rank(struct scribe_tally *t)
{
	if (t->n)
		qsort(t->entries, t->n, sizeof(*t->entries), by_bytes);
}

void scribe_tally_free(struct scribe_tally *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->entries[i].key);
	free(t->entries);
	memset(t, 0, sizeof(*t));
}
