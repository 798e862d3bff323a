/* SPDX-License-Identifier: BSD-3-Clause */
/* Session with `ioscribe top`. */
#ifndef RUNTIME_DAEMON_CONTROL_LIVE_SESSION_H
#define RUNTIME_DAEMON_CONTROL_LIVE_SESSION_H

#include "runtime/daemon/state/daemon.h"

/* Stores a request; the tick answers it. */
int scribe_live_session_message(struct scribe_daemon *d, struct scribe_client *c,
				const struct scribe_msg_live_request *m);
void scribe_live_session_tick(struct scribe_daemon *d);

#endif
