/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of the kernel programs. */
#ifndef RUNTIME_DAEMON_EVENTS_EVENTS_H
#define RUNTIME_DAEMON_EVENTS_EVENTS_H

#include "runtime/daemon/state/daemon.h"

#define SCRIBE_EVENTS_NS 2000000ull /* per loop iteration */

/*
 * For at most `most_ns` (0: no limit). Returns the number; negative: the ring is broken. *ret_cut (may be NULL):
 * time was up.
 */
int scribe_events_take(struct scribe_daemon *d, uint64_t most_ns, bool *ret_cut);
/* Processes the job's held events at once, without resolving links. */
void scribe_events_release(struct scribe_job *job);
/* Ends that waited for exclusion checks. */
void scribe_events_ends(struct scribe_job *job);
/* Finds processes of which events were lost. */
void scribe_events_sweep(struct scribe_daemon *d);
struct scribe_process *scribe_events_enrolled(struct scribe_daemon *d, struct scribe_job *job, uint32_t index,
					      uint32_t proc_id, pid_t pid);

#endif
