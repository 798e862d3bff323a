/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The conversation with `ioscribe top`: what goes on, for the one who asks.
 */
#ifndef RUNTIME_DAEMON_CONTROL_LIVE_SESSION_H
#define RUNTIME_DAEMON_CONTROL_LIVE_SESSION_H

#include "runtime/daemon/state/daemon.h"

/* A question; it is answered by a tick. */
int scribe_live_session_message(struct scribe_daemon *d, struct scribe_client *c,
				const struct scribe_msg_live_request *m);
/* Answers, in the time that may be taken for them. */
void scribe_live_session_tick(struct scribe_daemon *d);

#endif
