/* SPDX-License-Identifier: BSD-3-Clause */
/* One log between the end of its unit and its file; state shared by log_deliver.c and log_put.c. */
#ifndef RUNTIME_DAEMON_OUTPUT_DELIVERY_H
#define RUNTIME_DAEMON_OUTPUT_DELIVERY_H

#include <stdint.h>

#include "runtime/daemon/privsep/snapshot.h"
#include "runtime/daemon/state/daemon.h"

#define NO_MESSAGE SIZE_MAX

/* In this order; some are skipped. PUT, ELSEWHERE and SPOOL are alternatives. */
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
	WHAT_FIRST, /* records of a part fetched at MPI_Finalize */
	WHAT_BEGUN, /* notes to the job's other nodes */
	WHAT_DONE,
};

struct scribe_delivery {
	struct scribe_log_unit *unit; /* NULL: a note */
	size_t m;
	enum scribe_delivery_what what;
	enum scribe_delivery_stage stage;
	bool asked;
	bool new_helper; /* the first one died */
	unsigned retries;
	uint64_t retry_ns;             /* not before */
	bool part_days;                /* next, the date directories of the merged log */
	int theirs;                    /* copy of the ranks' log; or -1 */
	int log;                       /* finished log; or -1 */
	struct scribe_snapshot copy;   /* builds the log */
	struct scribe_helper root;     /* for root's directories */
	char partial[SCRIBE_PATH_MAX]; /* temporary path */
	char wanted[SCRIBE_PATH_MAX];  /* final path */
	struct scribe_err err;
	struct scribe_delivery *next;
};

/* NULL: not reported. */
static inline struct scribe_msg_log *scribe_delivery_message(struct scribe_job *job, const struct scribe_delivery *v)
{
	return v->m == NO_MESSAGE ? NULL : &job->log[v->m];
}

/* The log is written, or not needed. Frees v. */
void scribe_delivery_finished(struct scribe_job *job, struct scribe_delivery *v);
/* The same after an error (v->err). */
void scribe_delivery_failed(struct scribe_job *job, struct scribe_delivery *v);

#endif
