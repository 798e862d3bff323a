/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The door of control/ for the daemon's top.
 */
#ifndef RUNTIME_DAEMON_CONTROL_CONTROL_H
#define RUNTIME_DAEMON_CONTROL_CONTROL_H

#include "runtime/daemon/state/daemon.h"

/* For `ops` of the daemon. */
extern const struct scribe_daemon_ops scribe_control_ops;

#endif
