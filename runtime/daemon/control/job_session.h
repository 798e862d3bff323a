/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The conversation with `ioscribe job`.
 */
#ifndef RUNTIME_DAEMON_CONTROL_JOB_SESSION_H
#define RUNTIME_DAEMON_CONTROL_JOB_SESSION_H

#include "runtime/daemon/state/daemon.h"

/* A checked message of `ioscribe job`; negative: disconnect. */
int scribe_jobs_message(struct scribe_daemon *d, struct scribe_client *c, const struct scribe_msg_header *h);
/* Begin the job of an earlier daemon again, in its place, by the request that it was begun by. */
int scribe_jobs_resume(struct scribe_daemon *d, const struct scribe_client *as, uint32_t index,
		       const char *text, size_t bytes, struct scribe_job **ret_job, struct scribe_err *err);

#endif
