/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A log opened for a tool: reader, names and mounts together.
 */
#ifndef UTIL_LOGS_LOGFILE_H
#define UTIL_LOGS_LOGFILE_H

#include "logfmt/file/names.h"
#include "logfmt/file/reader.h"

enum scribe_log_want { SCRIBE_LOG_NAMES = 1 << 0 };

struct scribe_log {
	const char *path;
	struct scribe_reader *reader;
	struct scribe_names *names;  /* never NULL once open */
	struct scribe_mount *mounts; /* longest path first: the first that fits a name is its mount */
	size_t nmounts;
};

/* 0, or the reader's code and message. Close also what failed to open. */
int scribe_log_open(struct scribe_log *log, const char *path, unsigned want, struct scribe_err *err);
void scribe_log_close(struct scribe_log *log);

#endif
