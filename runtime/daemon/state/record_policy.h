/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_STATE_RECORD_POLICY_H
#define RUNTIME_DAEMON_STATE_RECORD_POLICY_H

#include "runtime/daemon/state/daemon.h"

/* 0: not a library's slot but a file of system calls. */
int scribe_library_module(uint32_t kind);
int scribe_drain_module(uint32_t kind);
/* Module for single operations. */
int scribe_trace_module(uint32_t kind);
/* By rules on process, module and rank, not on names. */
bool scribe_drain_is_excluded(const struct scribe_process *p, uint32_t kind);
bool scribe_slot_is_untraced(const struct scribe_daemon *d, uint32_t index, const struct scribe_slot *slot);
/* The record set of the process's rank, which owns it. NULL: no rank, or out of memory. */
struct scribe_records *scribe_drain_records(struct scribe_process *p);

#endif
