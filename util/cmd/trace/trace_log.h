/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CMD_TRACE_TRACE_LOG_H
#define UTIL_CMD_TRACE_TRACE_LOG_H

#include "util/logs/dxt_filter.h"

int scribe_trace_log_check(const char *path, bool replace, struct scribe_err *err);
/* Copies the log in `fd`, filtered, to `path`. The caller closes `fd`. */
int scribe_trace_log_write(int fd, const struct scribe_dxt_filter *f, const char *path, bool replace,
			   struct scribe_err *err);

#endif
