// SPDX-License-Identifier: BSD-3-Clause
/*
 * One time axis for heatmaps of several logs: note all records, plan the axis, move each record onto it. Must
 * not know logs.
 */
#include "util/logs/merge_heat.h"

#include <string.h>

#include "logfmt/base/err.h"
#include "util/logs/sum.h"

#define MAX_BINS 200                /* limit of Darshan's runtime */
#define EXACT    (INT64_C(1) << 53) /* integers that a double holds exactly */
#define NEARLY   1e-9               /* relative tolerance */

#define LONGEST 1e15 /* seconds; more is damage */

int scribe_merge_heat_is_sound(const struct scribe_heatmap_record *h)
{
	return h->nbins == 0 ||
	       (h->bin_width_seconds > 1 / LONGEST && h->bin_width_seconds * (double)h->nbins < LONGEST);
}

void scribe_merge_axis_note(struct scribe_merge_axis *a, const struct scribe_heatmap_record *h, double lag)
{
	double end;

	if (!scribe_merge_heat_is_sound(h))
		return;
	end = lag + h->bin_width_seconds * (double)h->nbins;
	a->differs |= lag > 0 || (a->seen && (h->bin_width_seconds != a->width || h->nbins != a->nbins));
	if (h->bin_width_seconds > a->width)
		a->width = h->bin_width_seconds;
	if (h->nbins > a->nbins)
		a->nbins = h->nbins;
	if (end > a->end)
		a->end = end;
	a->seen = 1;
}

void scribe_merge_axis_plan(struct scribe_merge_axis *a)
{
	double most = a->nbins > MAX_BINS ? (double)a->nbins : MAX_BINS, bins;

	if (!a->differs || a->width <= 0)
		return;
	/* Widths are doubled until all times fit, as Darshan's runtime does. */
	while (a->end > a->width * most * (1 + NEARLY))
		a->width *= 2;
	bins = a->end / a->width * (1 - NEARLY);
	a->nbins = scribe_whole(bins);
	a->nbins += (double)a->nbins < bins;
}

size_t scribe_merge_axis_bytes(const struct scribe_merge_axis *a)
{
	return sizeof(struct scribe_heatmap_record) + 2 * (size_t)a->nbins * sizeof(int64_t);
}

/* Target of a source bin: `bin`, and the part `rest` for the bin after it. */
struct span {
	int64_t bin;
	double rest;
};

static struct span place_of(const struct scribe_merge_axis *a, double width, double lag, int64_t i)
{
	struct span p = {0, 0};
	int64_t times = scribe_whole(a->width / width + 0.5);
	double off = a->width / width - (double)times, from, to;

	/* Widths divide each other and nothing is shifted: bins are grouped without splitting bytes. */
	if (lag == 0 && times > 0 && off <= NEARLY * (double)times && off >= -NEARLY * (double)times) {
		p.bin = i / times;
	} else {
		from = (lag + (double)i * width) / a->width;
		to = (lag + (double)(i + 1) * width) / a->width;
		p.bin = scribe_whole(from * (1 + NEARLY));
		if (to > (double)(p.bin + 1))
			p.rest = (to - (double)(p.bin + 1)) / (to - from);
	}
	if (p.bin >= a->nbins - 1) {
		p.bin = a->nbins - 1;
		p.rest = 0;
	}
	return p;
}

static void put(int64_t *bins, struct span p, int64_t bytes)
{
	int64_t second = bytes > 0 && bytes < EXACT ? (int64_t)((double)bytes * p.rest + 0.5) : 0;

	/* The first bin receives the difference, so the sum stays exact. */
	bins[p.bin] = scribe_sum(bins[p.bin], bytes - second);
	if (second)
		bins[p.bin + 1] = scribe_sum(bins[p.bin + 1], second);
}

void scribe_merge_axis_move(const struct scribe_merge_axis *a, const struct scribe_heatmap_record *h, double lag,
			    struct scribe_heatmap_record *ret_h)
{
	memset(ret_h, 0, scribe_merge_axis_bytes(a));
	ret_h->base = h->base;
	ret_h->bin_width_seconds = a->width;
	ret_h->nbins = a->nbins;
	for (int64_t i = 0; i < h->nbins; i++) {
		struct span p = place_of(a, h->bin_width_seconds, lag, i);

		put(ret_h->bins, p, h->bins[i]);
		put(ret_h->bins + a->nbins, p, h->bins[h->nbins + i]);
	}
}

int scribe_merge_heat_add(struct scribe_heatmap_record *to, const struct scribe_heatmap_record *other)
{
	if (to->nbins != other->nbins || to->bin_width_seconds != other->bin_width_seconds)
		return -SCRIBE_E_FORMAT;
	for (int64_t i = 0; i < 2 * to->nbins; i++)
		to->bins[i] = scribe_sum(to->bins[i], other->bins[i]);
	return 0;
}
