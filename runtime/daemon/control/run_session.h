/* SPDX-License-Identifier: BSD-3-Clause */
/* Session with `ioscribe run`. */
#ifndef RUNTIME_DAEMON_CONTROL_RUN_SESSION_H
#define RUNTIME_DAEMON_CONTROL_RUN_SESSION_H

#include "runtime/daemon/state/daemon.h"

/* Negative: close the connection. */
int scribe_runlink_message(struct scribe_daemon *d, struct scribe_client *c, const struct scribe_msg_header *h);
/* From the service's, locked unless the peer is root. */
int scribe_client_config(struct scribe_daemon *d, const struct scribe_client *c, struct scribe_config *config,
			 struct scribe_err *err);
/* Logs the use of old names. */
void scribe_client_old_keys(const struct scribe_daemon *d, const struct scribe_client *c,
			    const struct scribe_config *config);
/* Quota of jobs. */
int scribe_client_may_begin(const struct scribe_daemon *d, const struct scribe_client *c, struct scribe_err *err);
/* In a locked configuration: the peer's ids, the service's limits. */
void scribe_client_limit(struct scribe_daemon *d, const struct scribe_client *c, struct scribe_config *config);
/* Continues ENROL: the search for libraries has ended. */
void scribe_runlink_go_on(struct scribe_daemon *d, uint64_t client);
void scribe_runlink_lost(struct scribe_daemon *d, struct scribe_client *c);
/* Also ends jobs of which `ioscribe run` has exited without END. */
void scribe_runlink_sweep(struct scribe_daemon *d);
/* From the options in the journal of an earlier daemon. */
int scribe_runlink_resume(struct scribe_daemon *d, const struct scribe_client *as, uint32_t index, const char *text,
			  size_t bytes, struct scribe_job **ret_job, struct scribe_err *err);
/* To all connections that wait for the job's end. */
void scribe_runlink_report(struct scribe_job *job);

#endif
