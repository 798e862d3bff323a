/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the daemon's processes give up after start: capabilities, new
 * privileges, system calls that none of them needs. SECURITY.md justifies what
 * is kept.
 */
#ifndef RUNTIME_DAEMON_PRIVSEP_SANDBOX_H
#define RUNTIME_DAEMON_PRIVSEP_SANDBOX_H

#include "logfmt/base/err.h"
#include "runtime/daemon/privsep/sandbox_syscalls.h"

/*
 * Confine this process for good: no_new_privs, capabilities (also those of the
 * bounding set where that is possible), the list of system calls that its role may
 * make (sandbox_syscalls.h). Capabilities that it does not have are not missed. Negative, with the
 * reason in err: nothing may be served then.
 */
int scribe_sandbox(enum scribe_process_role role, struct scribe_err *err);

#endif
