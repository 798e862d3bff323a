/* SPDX-License-Identifier: BSD-3-Clause */
/* What the daemon's main part needs of control/. */
#ifndef RUNTIME_DAEMON_CONTROL_CONTROL_H
#define RUNTIME_DAEMON_CONTROL_CONTROL_H

#include "runtime/daemon/state/daemon.h"

extern const struct scribe_daemon_ops scribe_control_ops;

#endif
