/* SPDX-License-Identifier: BSD-3-Clause */
/* What the plugin says to the node's daemon before tasks are started. */
#ifndef RUNTIME_SLURM_ANNOUNCE_H
#define RUNTIME_SLURM_ANNOUNCE_H

#include <stdint.h>

/*
 * Processes of this job are about to be executed: waits until the daemon that listens in `dir`
 * records them from their first call on, 300 ms at most. Whatever goes wrong is passed over.
 */
void scribe_announce(const char *dir, uint32_t job);

#endif
