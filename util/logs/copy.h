/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of logs. */
#ifndef UTIL_LOGS_COPY_H
#define UTIL_LOGS_COPY_H

#include <stdbool.h>

#include "logfmt/file/reader.h"
#include "logfmt/file/writer.h"

/* For format 3.41. Older formats add a second to the run time: it goes into the end's nanoseconds. */
struct scribe_log_job scribe_copy_job(const struct scribe_reader *r);

bool scribe_copy_has_threads(const struct scribe_reader *r);

/* Returns rc; copies the writer's error when it is negative. */
int scribe_copy_check(const struct scribe_writer *w, int rc, struct scribe_err *err);

/*
 * `replace`: scribe_output_finish replaces a regular file; otherwise -EEXIST. `as_stock`: any writable file, as by
 * Darshan's tools.
 */
struct scribe_output {
	const char *path;
	char *partial; /* temporary name; NULL: written to path directly */
	struct scribe_writer *writer;
};

int scribe_output_create(struct scribe_output *o, const char *path, bool replace, bool as_stock,
			 const struct scribe_writer_options *options, struct scribe_err *err);
int scribe_output_finish(struct scribe_output *o, struct scribe_err *err);
/* Removes an unfinished output. Accepts a zeroed struct. */
void scribe_output_free(struct scribe_output *o);

int scribe_copy_unknown(struct scribe_reader *r, struct scribe_writer *w, int module, struct scribe_err *err);
/* Prepares writing records of a module that only the log describes (single-region layout). */
int scribe_copy_described(struct scribe_reader *r, struct scribe_writer *w, int module, struct scribe_err *err);

#endif
