/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory that a process shares with the daemon. */
#ifndef RUNTIME_CLIENT_WRAP_SHARED_MEMORY_H
#define RUNTIME_CLIENT_WRAP_SHARED_MEMORY_H

#include <stdint.h>

#include "logfmt/rules/streams.h"

/* Of a new process, for as long as it lives; NULL: none could be made, or the daemon does not take it. */
struct scribe_shm_counters *scribe_shm_counters_make(uint64_t id, uint64_t now);

#endif
