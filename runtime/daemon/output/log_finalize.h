/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_OUTPUT_LOG_FINALIZE_H
#define RUNTIME_DAEMON_OUTPUT_LOG_FINALIZE_H

#include "runtime/daemon/state/daemon.h"

/* For every unit that is over; `all`: for every unit. */
void scribe_commit_due(struct scribe_job *job, bool all);
/* The unit's log was delivered by an earlier daemon (`m`; NULL: no log was needed). */
void scribe_commit_resumed(struct scribe_job *job, uint32_t unit, const struct scribe_msg_log *m);

#endif
