/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bringing finished logs to their places, without ever waiting for a file
 * system: each is complete in memory first, then a helper puts it under its name
 * while the daemon goes on. Where that fails or takes too long, it goes to the
 * fallback: the spool, from which it is moved later, or /tmp.
 */
#ifndef RUNTIME_DAEMON_OUTPUT_LOG_DELIVER_H
#define RUNTIME_DAEMON_OUTPUT_LOG_DELIVER_H

#include <stdbool.h>
#include <stddef.h>

struct scribe_job;
struct scribe_log_unit;

/* The log of this unit is due; m is the index of its message in job->log. Never fails: what goes wrong
 * stands in the message. */
void scribe_deliver_unit(struct scribe_job *job, struct scribe_log_unit *u, size_t m);
/* Tell the job's other nodes that there is something of it here. */
void scribe_deliver_begun(struct scribe_job *job);
/* … and that all of it is delivered; whoever is the last makes the logs. */
void scribe_deliver_done(struct scribe_job *job);
/* Go on with what is under way. */
void scribe_deliver_tick(struct scribe_job *job);
/* Is anything under way? */
bool scribe_deliver_busy(const struct scribe_job *job);
/* Is a log being built, which takes as long as there are records? Its process has a limit of its own. */
bool scribe_deliver_building(const struct scribe_job *job);
/* Forget what is under way (the job is freed). */
void scribe_deliver_clear(struct scribe_job *job);

#endif
