/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs of an earlier daemon, from their journals.
 */
#ifndef RUNTIME_DAEMON_RECOVER_H
#define RUNTIME_DAEMON_RECOVER_H

#include "runtime/daemon/state/daemon.h"

/* Take up the job with this index in the kernel's table. The position in the ring up to which it is known; 0:
 * none. */
uint64_t scribe_recover_job(struct scribe_daemon *d, uint32_t index);

#endif
