/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Helpers with the identity of a job's user.
 */
#ifndef RUNTIME_DAEMON_LOOKUP_JOB_HELPER_H
#define RUNTIME_DAEMON_LOOKUP_JOB_HELPER_H

#include "runtime/daemon/state/daemon.h"

/* One more. 0, or negative with a line in err. */
int scribe_job_start_helper(const struct scribe_job *job, struct scribe_helper *ret_helper, struct scribe_err *err);
/* One that makes directories and logs: where `ioscribe run` has begun the job, its paths lead where that one's do. */
int scribe_job_start_writer(const struct scribe_job *job, struct scribe_helper *ret_helper, struct scribe_err *err);
/* The one that writes, started when first needed. */
int scribe_job_helper(struct scribe_job *job, struct scribe_err *err);
/* Another one, for the first does not answer any more. */
int scribe_job_new_helper(struct scribe_job *job, struct scribe_err *err);

#endif
