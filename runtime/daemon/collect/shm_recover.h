/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory in which programs count, found again by a daemon that has none of it. */
#ifndef RUNTIME_DAEMON_COLLECT_SHM_RECOVER_H
#define RUNTIME_DAEMON_COLLECT_SHM_RECOVER_H

#include "runtime/daemon/state/daemon.h"

/*
 * The memories of a resumed job's living processes, out of their address spaces. Before privileges
 * are given up. What a process has counted that died without a daemon is gone, and said to be.
 */
void scribe_shm_recover(struct scribe_daemon *d, struct scribe_job *job);

#endif
