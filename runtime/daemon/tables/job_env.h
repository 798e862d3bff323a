/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings for a scheduler's job in its programs' environment: DARSHAN_NAME and IOSCRIBE_KEY. Read in parts. */
#ifndef RUNTIME_DAEMON_TABLES_JOB_ENV_H
#define RUNTIME_DAEMON_TABLES_JOB_ENV_H

#include <stdbool.h>
#include <stddef.h>

#define SCRIBE_JOBENV_MAX 16384u

struct scribe_job;

struct scribe_jobenv {
	char text[SCRIBE_JOBENV_MAX]; /* lines NAME=value */
	size_t bytes;                 /* end of complete lines */
	size_t at;                    /* end of the current one */
	bool skipping;                /* ignore the current string */
};

/* NAME=value with NUL, cut anywhere. */
void scribe_jobenv_feed(struct scribe_jobenv *e, const char *text, size_t bytes);
bool scribe_jobenv_is_set(const struct scribe_jobenv *e);
/*
 * Applies keys that users may set and that can change in a running job; ignores errors. IOSCRIBE_* overrides
 * DARSHAN_*, both override the job's options.
 */
void scribe_jobenv_apply(struct scribe_job *job, const char *lines, size_t bytes);

#endif
