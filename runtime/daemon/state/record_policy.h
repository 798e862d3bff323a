/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which records of a process count, and whose they are.
 */
#ifndef RUNTIME_DAEMON_STATE_RECORD_POLICY_H
#define RUNTIME_DAEMON_STATE_RECORD_POLICY_H

#include "runtime/daemon/state/daemon.h"

/* The log's module of a library's slot, by its kind; 0: it is a file of system calls. */
int scribe_library_module(uint32_t kind);
/* The log's module of a slot, by its kind. */
int scribe_drain_module(uint32_t kind);
/* The log's module of operations one by one on a slot. */
int scribe_trace_module(uint32_t kind);
/* Do the job's rules leave out what a process has of this kind, whatever its name? */
bool scribe_drain_is_excluded(const struct scribe_process *p, uint32_t kind);
/* Does a pattern leave out the slot's operations one by one? */
bool scribe_slot_is_untraced(const struct scribe_daemon *d, uint32_t index, const struct scribe_slot *slot);
/* Where a process's records go; NULL: no rank, or memory is out. */
struct scribe_records *scribe_drain_records(struct scribe_process *p);

#endif
