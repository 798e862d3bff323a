/* SPDX-License-Identifier: BSD-3-Clause */
/* If axes differ, bytes are spread by time; none is lost. */
#ifndef LOGFMT_RECORDS_HEAT_H
#define LOGFMT_RECORDS_HEAT_H

#include "logfmt/counters/records.h"
#include "logfmt/rules/heat_rules.h"

/* Bins up to `span_ns`: 1 to SCRIBE_HEAT_BINS. */
size_t scribe_heat_nbins(uint64_t span_ns, uint32_t shift);
static inline size_t scribe_heat_record_bytes(size_t nbins)
{
	return sizeof(struct scribe_heatmap_record) + 2 * nbins * sizeof(int64_t);
}

void scribe_heat_add(struct scribe_heat_table *to, const struct scribe_heat_table *from);
/* nbins bins of a table; the last one includes the rest. */
void scribe_heat_write(const struct scribe_heat_table *t, size_t nbins, uint64_t id, int64_t rank,
		       struct scribe_heatmap_record *ret_rec);
/* The record's log began `lag` seconds after the job; `to` starts with the job. */
void scribe_heat_read(const struct scribe_heatmap_record *rec, double lag, struct scribe_heat_table *to);

#endif
