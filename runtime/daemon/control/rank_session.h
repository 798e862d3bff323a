/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_CONTROL_RANK_SESSION_H
#define RUNTIME_DAEMON_CONTROL_RANK_SESSION_H

#include "runtime/daemon/state/daemon.h"

/* Negative: close the connection. */
int scribe_fetch_message(struct scribe_daemon *d, struct scribe_client *c, const struct scribe_msg_fetch *m);
int scribe_fetch_done(struct scribe_daemon *d, struct scribe_client *c, const struct scribe_msg_done *m);
/* For worlds of which all ranks have sent FETCH, or cannot. */
void scribe_fetch_answer_ready(struct scribe_daemon *d);
void scribe_fetch_drop(struct scribe_client *c);
/* Can some rank not send FETCH any more? */
bool scribe_fetch_in_vain(const struct scribe_log_unit *u);

#endif
