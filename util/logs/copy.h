/* SPDX-License-Identifier: BSD-3-Clause */
/* Copying parts of a log into a new one, for convert, merge and trace. */
#ifndef UTIL_LOGS_COPY_H
#define UTIL_LOGS_COPY_H

#include <stdbool.h>

#include "logfmt/file/reader.h"
#include "logfmt/file/writer.h"

/* The job record for format 3.41. Older formats add a second to the run time: it goes into the end's nanoseconds. */
struct scribe_log_job scribe_copy_job(const struct scribe_reader *r);

/* Do the traces have thread ids? */
bool scribe_copy_has_threads(const struct scribe_reader *r);

/* Returns rc; copies the writer's error when it is negative. */
int scribe_copy_check(const struct scribe_writer *w, int rc, struct scribe_err *err);

/*
 * The log to be written. `replace`: an existing regular file is replaced by scribe_output_finish; otherwise -EEXIST.
 * `as_stock`: a writable file is replaced, as by Darshan's tools.
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

/* Copies the bytes of an unknown module. */
int scribe_copy_unknown(struct scribe_reader *r, struct scribe_writer *w, int module, struct scribe_err *err);
/* Prepares writing records of a module that only the log describes (single-region layout). */
int scribe_copy_described(struct scribe_reader *r, struct scribe_writer *w, int module, struct scribe_err *err);

#endif
