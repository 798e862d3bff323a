/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_CONTROL_ATTACH_SESSION_H
#define RUNTIME_DAEMON_CONTROL_ATTACH_SESSION_H

#include "runtime/daemon/state/daemon.h"

/* Sends an empty message when no probe is pending, at the latest at until_ns. */
int scribe_attach_session_answer(struct scribe_daemon *d, struct scribe_client *c, unsigned type, uint64_t until_ns);
/* START: answered when programs are attached at system calls. */
int scribe_attach_session_start(struct scribe_daemon *d, struct scribe_client *c, const struct scribe_msg_start *m);
/* PROBED: answered when no library of the process is pending. */
int scribe_attach_session_probed(struct scribe_daemon *d, struct scribe_client *c, const struct scribe_msg_start *m);
/* JOB_READY. `hook`: the peer and its ancestors are not traced. */
int scribe_attach_session_announced(struct scribe_daemon *d, struct scribe_client *c, bool hook);
void scribe_attach_session_tick(struct scribe_daemon *d);

#endif
