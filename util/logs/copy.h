/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What convert and merge share: carrying a log's parts into a new one.
 */
#ifndef UTIL_LOGS_COPY_H
#define UTIL_LOGS_COPY_H

#include <stdbool.h>

#include "logfmt/file/reader.h"
#include "logfmt/file/writer.h"

/*
 * The job record for a log of format 3.41. Older formats have a run time of
 * whole seconds plus one: that second goes into the end's nanoseconds.
 */
struct scribe_log_job scribe_copy_job(const struct scribe_reader *r);

/* Do its traces name threads? */
bool scribe_copy_has_threads(const struct scribe_reader *r);

/* `rc` of a call on the writer, with the writer's message when it failed. */
int scribe_copy_check(const struct scribe_writer *w, int rc, struct scribe_err *err);

/*
 * The log to be written at `path`. With `replace` a regular file that is there
 * stays until scribe_output_finish has the new one whole; without, and for
 * anything else that is there, -EEXIST. Under Darshan's names (`as_stock`) a
 * file that the user may write is replaced, as by those tools.
 */
struct scribe_output {
	const char *path;
	char *partial; /* NULL: written at path itself */
	struct scribe_writer *writer;
};

int scribe_output_create(struct scribe_output *o, const char *path, bool replace, bool as_stock,
			 const struct scribe_writer_options *options, struct scribe_err *err);
int scribe_output_finish(struct scribe_output *o, struct scribe_err *err);
/* What is not finished is removed. A zeroed one is allowed. */
void scribe_output_free(struct scribe_output *o);

/* Carry over the bytes of a module that the library does not know. */
int scribe_copy_unknown(struct scribe_reader *r, struct scribe_writer *w, int module, struct scribe_err *err);
/* Makes ready to write records of a module of which only the log itself (single-region layout) tells. */
int scribe_copy_described(struct scribe_reader *r, struct scribe_writer *w, int module, struct scribe_err *err);

#endif
