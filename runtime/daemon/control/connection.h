/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_CONTROL_CONNECTION_H
#define RUNTIME_DAEMON_CONTROL_CONNECTION_H

#include "runtime/daemon/state/daemon.h"

/* In a new directory; the runtime of one user's job connects to it. */
int scribe_clients_listen(struct scribe_daemon *d, const struct scribe_config *c, struct scribe_err *err);
/*
 * Peers that send descriptors get an error (Linux 6.16 and newer). Older kernels drop them with the message,
 * unopened: the last one of a locked file of a FUSE server makes the daemon wait for that server.
 */
void scribe_clients_take_no_descriptors(int listening);
/* False: the peer's fork, exec or names may still be in the event ring. */
bool scribe_client_is_known(struct scribe_daemon *d, struct scribe_client *c);
/* Only a new message makes work. */
bool scribe_client_is_idle(const struct scribe_client *c);
/* NULL: not traced. */
struct scribe_process *scribe_client_peer(struct scribe_daemon *d, struct scribe_client *c);
/* For the kernel programs; tid 0 ends it. */
void scribe_client_ignore_thread(struct scribe_daemon *d, const struct scribe_process *p, uint32_t tid);
void scribe_client_hang_up(struct scribe_daemon *d, struct scribe_client *c);
/* Returns a negative code, on which the caller closes the connection. */
int scribe_client_refuse(struct scribe_client *c, unsigned status, const char *text);
/* Sends or queues. Negative: the peer is gone or reads nothing. */
int scribe_client_send(struct scribe_client *c, unsigned type, const void *payload, size_t bytes);

#endif
