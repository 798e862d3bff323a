/* SPDX-License-Identifier: BSD-3-Clause */
/* Detaches from the starter's session, descriptors and cgroups, so that the end of a prolog does not end the daemon. */
#ifndef RUNTIME_DAEMON_BASE_DAEMONIZE_H
#define RUNTIME_DAEMON_BASE_DAEMONIZE_H

#include "logfmt/base/err.h"

/*
 * 0 in the detached process, with a descriptor for scribe_daemonize_ready; 1 in the starter when that is ready
 * (on its error the starter exits with 1); negative: cannot fork.
 */
int scribe_daemonize(int *ret_ready, struct scribe_err *err);
/* Notifies the starter: NULL is success, otherwise an error text. `ready` -1: no starter. */
void scribe_daemonize_ready(int ready, const char *text);

#endif
