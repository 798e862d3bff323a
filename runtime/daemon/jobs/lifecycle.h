/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs, from beginning to end.
 */
#ifndef RUNTIME_DAEMON_JOBS_LIFECYCLE_H
#define RUNTIME_DAEMON_JOBS_LIFECYCLE_H

#include "runtime/daemon/state/daemon.h"

/*
 * Begin a job: its identity, place, kernel entry; the programs are attached (and
 * loaded, if that is still to be done) with the first. `config` is taken over (empty afterwards), also on
 * failure; `spec` may be NULL. The job is the daemon's; it ends by itself some
 * time after scribe_job_end.
 */
int scribe_job_begin(struct scribe_daemon *d, struct scribe_config *config,
		      const struct scribe_job_spec *spec, struct scribe_job **ret_job,
		      struct scribe_err *err);
/*
 * A job by the scheduler's number, as this user may name it: root names every job,
 * first those that root has begun; a user the jobs of the user, first those begun by
 * the user. NULL none.
 */
struct scribe_job *scribe_job_by_id(struct scribe_daemon *d, const char *id, uid_t uid);
/* Trace this process and its descendants as part of the job. */
int scribe_job_enrol(struct scribe_job *job, pid_t pid, uint32_t *ret_serial, struct scribe_err *err);
/* Its log is written when its last process has ended, at the latest in exit_grace_ms (UINT32_MAX: no limit). */
void scribe_job_end(struct scribe_job *job, uint32_t exit_grace_ms);
/* Write the logs of what has ended, report, forget jobs of which nothing is left. */
void scribe_jobs_tick(struct scribe_daemon *d);
/* Are the jobs left to the next daemon, which is to go on with them? */
bool scribe_jobs_left(const struct scribe_daemon *d);
void scribe_job_free(struct scribe_job *job);

#endif
