/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events of a job that wait, in their order: the first for the links of its name
 * (lookup/path_lookup.h), the others behind it. Other jobs' are not kept up.
 */
#ifndef RUNTIME_DAEMON_COLLECT_HELD_EVENTS_H
#define RUNTIME_DAEMON_COLLECT_HELD_EVENTS_H

#include "runtime/daemon/state/daemon.h"

#define SCRIBE_HELD_BYTES_MAX     (8u << 20)  /* of a job: some 30,000 files */
#define SCRIBE_HELD_BYTES_ALL_MAX (64u << 20) /* of all jobs */

struct scribe_held_event {
	struct scribe_held_event *next;
	uint64_t begin, end; /* in the event ring */
	struct scribe_event event;
	char text[];
};

/* Keep the event that is being taken. 0, or -ENOBUFS: there is no room. */
int scribe_held_put(struct scribe_job *job, const struct scribe_event *e, const char *text);
/* The first has been taken. */
void scribe_held_drop(struct scribe_job *job);
void scribe_held_clear(struct scribe_job *job);
/* As scribe_bpf_taken: how far the job's events have been taken. */
uint64_t scribe_held_taken(const struct scribe_job *job);
/* The same of all jobs of a user. */
uint64_t scribe_held_taken_of(const struct scribe_daemon *d, uid_t uid);

#endif
