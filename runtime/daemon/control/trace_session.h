/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_CONTROL_TRACE_SESSION_H
#define RUNTIME_DAEMON_CONTROL_TRACE_SESSION_H

#include "runtime/daemon/state/daemon.h"

int scribe_trace_session_time(const char *text, uint32_t *ret_ms, struct scribe_err *err);
/* For an authorised peer. */
int scribe_trace_session_open(struct scribe_daemon *d, struct scribe_client *c, struct scribe_job *job, uint32_t ms,
			      struct scribe_err *err);
int scribe_trace_session_stop(struct scribe_client *c, struct scribe_job *job, struct scribe_err *err);
/* Frees the log that is being sent. */
void scribe_trace_session_clear(struct scribe_client *c);
void scribe_trace_session_lost(struct scribe_daemon *d, struct scribe_client *c);
/* Starts building the logs of closed windows. */
void scribe_trace_session_answer(struct scribe_job *job);
void scribe_trace_session_tick(struct scribe_daemon *d);

#endif
