/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_LOOKUP_JOB_HELPER_H
#define RUNTIME_DAEMON_LOOKUP_JOB_HELPER_H

#include "runtime/daemon/state/daemon.h"

int scribe_job_start_helper(const struct scribe_job *job, struct scribe_helper *ret_helper, struct scribe_err *err);
/* For directories and logs, below the root directory of the job's `ioscribe run`. */
int scribe_job_start_writer(const struct scribe_job *job, struct scribe_helper *ret_helper, struct scribe_err *err);
/* Starts the job's own writer when first needed. */
int scribe_job_helper(struct scribe_job *job, struct scribe_err *err);
/* Replaces a writer that does not answer. */
int scribe_job_new_helper(struct scribe_job *job, struct scribe_err *err);

#endif
