/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_STATE_JOB_MESSAGES_H
#define RUNTIME_DAEMON_STATE_JOB_MESSAGES_H

#include "runtime/daemon/state/job.h"

/* Appends an empty entry, valid until the next call. NULL: out of memory. */
struct scribe_msg_log *scribe_commit_message(struct scribe_job *job);

#endif
