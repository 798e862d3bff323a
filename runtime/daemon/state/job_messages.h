/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is told of a job's logs.
 */
#ifndef RUNTIME_DAEMON_STATE_JOB_MESSAGES_H
#define RUNTIME_DAEMON_STATE_JOB_MESSAGES_H

#include "runtime/daemon/state/job.h"

/* One more message about a log, empty; NULL: no memory. */
struct scribe_msg_log *scribe_commit_message(struct scribe_job *job);

#endif
