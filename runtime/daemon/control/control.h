/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_CONTROL_CONTROL_H
#define RUNTIME_DAEMON_CONTROL_CONTROL_H

#include "runtime/daemon/state/daemon.h"

extern const struct scribe_daemon_ops scribe_control_ops;

#endif
