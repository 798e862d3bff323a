/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From records to a log.
 */
#ifndef RUNTIME_DAEMON_OUTPUT_LOG_COMMIT_H
#define RUNTIME_DAEMON_OUTPUT_LOG_COMMIT_H

#include "runtime/daemon/output/log_build.h"
#include "runtime/daemon/state/daemon.h"

/* An image of a rank's fetched records: a sealed memfd, or negative. */
int scribe_commit_image(struct scribe_job *job, struct scribe_log_unit *u, struct scribe_rank *r,
			uint64_t *ret_bytes, uint64_t *ret_partial, struct scribe_err *err);
/* Have all ranks of the world, all of them here, agreed that their log is complete? */
bool scribe_commit_agreed(const struct scribe_log_unit *u);
/* What a log needs of what only the daemon itself can ask for or change; the rest may be done in a copy of it. */
struct scribe_commit_plan {
	struct scribe_log_account account;
	char part[SCRIBE_JOB_METADATA_BYTES]; /* what it is a part of, for its metadata */
};

int scribe_commit_plan(struct scribe_job *job, struct scribe_log_unit *u, struct scribe_commit_plan *plan,
		       struct scribe_err *err);
/*
 * The unit's whole log into `fd` (a memory file), with what `theirs`, a copy of the ranks' own log,
 * holds (-1 none), and into m what it holds. Uses up the unit's records.
 */
int scribe_commit_build(struct scribe_job *job, struct scribe_log_unit *u, const struct scribe_commit_plan *plan,
			int theirs, int fd, struct scribe_msg_log *m, struct scribe_err *err);
/* Where a log that has been built belongs, into m; under which name it is written first (SCRIBE_PATH_MAX bytes). */
int scribe_commit_place(struct scribe_job *job, struct scribe_log_unit *u, char *ret_partial,
			struct scribe_msg_log *m, struct scribe_err *err);
/* Records that the unit's ranks were handed at MPI_Finalize, into `fd`; 1: there are none. */
int scribe_commit_build_first(struct scribe_job *job, struct scribe_log_unit *u, const struct scribe_commit_plan *plan,
			      int fd, struct scribe_err *err);
/* Its records are in its log: they are given back. */
void scribe_commit_forget(struct scribe_job *job, struct scribe_log_unit *u);
/* Bits of partial_flag that the job's ledger asks for. */
uint64_t scribe_commit_partial(struct scribe_job *job, struct scribe_ledger *ret_ledger);

struct scribe_window; /* collect/segment_windows.h */
void scribe_commit_plan_window(struct scribe_job *job, const struct scribe_window *x, struct scribe_commit_plan *plan);
/* The log of a closed window, uncompressed, into `fd`. */
int scribe_commit_window(struct scribe_job *job, const struct scribe_window *x, const struct scribe_commit_plan *plan,
			 int fd, struct scribe_err *err);

#endif
