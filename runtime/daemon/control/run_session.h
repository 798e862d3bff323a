/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The conversation with `ioscribe run`.
 */
#ifndef RUNTIME_DAEMON_CONTROL_RUN_SESSION_H
#define RUNTIME_DAEMON_CONTROL_RUN_SESSION_H

#include "runtime/daemon/state/daemon.h"

/* A checked message of `ioscribe run`; negative: disconnect. */
int scribe_runlink_message(struct scribe_daemon *d, struct scribe_client *c,
			   const struct scribe_msg_header *h);
/* What a job of this peer begins with: the service's configuration, locked unless the peer is root. */
int scribe_client_config(struct scribe_daemon *d, const struct scribe_client *c, struct scribe_config *config,
			 struct scribe_err *err);
/* Keys that this client set by their old names: a line in the service's log. */
void scribe_client_old_keys(const struct scribe_daemon *d, const struct scribe_client *c,
			    const struct scribe_config *config);
/* May this peer begin one more job? Users may begin so many each, and not all that there may be. */
int scribe_client_may_begin(const struct scribe_daemon *d, const struct scribe_client *c,
			    struct scribe_err *err);
/* Whatever a user has said: the job is of the peer's user, and within the service's limits. */
void scribe_client_limit(struct scribe_daemon *d, const struct scribe_client *c,
			 struct scribe_config *config);
/* What the process needs that this client wants to enrol is known, or nobody tells. */
void scribe_runlink_go_on(struct scribe_daemon *d, uint64_t client);
/* Its connection is gone: the job goes on by itself. */
void scribe_runlink_lost(struct scribe_daemon *d, struct scribe_client *c);
/* Jobs whose `ioscribe run` does not come back, for it is gone too; those that wait for a large log hear of it. */
void scribe_runlink_sweep(struct scribe_daemon *d);
/* Begin the job of an earlier daemon again, in its place, by the lines that it was begun by. */
int scribe_runlink_resume(struct scribe_daemon *d, const struct scribe_client *as, uint32_t index,
			  const char *text, size_t bytes, struct scribe_job **ret_job,
			  struct scribe_err *err);
/* Tell all who have asked for it what logs the job has written. */
void scribe_runlink_report(struct scribe_job *job);

#endif
