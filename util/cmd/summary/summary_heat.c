// SPDX-License-Identifier: BSD-3-Clause
/*
 * Activity over time for `ioscribe summary`: bins of all ranks' heatmaps are spread over a fixed number of columns.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "util/cmd/summary/summary.h"
#include "util/logs/sum.h"
#include "util/text/human.h"

#define SPAN_MAX 1e12 /* s; longer is damage, not a job */

static int counts(const struct scribe_summary *s, uint64_t id)
{
	const char *name = scribe_names_find(s->log.names, id, NULL);

	/* MPI-IO's bytes appear again in the heatmaps of POSIX or STDIO below it. */
	return name && !strncmp(name, "heatmap:", 8) && strcmp(name, "heatmap:MPIIO");
}

static double end_of(const struct scribe_heatmap_record *h)
{
	double end = h->bin_width_seconds * (double)h->nbins;

	return isfinite(end) && end > 0 && end < SPAN_MAX ? end : 0;
}

/* Distributes a bin's bytes over the columns from..to that it covers. */
static void spread_bin(double *columns, double from, double to, double bytes)
{
	if (!(to > from)) {
		columns[from < SCRIBE_SUMMARY_COLUMNS ? (int)from : SCRIBE_SUMMARY_COLUMNS - 1] += bytes;
		return;
	}
	for (int c = (int)from; c < to && c < SCRIBE_SUMMARY_COLUMNS; c++)
		columns[c] += bytes * ((to < c + 1 ? to : c + 1) - (from > c ? from : c)) / (to - from);
}

static void spread(struct scribe_summary_heat *heat, const struct scribe_heatmap_record *h)
{
	double width = h->bin_width_seconds / heat->span * SCRIBE_SUMMARY_COLUMNS;

	if (end_of(h) == 0)
		return;
	for (int64_t i = 0; i < h->nbins; i++) {
		/* The first half of the bins holds written bytes, the second half read bytes. */
		if (h->bins[h->nbins + i] > 0)
			spread_bin(heat->bytes[0], (double)i * width, (double)(i + 1) * width,
				   (double)h->bins[h->nbins + i]);
		if (h->bins[i] > 0)
			spread_bin(heat->bytes[1], (double)i * width, (double)(i + 1) * width, (double)h->bins[i]);
	}
}

int scribe_summary_read_heat(struct scribe_summary *s, struct scribe_err *err)
{
	const void *record;
	size_t len;
	int rc = 0;

	/* Two passes: the scale depends on the longest record. */
	for (int pass = 0; pass < 2 && rc == 0; pass++) {
		scribe_reader_rewind(s->log.reader, SCRIBE_MOD_HEATMAP);
		while ((rc = scribe_reader_borrow_record(s->log.reader, SCRIBE_MOD_HEATMAP, &record, &len)) > 0) {
			const struct scribe_heatmap_record *h = record;

			if (!counts(s, h->base.id))
				continue;
			if (pass == 1)
				spread(&s->heat, h);
			else if (end_of(h) > s->heat.span)
				s->heat.span = end_of(h);
		}
		if (s->heat.span == 0)
			break;
	}
	if (rc < 0 && err)
		*err = *scribe_reader_error(s->log.reader);
	return rc < 0 ? rc : 0;
}

