/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of exports, whole or not at all: written beside their place, put there
 * when all of them are complete.
 */
#ifndef UTIL_CMD_EXPORT_EXPORT_FILE_H
#define UTIL_CMD_EXPORT_EXPORT_FILE_H

#include "logfmt/base/err.h"

struct scribe_export_file {
	int fd; /* -1: closed */
	char *path;
	char *partial; /* NULL: written in place, for it is no regular file */
};

/* Begin a file at `path`. 0 or negative with a message. */
int scribe_export_file_open(struct scribe_export_file *f, const char *path, struct scribe_err *err);
/* It is complete so far as its bytes go. */
int scribe_export_file_written(struct scribe_export_file *f, struct scribe_err *err);
/* Put it to its place; with `drop` nothing of it is left. Either way it is freed. */
int scribe_export_file_end(struct scribe_export_file *f, int drop, struct scribe_err *err);

#endif
