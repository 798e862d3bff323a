/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_TOOL_OUTPUT_FILE_H
#define UTIL_TOOL_OUTPUT_FILE_H

#include "logfmt/base/err.h"

struct scribe_output_file {
	int fd; /* -1: closed */
	char *path;
	char *partial;
};

/* Creates the temporary file. 0 or negative with a message. */
int scribe_output_file_open(struct scribe_output_file *f, const char *path, struct scribe_err *err);
int scribe_output_file_written(struct scribe_output_file *f, struct scribe_err *err);
int scribe_output_file_end(struct scribe_output_file *f, int drop, struct scribe_err *err);

#endif
