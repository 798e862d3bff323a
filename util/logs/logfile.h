/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_LOGS_LOGFILE_H
#define UTIL_LOGS_LOGFILE_H

#include "logfmt/file/names.h"
#include "logfmt/file/reader.h"

enum scribe_log_want { SCRIBE_LOG_NAMES = 1 << 0 };

struct scribe_log {
	const char *path;
	struct scribe_reader *reader;
	struct scribe_names *names;
	struct scribe_mount *mounts; /* longest path first: the first match is a name's mount */
	size_t nmounts;
};

/* Needs close, also after a failure. */
int scribe_log_open(struct scribe_log *log, const char *path, unsigned want, struct scribe_err *err);
void scribe_log_close(struct scribe_log *log);

#endif
