/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What /proc says of a process.
 */
#ifndef RUNTIME_DAEMON_BASE_PROCFS_H
#define RUNTIME_DAEMON_BASE_PROCFS_H

#include <stdbool.h>
#include <stdint.h>

/* When it was started, in the kernel's ticks since boot; 0 unknown. */
uint64_t scribe_start_ticks(uint32_t pid);
/* Who started it, or has taken it over; 0 unknown. */
uint32_t scribe_parent_pid(uint32_t pid);

/* Does its name begin so? Read without its memory lock, which its user can hold. */
bool scribe_process_is_called(uint32_t pid, const char *prefix);

#endif
