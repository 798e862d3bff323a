/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The conversation with `ioscribe trace`: a window on a job that runs, for the one who asks.
 */
#ifndef RUNTIME_DAEMON_CONTROL_TRACE_SESSION_H
#define RUNTIME_DAEMON_CONTROL_TRACE_SESSION_H

#include "runtime/daemon/state/daemon.h"

/* The length of a window as a request has it. */
int scribe_trace_session_time(const char *text, uint32_t *ret_ms, struct scribe_err *err);
/* The peer may ask about the job. */
int scribe_trace_session_open(struct scribe_daemon *d, struct scribe_client *c, struct scribe_job *job, uint32_t ms,
			      struct scribe_err *err);
int scribe_trace_session_stop(struct scribe_client *c, struct scribe_job *job, struct scribe_err *err);
/* Forget what it was handed: it keeps that. */
void scribe_trace_session_clear(struct scribe_client *c);
/* Nobody is there any more who waits for its window, or may keep its log. */
void scribe_trace_session_lost(struct scribe_daemon *d, struct scribe_client *c);
/* The job's windows that are over go to who asked for them. */
void scribe_trace_session_answer(struct scribe_job *job);
void scribe_trace_session_tick(struct scribe_daemon *d);

#endif
