/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Heatmaps of several logs on one time axis: bins of one width, equally many,
 * counted from the merged job's start.
 */
#ifndef UTIL_LOGS_MERGE_HEAT_H
#define UTIL_LOGS_MERGE_HEAT_H

#include <stdint.h>

#include "logfmt/counters/records.h"

/* Zeroed: no heatmap seen. */
struct scribe_merge_axis {
	double width; /* of a bin, seconds: the widest seen, doubled until all fits */
	double end;   /* of the last bin, seconds */
	int64_t nbins;
	int seen, differs; /* differs: records must be moved */
};

/* Has it a width that can be? Records that have not stay out of the axis, and as they are. */
int scribe_merge_heat_is_sound(const struct scribe_heatmap_record *h);

/* First pass: a record whose log starts `lag` seconds (>= 0) after the merged job. */
void scribe_merge_axis_note(struct scribe_merge_axis *a, const struct scribe_heatmap_record *h, double lag);
/* After the first pass, once. At most 200 bins, or as many as the longest record has. */
void scribe_merge_axis_plan(struct scribe_merge_axis *a);
/* Bytes of a record on the axis. */
size_t scribe_merge_axis_bytes(const struct scribe_merge_axis *a);
/*
 * A sound record on the axis, into ret_h of scribe_merge_axis_bytes(). A bin that
 * lies across two is divided between them by time; no byte is lost or made.
 */
void scribe_merge_axis_move(const struct scribe_merge_axis *a, const struct scribe_heatmap_record *h,
			    double lag, struct scribe_heatmap_record *ret_h);

/* Add a heatmap to one of the same axis: 0, or -SCRIBE_E_FORMAT when it has another one. */
int scribe_merge_heat_add(struct scribe_heatmap_record *to, const struct scribe_heatmap_record *other);

#endif
