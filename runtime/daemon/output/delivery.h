/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A log on its way from a unit that is over to a file: of log_deliver.c, which fetches and builds it, and
 * log_put.c, which has it written.
 */
#ifndef RUNTIME_DAEMON_OUTPUT_DELIVERY_H
#define RUNTIME_DAEMON_OUTPUT_DELIVERY_H

#include <stdint.h>

#include "runtime/daemon/privsep/snapshot.h"
#include "runtime/daemon/state/daemon.h"

/* Deliveries that are not reported have no entry in the job's list of logs. */
#define NO_MESSAGE SIZE_MAX

/*
 * In this order, with some left out: FETCH if the ranks wrote a log; DAYS where directories are
 * root's; one of PUT, ELSEWHERE and SPOOL; MERGE at a job's end on several nodes.
 */
enum scribe_delivery_stage {
	STAGE_FETCH,
	STAGE_CHECK,
	STAGE_BUILD,
	STAGE_DAYS,
	STAGE_PUT,
	STAGE_ELSEWHERE,
	STAGE_SPOOL,
	STAGE_MERGE
};

enum scribe_delivery_what {
	WHAT_LOG,   /* of a unit, or this node's part of it */
	WHAT_FIRST, /* beside a part: what its ranks had been handed */
	WHAT_BEGUN, /* notes to the job's other nodes */
	WHAT_DONE,
};

struct scribe_delivery {
	struct scribe_log_unit *unit; /* NULL: a note */
	size_t m;
	enum scribe_delivery_what what;
	enum scribe_delivery_stage stage;
	bool asked;
	bool new_helper; /* the first one has died */
	unsigned retries;
	uint64_t retry_ns;           /* not before */
	bool part_days;              /* those above the part are made: next, those above the log made of it */
	int theirs;                  /* copy of the ranks' log; -1 none */
	int log;                     /* the finished log; -1 not yet */
	struct scribe_snapshot copy; /* of the daemon, which builds the log */
	struct scribe_helper root;   /* makes the directories that are not the user's */
	char partial[SCRIBE_PATH_MAX]; /* where it is written first */
	char wanted[SCRIBE_PATH_MAX];  /* its place */
	struct scribe_err err;         /* of its place */
	struct scribe_delivery *next;
};

/* NULL: nobody is told of it. */
static inline struct scribe_msg_log *scribe_delivery_message(struct scribe_job *job,
							     const struct scribe_delivery *v)
{
	return v->m == NO_MESSAGE ? NULL : &job->log[v->m];
}

/* The log is written, or there is none. */
void scribe_delivery_finished(struct scribe_job *job, struct scribe_delivery *v);
/* The same, with v->err as the reason why there is none. */
void scribe_delivery_failed(struct scribe_job *job, struct scribe_delivery *v);

#endif