static int reads_of_bins(struct scribe_phases *p, const struct scribe_heatmap_record *h)
{
	const int64_t *bins = h->bins + h->nbins;
	int64_t to;

	for (int64_t i = 0; i < h->nbins && end_of(h) > 0; i = to + 1) {
		int64_t bytes = 0;

		for (to = i; to < h->nbins && bins[to] > 0; to++)
			bytes = scribe_sum(bytes, bins[to]);
		if (scribe_phases_take_reads(p, h->base.rank, (double)i * h->bin_width_seconds,
					     (double)to * h->bin_width_seconds, bytes) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int reads_of_trace(struct scribe_phases *p, const struct scribe_dxt_record *r)
{
	const struct scribe_dxt_segment *s = r->segments + r->write_count;
	double begin = 0, end = -1;
	int64_t bytes = 0;

	for (int64_t i = 0; i < r->read_count; i++) {
		if (s[i].start < begin || s[i].start > end + SCRIBE_PHASES_PAUSE) {
			if (scribe_phases_take_reads(p, r->base.rank, begin, end, bytes) < 0)
				return -ENOMEM;
			begin = s[i].start;
			end = begin;
			bytes = 0;
		}
		end = s[i].end > end ? s[i].end : end;
		bytes = scribe_sum(bytes, s[i].length);
	}
	return scribe_phases_take_reads(p, r->base.rank, begin, end, bytes);
}

static int64_t posix_reads(const struct scribe_summary *s)
{
	for (int i = 0; i < s->nmodules; i++)
		if (s->modules[i].module == SCRIBE_MOD_POSIX)
			return s->modules[i].reads;
	return 0;
}

/* 1: the trace has each read that POSIX counts (triggers and overhead_budget leave some out). */
static int take_trace(struct scribe_summary *s, struct scribe_err *err)
{
	const void *record;
	int64_t reads = 0;
	size_t len;
	int rc;

	while ((rc = scribe_reader_borrow_record(s->log.reader, SCRIBE_MOD_DXT_POSIX, &record, &len)) > 0) {
		const struct scribe_dxt_record *r = record;

		reads = scribe_sum(reads, r->read_count);
		if (reads_of_trace(&s->reads, r) < 0)
			return scribe_err_set(err, -ENOMEM, "out of memory");
	}
	if (rc < 0) {
		*err = *scribe_reader_error(s->log.reader);
		return rc;
	}
	scribe_reader_rewind(s->log.reader, SCRIBE_MOD_DXT_POSIX);
	if (reads > 0 && reads == posix_reads(s))
		return 1;
	scribe_phases_clear(&s->reads);
	return 0;
}

static int take_bins(struct scribe_summary *s, bool traced, struct scribe_err *err)
{
	const void *record;
	size_t len;
	int rc;

	scribe_reader_rewind(s->log.reader, SCRIBE_MOD_HEATMAP);
	while ((rc = scribe_reader_borrow_record(s->log.reader, SCRIBE_MOD_HEATMAP, &record, &len)) > 0) {
		const struct scribe_heatmap_record *h = record;
		const char *name = scribe_names_find(s->log.names, h->base.id, NULL);

		if (!counts(s, h->base.id) || (traced && !strcmp(name, "heatmap:POSIX")))
			continue;
		if (reads_of_bins(&s->reads, h) < 0)
			return scribe_err_set(err, -ENOMEM, "out of memory");
	}
	if (rc < 0)
		*err = *scribe_reader_error(s->log.reader);
	return rc;
}

/* By single operations, where the log has all of them, otherwise by bins. */
int scribe_summary_find_reads(struct scribe_summary *s, struct scribe_err *err)
{
	int rc = take_trace(s, err);

	if (rc >= 0)
		rc = take_bins(s, rc > 0, err);
	if (rc >= 0 && scribe_phases_find(&s->reads, scribe_reader_job(s->log.reader)->nprocs) < 0)
		rc = scribe_err_set(err, -ENOMEM, "out of memory");
	return rc;
}

/* Eight levels relative to the line's own maximum. */
static void put_line(const double *bytes, const char *what, double column_seconds, struct scribe_out *out)
{
	static const char levels[] = " .:-=+*#";
	char plot[SCRIBE_SUMMARY_COLUMNS + 1] = {0}, peak[40];
	double most = 0;

	for (int i = 0; i < SCRIBE_SUMMARY_COLUMNS; i++)
		most = bytes[i] > most ? bytes[i] : most;
	for (int i = 0; i < SCRIBE_SUMMARY_COLUMNS; i++) {
		int level = most > 0 && bytes[i] > 0 ? 1 + (int)(bytes[i] / most * 6) : 0;

		plot[i] = levels[level > 7 ? 7 : level];
	}
	scribe_out_printf(out, "  %-6s |%s| at most %s/s\n", what, plot,
			  scribe_human_bytes(scribe_whole(most / column_seconds), peak, sizeof(peak)));
}

void scribe_summary_print_heat(const struct scribe_summary *s, struct scribe_out *out)
{
	double column = s->heat.span / SCRIBE_SUMMARY_COLUMNS;

	if (s->heat.span == 0)
		return;
	scribe_out_printf(out, "\nactivity over %.4g s, %.3g s a column\n", s->heat.span, column);
	put_line(s->heat.bytes[0], "read", column, out);
	put_line(s->heat.bytes[1], "write", column, out);
}
