// SPDX-License-Identifier: BSD-3-Clause
/*
 * Rows of records that are lists: heatmap bins, traced operations, Lustre layouts. Must not know any export format.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/cmd/export/export_rows.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static const struct scribe_column heatmap_columns[] = {
	{"record_id", SCRIBE_COL_ID}, {"rank", SCRIBE_COL_INT},       {"name", SCRIBE_COL_PLACE},
	{"mount", SCRIBE_COL_PLACE},  {"fs", SCRIBE_COL_PLACE},       {"bin", SCRIBE_COL_INT},
	{"width", SCRIBE_COL_REAL},   {"bytes_read", SCRIBE_COL_INT}, {"bytes_written", SCRIBE_COL_INT},
};

static int heatmap_rows(struct scribe_export_rows *r, const void *record)
{
	const struct scribe_heatmap_record *h = record;
	int n = scribe_export_place(r, record), rc = 0;

	for (int64_t i = 0; i < h->nbins && rc >= 0; i++) {
		r->cells[n] = cell_int(i);
		r->cells[n + 1] = cell_real(h->bin_width_seconds);
		r->cells[n + 2] = cell_int(h->bins[h->nbins + i]);
		r->cells[n + 3] = cell_int(h->bins[i]);
		rc = scribe_export_row(r);
	}
	return rc;
}

static const struct scribe_column segment_columns[] = {
	{"record_id", SCRIBE_COL_ID}, {"rank", SCRIBE_COL_INT},   {"name", SCRIBE_COL_PLACE},
	{"mount", SCRIBE_COL_PLACE},  {"fs", SCRIBE_COL_PLACE},   {"host", SCRIBE_COL_TEXT},
	{"is_write", SCRIBE_COL_INT}, {"number", SCRIBE_COL_INT}, {"offset", SCRIBE_COL_INT},
	{"length", SCRIBE_COL_INT},   {"start", SCRIBE_COL_REAL}, {"end", SCRIBE_COL_REAL},
	{"thread", SCRIBE_COL_ID},
};

static int segment_rows(struct scribe_export_rows *r, const void *record)
{
	const struct scribe_dxt_record *d = record;
	int n = scribe_export_place(r, record), rc = 0;

	r->cells[n++] = cell_bytes(d->hostname, strnlen(d->hostname, sizeof(d->hostname)));
	for (int64_t i = 0; i < d->write_count + d->read_count && rc >= 0; i++) {
		const struct scribe_dxt_segment *s = &d->segments[i];
		int write = i < d->write_count;

		r->cells[n] = cell_int(write);
		r->cells[n + 1] = cell_int(write ? i : i - d->write_count);
		r->cells[n + 2] = cell_int(s->offset);
		r->cells[n + 3] = cell_int(s->length);
		r->cells[n + 4] = cell_real(s->start);
		r->cells[n + 5] = cell_real(s->end);
		r->cells[n + 6] = cell_id(s->thread);
		rc = scribe_export_row(r);
	}
	return rc;
}

static const struct scribe_column lustre_columns[] = {
	{"record_id", SCRIBE_COL_ID},    {"rank", SCRIBE_COL_INT},         {"name", SCRIBE_COL_PLACE},
	{"mount", SCRIBE_COL_PLACE},     {"fs", SCRIBE_COL_PLACE},         {"component", SCRIBE_COL_INT},
	{"stripe_size", SCRIBE_COL_INT}, {"stripe_count", SCRIBE_COL_INT}, {"stripe_pattern", SCRIBE_COL_INT},
	{"flags", SCRIBE_COL_INT},       {"ext_start", SCRIBE_COL_INT},    {"ext_end", SCRIBE_COL_INT},
	{"mirror_id", SCRIBE_COL_INT},   {"pool_name", SCRIBE_COL_TEXT},   {"osts", SCRIBE_COL_TEXT},
};

char *scribe_export_ints(const int64_t *ints, int64_t n)
{
	char *text = malloc(n > 0 ? (size_t)n * 21 + 1 : 1), *at = text; /* 21: longest number and a blank */

	if (!text)
		return NULL;
	*at = '\0';
	for (int64_t i = 0; i < n; i++)
		at += sprintf(at, "%s%lld", i ? " " : "", (long long)ints[i]);
	return text;
}

/* OST ids of one component. The caller frees. NULL: out of memory. */
static char *ost_list(const struct scribe_lustre_record *l, int64_t first, int64_t count)
{
	const int64_t *osts = (const int64_t *)(l->comps + l->num_comps);

	/* Counts come from the log and may exceed its list of ids. */
	if (first > l->num_stripes)
		first = l->num_stripes;
	if (count < 0 || count > l->num_stripes - first)
		count = l->num_stripes - first;
	return scribe_export_ints(osts + first, count);
}

static int lustre_rows(struct scribe_export_rows *r, const void *record)
{
	const struct scribe_lustre_record *l = record;
	int64_t first = 0;
	int n = scribe_export_place(r, record), rc = 0;

	for (int64_t i = 0; i < l->num_comps && rc >= 0; i++) {
		const struct scribe_lustre_comp *c = &l->comps[i];
		int64_t stripes = c->counters[SCRIBE_LUSTRE_COMP_STRIPE_COUNT];
		char *osts = ost_list(l, first, stripes);

		if (!osts)
			return scribe_err_set(r->err, -ENOMEM, "LUSTRE record: out of memory");
		r->cells[n] = cell_int(i + 1);
		for (int k = 0; k < SCRIBE_LUSTRE_COMP_COUNT; k++)
			r->cells[n + 1 + k] = cell_int(c->counters[k]);
		r->cells[n + 1 + SCRIBE_LUSTRE_COMP_COUNT] =
			cell_bytes(c->pool_name, strnlen(c->pool_name, sizeof(c->pool_name)));
		r->cells[n + 2 + SCRIBE_LUSTRE_COMP_COUNT] = cell_text(osts);
		rc = scribe_export_row(r);
		free(osts);
		if (stripes > 0 && stripes <= l->num_stripes - first)
			first += stripes;
	}
	return rc;
}

static const struct scribe_export_list lists[] = {
	{SCRIBE_MOD_HEATMAP, heatmap_columns, COUNT(heatmap_columns), heatmap_rows},
	{SCRIBE_MOD_DXT_POSIX, segment_columns, COUNT(segment_columns), segment_rows},
	{SCRIBE_MOD_DXT_MPIIO, segment_columns, COUNT(segment_columns), segment_rows},
	{SCRIBE_MOD_LUSTRE, lustre_columns, COUNT(lustre_columns), lustre_rows},
};

const struct scribe_export_list *scribe_export_list_of(int module)
{
	for (int i = 0; i < COUNT(lists); i++)
		if (lists[i].module == module)
			return &lists[i];
	return NULL;
}
