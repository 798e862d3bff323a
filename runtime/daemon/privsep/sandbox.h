/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_PRIVSEP_SANDBOX_H
#define RUNTIME_DAEMON_PRIVSEP_SANDBOX_H

#include "logfmt/base/err.h"
#include "runtime/daemon/privsep/sandbox_syscalls.h"

/*
 * Applies no_new_privs, capabilities and system call filter of the role. Capabilities that the process lacks are
 * skipped. On error the process must not serve anything.
 */
int scribe_sandbox(enum scribe_process_role role, struct scribe_err *err);

#endif
