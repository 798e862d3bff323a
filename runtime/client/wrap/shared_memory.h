/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_CLIENT_WRAP_SHARED_MEMORY_H
#define RUNTIME_CLIENT_WRAP_SHARED_MEMORY_H

#include <stdint.h>

#include "logfmt/rules/streams.h"

/* For a new process, until it ends; NULL: refused or too late. */
struct scribe_shm_counters *scribe_shm_counters_get(uint64_t id, uint64_t now);

#endif
