/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From slots to records.
 */
#ifndef RUNTIME_DAEMON_COLLECT_DRAIN_H
#define RUNTIME_DAEMON_COLLECT_DRAIN_H

#include "runtime/daemon/state/daemon.h"

/*
 * Records of an exited process to its rank; its kernel entries are given back. 1: until_ns has come (0: never), it
 * is to be called again; negative: memory is out, something is missing.
 */
int scribe_drain_exited(struct scribe_daemon *d, struct scribe_process *p, uint64_t until_ns);
/* The same of a living one, which goes on with fresh records. */
int scribe_drain_living(struct scribe_daemon *d, struct scribe_process *p);

/* What a journal kept of a process's record, added as if drained now. */
int scribe_drain_kept(struct scribe_daemon *d, struct scribe_process *p, const struct scribe_slot_view *view);

#endif
