/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_RECOVER_H
#define RUNTIME_DAEMON_RECOVER_H

#include "runtime/daemon/state/daemon.h"

/* Returns the ring position up to which the journal is complete; 0: none. */
uint64_t scribe_recover_job(struct scribe_daemon *d, uint32_t index);

#endif
