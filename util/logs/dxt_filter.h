/* SPDX-License-Identifier: BSD-3-Clause */
/* Which traced operations are wanted: by file, rank and start. */
#ifndef UTIL_LOGS_DXT_FILTER_H
#define UTIL_LOGS_DXT_FILTER_H

#include <stdbool.h>

#include "logfmt/base/err.h"
#include "logfmt/counters/records.h"

/* Begins as zeros: everything is wanted. */
struct scribe_dxt_filter {
	const char *file;  /* shell pattern of the whole name; NULL: any */
	const char *ranks; /* "0,4-7", checked; NULL: any */
	bool by_time, has_to;
	double from, to; /* seconds from the job's start; a start is in from..to, `to` not included */
};

/* 0, or -EINVAL with the option's name in the message. */
int scribe_dxt_filter_ranks(struct scribe_dxt_filter *f, const char *list, struct scribe_err *err);
int scribe_dxt_filter_time(struct scribe_dxt_filter *f, bool to, const char *seconds, struct scribe_err *err);

/* `name` is NULL where the log has none. */
bool scribe_dxt_filter_wants(const struct scribe_dxt_filter *f, int64_t rank, const char *name);
/* The same for all ranks. */
bool scribe_dxt_filter_wants_file(const struct scribe_dxt_filter *f, const char *name);
/* Take out of the record what starts at another time; its counts are of what stays. */
void scribe_dxt_filter_times(const struct scribe_dxt_filter *f, struct scribe_dxt_record *r);

#endif
