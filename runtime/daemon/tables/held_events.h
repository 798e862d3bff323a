/* SPDX-License-Identifier: BSD-3-Clause */
/* Held events of a job; the first waits for the links of its name. Other jobs continue. */
#ifndef RUNTIME_DAEMON_TABLES_HELD_EVENTS_H
#define RUNTIME_DAEMON_TABLES_HELD_EVENTS_H

#include "runtime/daemon/state/daemon.h"

#define SCRIBE_HELD_BYTES_MAX     (8u << 20)  /* per job: some 30,000 files */
#define SCRIBE_HELD_BYTES_ALL_MAX (64u << 20) /* for all jobs */

struct scribe_held_event {
	struct scribe_held_event *next;
	uint64_t begin, end; /* in the event ring */
	struct scribe_event event;
	char text[];
};

/* -ENOBUFS: full. */
int scribe_held_put(struct scribe_job *job, const struct scribe_event *e, const char *text);
/* From the journal of an earlier daemon, in order. -ENOBUFS. */
int scribe_held_restore(struct scribe_job *job, uint64_t begin, uint64_t end, const struct scribe_event *e,
			const char *text);
void scribe_held_drop(struct scribe_job *job);
void scribe_held_clear(struct scribe_job *job);
/* Position in the event ring before which all is processed. */
uint64_t scribe_held_taken(const struct scribe_job *job);
/* The same for all jobs of a user. */
uint64_t scribe_held_taken_of(const struct scribe_daemon *d, uid_t uid);

#endif
