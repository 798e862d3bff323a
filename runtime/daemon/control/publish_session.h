/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_CONTROL_PUBLISH_SESSION_H
#define RUNTIME_DAEMON_CONTROL_PUBLISH_SESSION_H

#include "runtime/daemon/state/daemon.h"

/* For an authorised peer: sends the ring. Negative: refused. */
int scribe_publish_session_open(struct scribe_daemon *d, struct scribe_client *c, struct scribe_job *job,
				struct scribe_err *err);
int scribe_publish_session_taken(struct scribe_daemon *d, struct scribe_client *c,
				 const struct scribe_msg_publish_taken *m);
void scribe_publish_session_lost(struct scribe_daemon *d, struct scribe_client *c);

#endif
