/* SPDX-License-Identifier: BSD-3-Clause */
/* The log of a window, from the service's hand to its place. */
#ifndef UTIL_CMD_TRACE_TRACE_LOG_H
#define UTIL_CMD_TRACE_TRACE_LOG_H

#include "util/logs/dxt_filter.h"

/* Could it be written there? Asked before the window begins. */
int scribe_trace_log_check(const char *path, bool replace, struct scribe_err *err);
/* What of the log in `fd` is wanted goes to `path`, compressed. `fd` stays the caller's. */
int scribe_trace_log_write(int fd, const struct scribe_dxt_filter *f, const char *path, bool replace,
			   struct scribe_err *err);

#endif
