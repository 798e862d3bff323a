/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All connections: accepted, served in the order that they came in, closed.
 */
#ifndef RUNTIME_DAEMON_CONTROL_SERVER_H
#define RUNTIME_DAEMON_CONTROL_SERVER_H

#include "runtime/daemon/state/daemon.h"

/* A connection that exists already: its `fd` is taken over. NULL: no memory. */
struct scribe_client *scribe_clients_add(struct scribe_daemon *d, int fd);
void scribe_clients_accept(struct scribe_daemon *d);
void scribe_clients_serve(struct scribe_daemon *d, struct scribe_client *c);
/* Serve whatever waits on any connection, without blocking. */
void scribe_clients_serve_all(struct scribe_daemon *d);
void scribe_clients_close(struct scribe_daemon *d);
/* Is there anything left to be said to anybody? */
bool scribe_clients_waiting(const struct scribe_daemon *d);

#endif
