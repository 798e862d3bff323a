/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Libraries that are searched for while the loop goes on: by a helper a user, one search
 * after the other; each file that is found is read by a helper of its owner. Whoever is
 * late costs that user's searches, and nobody waits.
 */
#ifndef RUNTIME_DAEMON_COLLECT_LIBRARY_QUEUE_H
#define RUNTIME_DAEMON_COLLECT_LIBRARY_QUEUE_H

#include "runtime/daemon/collect/library_searches.h"

/* Begin a search for the work's user: `seek` is copied. */
void scribe_libs_search(struct scribe_daemon *d, struct scribe_job *job, const struct scribe_library_search *seek);
/* Each turn: go on with all of them. */
void scribe_libs_search_tick(struct scribe_daemon *d);
/* The job's log is written now: what nobody has been able to tell of its processes yet marks their modules. */
void scribe_libs_search_cut(struct scribe_daemon *d, const struct scribe_job *job);
/* Is one under way? */
bool scribe_libs_searching(const struct scribe_daemon *d);
/* The helper of each user for whom is searched. */
void scribe_libs_searchers(const struct scribe_daemon *d,
			 void (*fn)(void *ctx, uint32_t uid, struct scribe_helper *h), void *ctx);

#endif
