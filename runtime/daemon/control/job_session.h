/* SPDX-License-Identifier: BSD-3-Clause */
/* Session with `ioscribe job`. */
#ifndef RUNTIME_DAEMON_CONTROL_JOB_SESSION_H
#define RUNTIME_DAEMON_CONTROL_JOB_SESSION_H

#include "runtime/daemon/state/daemon.h"

/* Negative: close the connection. */
int scribe_jobs_message(struct scribe_daemon *d, struct scribe_client *c, const struct scribe_msg_header *h);
/* From the request in the journal of an earlier daemon. */
int scribe_jobs_resume(struct scribe_daemon *d, const struct scribe_client *as, uint32_t index, const char *text,
		       size_t bytes, struct scribe_job **ret_job, struct scribe_err *err);

#endif
