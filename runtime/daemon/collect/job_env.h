/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Settings that a user gives to a scheduler's job by the environment of its
 * programs: DARSHAN_NAME and IOSCRIBE_KEY. The first process of the job that
 * brings any decides, for the whole job. Fed in pieces, as they come.
 */
#ifndef RUNTIME_DAEMON_COLLECT_JOB_ENV_H
#define RUNTIME_DAEMON_COLLECT_JOB_ENV_H

#include <stdbool.h>
#include <stddef.h>

#define SCRIBE_JOBENV_MAX 16384u

struct scribe_job;

struct scribe_jobenv {
	char text[SCRIBE_JOBENV_MAX]; /* lines NAME=value */
	size_t bytes;                 /* of whole lines */
	size_t at;                    /* behind what there is of the string being read */
	bool skipping;                /* the string being read is none of ours, or does not fit */
};

/* Strings "NAME=value", each ending in NUL, cut anywhere. */
void scribe_jobenv_feed(struct scribe_jobenv *e, const char *text, size_t bytes);
/* Is there anything in it that would set a key? */
bool scribe_jobenv_is_set(const struct scribe_jobenv *e);
/*
 * Take lines as the user's word for the job: only keys that a user may set and that
 * can change while a job runs; what is malformed is as not said. IOSCRIBE_* wins over
 * DARSHAN_*, and both over what the job was begun with.
 */
void scribe_jobenv_apply(struct scribe_job *job, const char *lines, size_t bytes);

#endif
