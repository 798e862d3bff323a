/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of heatmaps from tables of all bins, and back. Where the axis of one moves, bytes are spread by
 * time, and none is lost.
 */
#ifndef LOGFMT_RECORDS_HEAT_H
#define LOGFMT_RECORDS_HEAT_H

#include "logfmt/counters/records.h"
#include "logfmt/rules/heat_rules.h"

/* Bins of a record that reaches to `span_ns` in bins of this width. At most SCRIBE_HEAT_BINS, at least one. */
size_t scribe_heat_nbins(uint64_t span_ns, uint32_t shift);
static inline size_t scribe_heat_record_bytes(size_t nbins)
{
	return sizeof(struct scribe_heatmap_record) + 2 * nbins * sizeof(int64_t);
}

/* All bins of `from` go to those of `to`. */
void scribe_heat_add(struct scribe_heat_table *to, const struct scribe_heat_table *from);
/* The first nbins of a table as a record, of scribe_heat_record_bytes(nbins); what is behind them is in the last. */
void scribe_heat_write(const struct scribe_heat_table *t, size_t nbins, uint64_t id, int64_t rank,
		       struct scribe_heatmap_record *ret_rec);
/* A record whose log began `lag` seconds after the job, into a table whose first bin begins with the job. */
void scribe_heat_read(const struct scribe_heatmap_record *rec, double lag, struct scribe_heat_table *to);

#endif
