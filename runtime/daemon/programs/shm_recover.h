/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared memory of running programs, after a restart of the daemon. */
#ifndef RUNTIME_DAEMON_PROGRAMS_SHM_RECOVER_H
#define RUNTIME_DAEMON_PROGRAMS_SHM_RECOVER_H

#include "runtime/daemon/state/daemon.h"

/* Through address spaces of a resumed job's processes, before privileges are dropped. Counts of ended ones are lost. */
void scribe_shm_recover(struct scribe_daemon *d, struct scribe_job *job);

#endif
