/* SPDX-License-Identifier: BSD-3-Clause */
/* State of the service. */
#ifndef RUNTIME_DAEMON_CONTROL_STATUS_H
#define RUNTIME_DAEMON_CONTROL_STATUS_H

#include "runtime/daemon/state/daemon.h"

/* Root receives everything, a user only their own use. */
int scribe_status_message(struct scribe_daemon *d, struct scribe_client *c);

#endif
