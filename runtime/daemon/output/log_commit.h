/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_OUTPUT_LOG_COMMIT_H
#define RUNTIME_DAEMON_OUTPUT_LOG_COMMIT_H

#include "runtime/daemon/output/log_build.h"
#include "runtime/daemon/state/daemon.h"

/* A rank's fetched records as a sealed memfd, or negative. */
int scribe_commit_image(struct scribe_job *job, struct scribe_log_unit *u, struct scribe_rank *r, uint64_t *ret_bytes,
			uint64_t *ret_partial, struct scribe_err *err);
/* All ranks are on this node and have confirmed that their log is complete. */
bool scribe_commit_agreed(const struct scribe_log_unit *u);
/* Data that only the daemon itself, not a snapshot, can read. */
struct scribe_commit_plan {
	struct scribe_log_account account;
	char part[SCRIBE_JOB_METADATA_BYTES]; /* of a part: lines for its metadata */
};

int scribe_commit_plan(struct scribe_job *job, struct scribe_log_unit *u, struct scribe_commit_plan *plan,
		       struct scribe_err *err);
/*
 * Writes the log to `fd` (a memory file) and its description to m. `theirs`: copy of the ranks' own log, -1 none.
 * Consumes the unit's records.
 */
int scribe_commit_build(struct scribe_job *job, struct scribe_log_unit *u, const struct scribe_commit_plan *plan,
			int theirs, int fd, struct scribe_msg_log *m, struct scribe_err *err);
/* The final path, into m, and the temporary one (SCRIBE_PATH_MAX bytes). */
int scribe_commit_place(struct scribe_job *job, struct scribe_log_unit *u, char *ret_partial, struct scribe_msg_log *m,
			struct scribe_err *err);
/* Records fetched at MPI_Finalize; 1: none. */
int scribe_commit_build_first(struct scribe_job *job, struct scribe_log_unit *u, const struct scribe_commit_plan *plan,
			      int fd, struct scribe_err *err);
void scribe_commit_forget(struct scribe_job *job, struct scribe_log_unit *u);
/* Bits of partial_flag that follow from the job's ledger. */
uint64_t scribe_commit_partial(struct scribe_job *job, struct scribe_ledger *ret_ledger);

struct scribe_window;
void scribe_commit_plan_window(struct scribe_job *job, const struct scribe_window *x, struct scribe_commit_plan *plan);
/* The log of a closed window, uncompressed, into `fd`. */
int scribe_commit_window(struct scribe_job *job, const struct scribe_window *x, const struct scribe_commit_plan *plan,
			 int fd, struct scribe_err *err);

#endif
