/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kernel tells.
 */
#ifndef RUNTIME_DAEMON_COLLECT_EVENTS_H
#define RUNTIME_DAEMON_COLLECT_EVENTS_H

#include "runtime/daemon/state/daemon.h"

#define SCRIBE_EVENTS_NS 2000000ull /* of a turn of the loop, for events */

/*
 * Take waiting events, for `most_ns` at most (0: all that wait), and say how many; negative only
 * when the ring is broken. `ret_cut` (may be NULL): time was up, there may be more.
 */
int scribe_events_take(struct scribe_daemon *d, uint64_t most_ns, bool *ret_cut);
/* Events of the job that wait for links of names are taken without. */
void scribe_events_release(struct scribe_job *job);
/* Ends that have waited for what the job's patterns say. */
void scribe_events_ends(struct scribe_job *job);
/* Find processes whose events were lost, by looking at the shared table. */
void scribe_events_sweep(struct scribe_daemon *d);
struct scribe_process *scribe_events_enrolled(struct scribe_daemon *d, struct scribe_job *job, uint32_t index,
					      uint32_t proc_id, pid_t pid);

#endif
