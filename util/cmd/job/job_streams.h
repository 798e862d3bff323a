/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of a job that is begun: a publisher for each, which goes on without the command. */
#ifndef UTIL_CMD_JOB_JOB_STREAMS_H
#define UTIL_CMD_JOB_JOB_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "logfmt/base/err.h"

#define SCRIBE_JOB_STREAMS 8u

#define SCRIBE_JOB_STREAMS_GID ((gid_t)-1) /* that of the user's entry */

/* Begins as zeros, but for gid. */
struct scribe_job_streams {
	/* of the job */
	const char *job_id;
	uid_t uid;
	gid_t gid;
	const char *sink[SCRIBE_JOB_STREAMS]; /* --stream; borrowed */
	unsigned n;
	bool refused; /* one was no sink: its line is printed, the job begins all the same */
	/* what the daemon has told */
	bool is_again; /* the job was there before */
	char hosts[1024], site[1024]; /* that users may name; sinks of the site, with blanks */
	uid_t site_uid;               /* who the publishers of those are; 0: none */
};

/* One more --stream. What is no sink costs the stream, not the job's log: a line as `self`'s. */
void scribe_job_streams_add(struct scribe_job_streams *s, const char *self, const char *sink);
/* The daemon's answer to JOB_BEGIN, lines key=value. */
void scribe_job_streams_told(struct scribe_job_streams *s, const char *text, size_t bytes);
/*
 * The job has begun: start a publisher for each sink, as its user and as the site's, unless it was there before.
 * Each is waited for until it has subscribed, none beyond the deadline (scribe_msg_now_ms), after which it goes on
 * by itself. 0; negative: some have not begun, and a line about each is printed as `self`'s.
 */
int scribe_job_streams_begin(const struct scribe_job_streams *s, const char *self, int64_t deadline);

#endif
