/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses of reports contain a key instead of the token. */
#ifndef UTIL_CMD_SERVE_REPORTS_H
#define UTIL_CMD_SERVE_REPORTS_H

#include <limits.h>

#include "logfmt/base/err.h"
#include "util/cmd/serve/serve.h"

/* The latest log of a job, owned by the user. -ENOENT without one, -ETIMEDOUT beyond the request's time. */
int scribe_reports_find(const struct scribe_serve *serve, const struct scribe_serve_request *r, const char *job,
			char ret_path[PATH_MAX], struct scribe_err *err);
/* Hexadecimal digits; valid while this process runs. */
void scribe_reports_key(const char *job, int64_t uid, char ret_key[17]);
/* Runs ioscribe-report; ret_fd: the page, in memory. */
int scribe_reports_make(const char *log, int *ret_fd, struct scribe_err *err);

#endif
