/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_ATTACH_LIBRARY_QUEUE_H
#define RUNTIME_DAEMON_ATTACH_LIBRARY_QUEUE_H

#include "runtime/daemon/attach/library_searches.h"

/* Queues a copy with the identity of the job's user. */
void scribe_libs_search(struct scribe_daemon *d, struct scribe_job *job, const struct scribe_library_search *seek);
void scribe_libs_search_tick(struct scribe_daemon *d);
/* Before the job's log: marks modules of searches that are not complete. */
void scribe_libs_search_cut(struct scribe_daemon *d, const struct scribe_job *job);
bool scribe_libs_searching(const struct scribe_daemon *d);
/* Calls `fn` for each user's helper. */
void scribe_libs_searchers(const struct scribe_daemon *d, void (*fn)(void *ctx, uint32_t uid, struct scribe_helper *h),
			   void *ctx);

#endif
