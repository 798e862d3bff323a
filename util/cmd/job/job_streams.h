/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of a new job: one publisher process per sink, which outlives the command. */
#ifndef UTIL_CMD_JOB_JOB_STREAMS_H
#define UTIL_CMD_JOB_JOB_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "logfmt/base/err.h"

#define SCRIBE_JOB_STREAMS 8u

#define SCRIBE_JOB_STREAMS_GID ((gid_t)-1) /* use the passwd entry's group */

struct scribe_job_streams {
	const char *job_id;
	uid_t uid;
	gid_t gid;
	const char *sink[SCRIBE_JOB_STREAMS]; /* --stream; borrowed */
	unsigned n;
	bool refused;                 /* an invalid sink was reported; the job starts without it */
	bool is_again;                /* the job existed before */
	char hosts[1024], site[1024]; /* hosts that users may name; the site's sinks, separated by blanks */
	uid_t site_uid;               /* identity of the site's publishers; 0: none */
};

/* Adds a --stream. An invalid sink is reported as `self` and costs the stream, not the job's log. */
void scribe_job_streams_add(struct scribe_job_streams *s, const char *self, const char *sink);
void scribe_job_streams_parse_answer(struct scribe_job_streams *s, const char *text, size_t bytes);
/*
 * Does nothing if the job existed before. Waits for each publisher to subscribe, but not beyond the deadline
 * (scribe_msg_now_ms), after which it continues alone. Negative: some failed, reported as `self`.
 */
int scribe_job_streams_begin(const struct scribe_job_streams *s, const char *self, int64_t deadline);

#endif
