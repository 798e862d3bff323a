/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_SLURM_ANNOUNCE_H
#define RUNTIME_SLURM_ANNOUNCE_H

#include <stdint.h>

/*
 * Before a step's tasks start: waits at most 300 ms until the daemon at `dir` records the job from its first
 * call. Failures are ignored.
 */
void scribe_announce(const char *dir, uint32_t job);

#endif
