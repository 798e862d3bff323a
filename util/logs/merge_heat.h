/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_LOGS_MERGE_HEAT_H
#define UTIL_LOGS_MERGE_HEAT_H

#include <stdint.h>

#include "logfmt/counters/records.h"

/* Zero-initialised. */
struct scribe_merge_axis {
	double width; /* seconds per bin: the widest seen, perhaps doubled */
	double end;   /* seconds, of the last bin */
	int64_t nbins;
	int seen, differs; /* differs: records must be moved */
};

/* False: the width is impossible; such records are copied unchanged. */
int scribe_merge_heat_is_sound(const struct scribe_heatmap_record *h);

/* First pass. lag: seconds from the merged job's start to the log's, >= 0. */
void scribe_merge_axis_note(struct scribe_merge_axis *a, const struct scribe_heatmap_record *h, double lag);
/* After the first pass: at most 200 bins, or as many as the longest record. */
void scribe_merge_axis_plan(struct scribe_merge_axis *a);
size_t scribe_merge_axis_bytes(const struct scribe_merge_axis *a);
/* Writes a sound record to ret_h (scribe_merge_axis_bytes). A bin across two is divided by time; the sum stays. */
void scribe_merge_axis_move(const struct scribe_merge_axis *a, const struct scribe_heatmap_record *h, double lag,
			    struct scribe_heatmap_record *ret_h);

/* Adds a heatmap of the same axis. -SCRIBE_E_FORMAT: another axis. */
int scribe_merge_heat_add(struct scribe_heatmap_record *to, const struct scribe_heatmap_record *other);

#endif
