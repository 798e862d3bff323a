/* SPDX-License-Identifier: BSD-3-Clause */
/* Life of jobs. */
#ifndef RUNTIME_DAEMON_JOBS_LIFECYCLE_H
#define RUNTIME_DAEMON_JOBS_LIFECYCLE_H

#include "runtime/daemon/state/daemon.h"

/*
 * Loads and attaches the programs, if needed. `config` is consumed, also on failure; `spec` may be NULL. The
 * daemon owns the job and frees it some time after scribe_job_end.
 */
int scribe_job_begin(struct scribe_daemon *d, struct scribe_config *config, const struct scribe_job_spec *spec,
		     struct scribe_job **ret_job, struct scribe_err *err);
/* By the scheduler's number: of this user, or for root of all, preferably those begun by root. NULL: none. */
struct scribe_job *scribe_job_by_id(struct scribe_daemon *d, const char *id, uid_t uid);
/* Traces this process and its descendants. */
int scribe_job_enrol(struct scribe_job *job, pid_t pid, uint32_t *ret_serial, struct scribe_err *err);
/* The log is written after the last process, or after exit_grace_ms (UINT32_MAX: no limit). */
void scribe_job_end(struct scribe_job *job, uint32_t exit_grace_ms);
void scribe_jobs_tick(struct scribe_daemon *d);
bool scribe_jobs_left(const struct scribe_daemon *d);
void scribe_job_free(struct scribe_job *job);

#endif
