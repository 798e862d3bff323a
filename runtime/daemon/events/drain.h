/* SPDX-License-Identifier: BSD-3-Clause */
/* From slots to records. */
#ifndef RUNTIME_DAEMON_EVENTS_DRAIN_H
#define RUNTIME_DAEMON_EVENTS_DRAIN_H

#include "runtime/daemon/state/daemon.h"

/*
 * Frees the process's kernel entries, too. 1: until_ns (0: none) is reached, call again. Negative: out of
 * memory, records are missing.
 */
int scribe_drain_exited(struct scribe_daemon *d, struct scribe_process *p, uint64_t until_ns);
/* The process continues with new records. */
int scribe_drain_living(struct scribe_daemon *d, struct scribe_process *p);

/* Adds a record from the journal. */
int scribe_drain_kept(struct scribe_daemon *d, struct scribe_process *p, const struct scribe_slot_view *view);

#endif
