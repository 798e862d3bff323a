/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_CONTROL_SERVER_H
#define RUNTIME_DAEMON_CONTROL_SERVER_H

#include "runtime/daemon/state/daemon.h"

/* Takes over `fd`, also on failure. NULL: no memory, or refused. */
struct scribe_client *scribe_clients_add(struct scribe_daemon *d, int fd);
void scribe_clients_accept(struct scribe_daemon *d);
void scribe_clients_serve(struct scribe_daemon *d, struct scribe_client *c);
/* In every loop iteration, without blocking. */
void scribe_clients_serve_all(struct scribe_daemon *d);
void scribe_clients_close(struct scribe_daemon *d);
bool scribe_clients_waiting(const struct scribe_daemon *d);

#endif
