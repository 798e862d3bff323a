// SPDX-License-Identifier: BSD-3-Clause
/* One axis for all heatmaps of a log. Must not know where records come from. */
#include "logfmt/records/heat_level.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/records/heat.h"

void scribe_heat_axis_note(struct scribe_heat_axis *axis, const struct scribe_bundle *b)
{
	for (size_t i = 0; i < b->n; i++) {
		const struct scribe_heatmap_record *rec = (const void *)b->rec[i]->data;
		uint64_t span;

		if (b->rec[i]->module != SCRIBE_MOD_HEATMAP)
			continue;
		span = (uint64_t)(rec->bin_width_seconds * 1e9 + 0.5) * (uint64_t)rec->nbins;
		axis->span_ns = span > axis->span_ns ? span : axis->span_ns;
		axis->width = rec->bin_width_seconds > axis->width ? rec->bin_width_seconds : axis->width;
	}
}

static uint32_t shift_of(const struct scribe_heat_axis *axis)
{
	struct scribe_heat_table t = {0};

	scribe_heat_fit(&t, axis->span_ns);
	/* At least as wide as the widest bin. The factor allows for rounding of a width stored in seconds. */
	while (t.shift < SCRIBE_HEAT_SHIFT_MOST &&
	       axis->width > (double)(SCRIBE_HEAT_WIDTH_NS << t.shift) * 1.000001e-9)
		t.shift++;
	return t.shift;
}

static int by_id_rank(const void *a, const void *b)
{
	const struct scribe_bundled *x = **(struct scribe_bundled * *const *)a;
	const struct scribe_bundled *y = **(struct scribe_bundled * *const *)b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	/* The order of addition makes the result independent of qsort. */
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Adds `n` records of one rank into the first. */
static int level_one(struct scribe_bundled ***at, size_t n, uint32_t shift, size_t nbins)
{
	struct scribe_bundled *first = **at, *made;
	struct scribe_heat_table t = {.shift = shift};

	made = malloc(sizeof(*made) + scribe_heat_record_bytes(nbins));
	if (!made)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		scribe_heat_read((const void *)(*at[i])->data, 0, &t);
		(*at[i])->bytes = 0;
	}
	*made = *first;
	made->bytes = scribe_heat_record_bytes(nbins);
	scribe_heat_write(&t, nbins, first->id, first->rank, (void *)made->data);
	free(first);
	**at = made;
	return 0;
}

/* Pointers to the bundle's heatmaps, by id and rank; the caller frees. */
static struct scribe_bundled ***records_of(struct scribe_bundle *b, size_t *ret_n)
{
	struct scribe_bundled ***at = malloc((b->n + 1) * sizeof(*at));

	*ret_n = 0;
	for (size_t i = 0; at && i < b->n; i++)
		if (b->rec[i]->module == SCRIBE_MOD_HEATMAP && b->rec[i]->bytes)
			at[(*ret_n)++] = &b->rec[i];
	if (at && *ret_n)
		qsort(at, *ret_n, sizeof(*at), by_id_rank);
	return at;
}

int scribe_heat_level_to(struct scribe_bundle *b, const struct scribe_heat_axis *axis)
{
	uint32_t shift = shift_of(axis);
	size_t nbins = scribe_heat_nbins(axis->span_ns, shift), kept = 0, n, next;
	struct scribe_bundled ***at = records_of(b, &n);
	int rc = at ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && rc == 0; i = next) {
		for (next = i + 1; next < n; next++)
			if ((*at[next])->id != (*at[i])->id || (*at[next])->rank != (*at[i])->rank)
				break;
		rc = level_one(&at[i], next - i, shift, nbins);
	}
	free(at);
	/* Also after a failure, because records of length 0 must not stay in the bundle. */
	for (size_t i = 0; i < b->n; i++) {
		if (b->rec[i]->bytes)
			b->rec[kept++] = b->rec[i];
		else
			free(b->rec[i]);
	}
	b->n = kept;
	return scribe_bundle_rekey(b) < 0 ? -ENOMEM : rc;
}

int scribe_heat_level(struct scribe_bundle *b)
{
	struct scribe_heat_axis axis = {0};

	scribe_heat_axis_note(&axis, b);
	return scribe_heat_level_to(b, &axis);
}
