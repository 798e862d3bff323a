/* SPDX-License-Identifier: BSD-3-Clause */
/* Data of a process from /proc; 0 or false if it has ended. */
#ifndef RUNTIME_DAEMON_BASE_PROCFS_H
#define RUNTIME_DAEMON_BASE_PROCFS_H

#include <stdbool.h>
#include <stdint.h>

/* Start time in ticks since boot; identifies a process together with its id. Waits for an exec of the process. */
uint64_t scribe_start_ticks(uint32_t pid);
uint32_t scribe_parent_pid(uint32_t pid);
/* R: it runs, or waits for a processor; 0: unknown. */
char scribe_process_state(uint32_t pid);

/* The name starts with `prefix`. Does not take the process's mmap lock, which its user can hold. */
bool scribe_process_is_called(uint32_t pid, const char *prefix);

#endif
