/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the service fares.
 */
#ifndef RUNTIME_DAEMON_CONTROL_STATUS_H
#define RUNTIME_DAEMON_CONTROL_STATUS_H

#include "runtime/daemon/state/daemon.h"

/* How the service fares: to root all of it, to a user what is the user's. */
int scribe_status_message(struct scribe_daemon *d, struct scribe_client *c);

#endif
