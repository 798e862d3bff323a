/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LOGFMT_RECORDS_HEAT_LEVEL_H
#define LOGFMT_RECORDS_HEAT_LEVEL_H

#include "logfmt/records/bundle.h"

/* One axis for heatmaps of several bundles: first all are noted, then each is changed. */
struct scribe_heat_axis {
	uint64_t span_ns; /* end of the last bin */
	double width;     /* s, of the widest bin */
};

void scribe_heat_axis_note(struct scribe_heat_axis *axis, const struct scribe_bundle *b);
int scribe_heat_level_to(struct scribe_bundle *b, const struct scribe_heat_axis *axis);
/* One bundle: bins of one width and number, one record per rank. 0 or -ENOMEM. */
int scribe_heat_level(struct scribe_bundle *b);

#endif
