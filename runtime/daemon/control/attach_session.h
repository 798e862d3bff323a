/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The conversation with those who wait until programs stand at system calls.
 */
#ifndef RUNTIME_DAEMON_CONTROL_ATTACH_SESSION_H
#define RUNTIME_DAEMON_CONTROL_ATTACH_SESSION_H

#include "runtime/daemon/state/daemon.h"

/* Answer when links are made that are under way, but not later than that: a message without a body. */
int scribe_attach_session_answer(struct scribe_daemon *d, struct scribe_client *c, unsigned type, uint64_t until_ns);
/* The runtime of a process that has just begun; answered once the programs stand. */
int scribe_attach_session_start(struct scribe_daemon *d, struct scribe_client *c, const struct scribe_msg_start *m);
/* The same, answered once the libraries that the process has mapped are probed, or will not be. */
int scribe_attach_session_probed(struct scribe_daemon *d, struct scribe_client *c, const struct scribe_msg_start *m);
/* A process of the job is about to join; `hook`: the peer and those above it are no part of the job. */
int scribe_attach_session_announced(struct scribe_daemon *d, struct scribe_client *c, bool hook);
/* Often: answers whoever waits for links that are being made. */
void scribe_attach_session_tick(struct scribe_daemon *d);

#endif
