/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What living processes of a job have counted so far, told piece by piece while they go on.
 */
#ifndef RUNTIME_DAEMON_COLLECT_LIVE_WALK_H
#define RUNTIME_DAEMON_COLLECT_LIVE_WALK_H

#include "runtime/daemon/state/daemon.h"

/* Takes an item; false: it has no room, and the walk stops before it. */
typedef bool (*scribe_live_fn)(void *ctx, enum scribe_live_item type, const void *item, size_t bytes);

/*
 * From *place on until the time is over or `fn` has no room: one item at least, or one step. *place is where
 * to go on; it may be anybody's: only what belongs to the job is told. True: that was all. Records that
 * appear meanwhile may be missing.
 */
bool scribe_live_walk(struct scribe_daemon *d, struct scribe_job *job, struct scribe_live_cursor *cursor,
		      uint64_t until_ns, scribe_live_fn fn, void *ctx);

#endif
