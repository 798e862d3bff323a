/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When the log of a unit is due.
 */
#ifndef RUNTIME_DAEMON_OUTPUT_LOG_FINALIZE_H
#define RUNTIME_DAEMON_OUTPUT_LOG_FINALIZE_H

#include "runtime/daemon/state/daemon.h"

/* Let the log of every unit of the job that is over be written; `all`: of every unit. */
void scribe_commit_due(struct scribe_job *job, bool all);
/* An earlier daemon has written the unit's log (`m`; NULL: there was none to write). */
void scribe_commit_resumed(struct scribe_job *job, uint32_t unit, const struct scribe_msg_log *m);

#endif
