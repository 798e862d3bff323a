/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory that a process shares with the daemon. */
#ifndef RUNTIME_CLIENT_WRAP_SHARED_MEMORY_H
#define RUNTIME_CLIENT_WRAP_SHARED_MEMORY_H

#include <stdint.h>

#include "logfmt/rules/streams.h"

/* Of a new process, for as long as it lives; NULL: the daemon gives none, or none in time. */
struct scribe_shm_counters *scribe_shm_counters_get(uint64_t id, uint64_t now);

#endif
