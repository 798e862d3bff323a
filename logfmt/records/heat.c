// SPDX-License-Identifier: BSD-3-Clause
/*
 * Heatmap tables to records and back. A table has 200 bins with a width that doubles (logfmt/rules/heat_rules.h).
 * Allocates nothing. Must not know ranks or parts.
 */
#include "logfmt/records/heat.h"

#include <string.h>

#define LONGEST 1e9 /* seconds; more is damage */

/* One operation over the whole bin, which the rules spread over the table's bins. */
static void put(struct scribe_heat_table *to, uint64_t from_ns, uint64_t width_ns, uint64_t read, uint64_t written)
{
	struct scribe_heat h = {.from_ns = from_ns, .to_ns = from_ns + width_ns, .bytes = {read, written}};

	if (read | written)
		scribe_heat_put(to, &h);
}

/* The last bin can extend past the span. */
size_t scribe_heat_nbins(uint64_t span_ns, uint32_t shift)
{
	const uint64_t width = SCRIBE_HEAT_WIDTH_NS << shift, n = span_ns / width + (span_ns % width != 0);

	return n < 1 ? 1 : n < SCRIBE_HEAT_BINS ? (size_t)n : SCRIBE_HEAT_BINS;
}

void scribe_heat_add(struct scribe_heat_table *to, const struct scribe_heat_table *from)
{
	const uint64_t width = SCRIBE_HEAT_WIDTH_NS << (from->shift & 31);

	for (uint64_t i = 0; i < SCRIBE_HEAT_BINS; i++)
		put(to, from->base_ns + i * width, width, from->bin[i].bytes[0], from->bin[i].bytes[1]);
}

void scribe_heat_write(const struct scribe_heat_table *t, size_t nbins, uint64_t id, int64_t rank,
		       struct scribe_heatmap_record *rec)
{
	memset(rec, 0, scribe_heat_record_bytes(nbins));
	rec->base.id = id;
	rec->base.rank = rank;
	rec->bin_width_seconds = (double)(SCRIBE_HEAT_WIDTH_NS << t->shift) / 1e9;
	rec->nbins = (int64_t)nbins;
	for (size_t i = 0; i < SCRIBE_HEAT_BINS; i++) {
		const size_t at = i < nbins ? i : nbins - 1;

		/* Bytes written are the first half of the bins, bytes read the second, as in Darshan. */
		rec->bins[at] += (int64_t)t->bin[i].bytes[1];
		rec->bins[nbins + at] += (int64_t)t->bin[i].bytes[0];
	}
}

void scribe_heat_read(const struct scribe_heatmap_record *rec, double lag, struct scribe_heat_table *to)
{
	/* Values from a file: implausible widths and lags are replaced. */
	const double said = rec->bin_width_seconds, width = said > 0 && said < LONGEST ? said : 1;
	const uint64_t late = lag > 0 && lag < LONGEST ? (uint64_t)(lag * 1e9) : 0;
	const uint64_t ns = (uint64_t)(width * 1e9 + 0.5);

	for (int64_t i = 0; i < rec->nbins; i++)
		put(to, to->base_ns + late + (uint64_t)i * ns, ns ? ns : 1, (uint64_t)rec->bins[rec->nbins + i],
		    (uint64_t)rec->bins[i]);
}
