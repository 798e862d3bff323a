/* SPDX-License-Identifier: BSD-3-Clause */
/* Subscriptions to a job's operations: JOB_PUBLISH (logfmt/base/proto.h). */
#ifndef RUNTIME_DAEMON_CONTROL_PUBLISH_SESSION_H
#define RUNTIME_DAEMON_CONTROL_PUBLISH_SESSION_H

#include "runtime/daemon/state/daemon.h"

/* The peer, who may, subscribes to `w`: it is sent the ring. Negative with a line in err: it is refused. */
int scribe_publish_session_open(struct scribe_daemon *d, struct scribe_client *c, struct scribe_job *job,
				struct scribe_err *err);
/* It has read so much. */
int scribe_publish_session_taken(struct scribe_daemon *d, struct scribe_client *c,
				 const struct scribe_msg_publish_taken *m);
/* Its connection ends, and the subscription with it. */
void scribe_publish_session_lost(struct scribe_daemon *d, struct scribe_client *c);

#endif
