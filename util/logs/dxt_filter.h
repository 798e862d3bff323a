/* SPDX-License-Identifier: BSD-3-Clause */
/* Selection of traced operations. */
#ifndef UTIL_LOGS_DXT_FILTER_H
#define UTIL_LOGS_DXT_FILTER_H

#include <stdbool.h>

#include "logfmt/base/err.h"
#include "logfmt/counters/records.h"

/* Zeroed: all. Strings are borrowed. */
struct scribe_dxt_filter {
	const char *file;  /* shell pattern for the whole name; NULL: any */
	const char *ranks; /* "0,4-7" */
	bool by_time, has_to;
	double from, to; /* seconds since the job's start; `to` is excluded */
};

int scribe_dxt_filter_ranks(struct scribe_dxt_filter *f, const char *list, struct scribe_err *err);
int scribe_dxt_filter_time(struct scribe_dxt_filter *f, bool to, const char *seconds, struct scribe_err *err);

bool scribe_dxt_filter_wants(const struct scribe_dxt_filter *f, int64_t rank, const char *name);
bool scribe_dxt_filter_wants_file(const struct scribe_dxt_filter *f, const char *name);
/* Removes segments with another start; adjusts the counts. */
void scribe_dxt_filter_times(const struct scribe_dxt_filter *f, struct scribe_dxt_record *r);

#endif
