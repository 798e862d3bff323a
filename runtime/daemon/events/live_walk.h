/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts of a job's living processes, in parts. */
#ifndef RUNTIME_DAEMON_EVENTS_LIVE_WALK_H
#define RUNTIME_DAEMON_EVENTS_LIVE_WALK_H

#include "runtime/daemon/state/daemon.h"

/* False: the item does not fit, and the walk stops before it. */
typedef bool (*scribe_live_fn)(void *ctx, enum scribe_live_item type, const void *item, size_t bytes);

/*
 * Continues at *cursor, which may be from a client and is not trusted, until `until_ns` or until `fn` fails; at
 * least one step. True: complete, possibly without records that have just been created.
 */
bool scribe_live_walk(struct scribe_daemon *d, struct scribe_job *job, struct scribe_live_cursor *cursor,
		      uint64_t until_ns, scribe_live_fn fn, void *ctx);

#endif
