/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections: accepted, served, answered, closed.
 */
#ifndef RUNTIME_DAEMON_CONTROL_CONNECTION_H
#define RUNTIME_DAEMON_CONTROL_CONNECTION_H

#include "runtime/daemon/state/daemon.h"

/* A socket for the runtime of one user's job, in a directory of its own. */
int scribe_clients_listen(struct scribe_daemon *d, const struct scribe_config *c, struct scribe_err *err);
/*
 * Who sends descriptors to these connections gets an error (Linux 6.16 and newer). Before, they are dropped with
 * their message, unopened: the last one of a locked file of a FUSE server makes the daemon wait for that server.
 */
void scribe_clients_take_no_descriptors(int listening);
/*
 * Is all known that its process did before it sent the message that now waits? Its fork, exec and names
 * may still stand in the event ring: then the message is read at a later turn.
 */
bool scribe_client_is_known(struct scribe_daemon *d, struct scribe_client *c);
/* Nothing that it has asked for is under way: the loop learns of it when it says something. */
bool scribe_client_is_idle(const struct scribe_client *c);
/* The process that speaks, as far as it is traced; NULL. */
struct scribe_process *scribe_client_peer(struct scribe_daemon *d, struct scribe_client *c);
/* The kernel side ignores this thread's I/O: 0 ends that. */
void scribe_client_ignore_thread(struct scribe_daemon *d, const struct scribe_process *p, uint32_t tid);
void scribe_client_hang_up(struct scribe_daemon *d, struct scribe_client *c);
/* Answer with an error; returns a negative code, by which the connection is closed. */
int scribe_client_refuse(struct scribe_client *c, unsigned status, const char *text);
/* Send, now or when the peer takes it. A negative code: the peer is gone, or takes nothing. */
int scribe_client_send(struct scribe_client *c, unsigned type, const void *payload, size_t bytes);

#endif
