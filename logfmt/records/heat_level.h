/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LOGFMT_RECORDS_HEAT_LEVEL_H
#define LOGFMT_RECORDS_HEAT_LEVEL_H

#include "logfmt/records/bundle.h"

/* One axis for the heatmaps of several bundles: each is noted, then each is put on it. */
struct scribe_heat_axis {
	uint64_t span_ns; /* end of the last bin */
	double width;     /* s, of the widest bin */
};

void scribe_heat_axis_note(struct scribe_heat_axis *axis, const struct scribe_bundle *b);
/* 0 or -ENOMEM. */
int scribe_heat_level_to(struct scribe_bundle *b, const struct scribe_heat_axis *axis);
/* The bundle's heatmaps get bins of one width, and as many; several of a rank become one. 0 or -ENOMEM. */
int scribe_heat_level(struct scribe_bundle *b);

#endif
