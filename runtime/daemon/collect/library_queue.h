/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Libraries that are searched for while the loop goes on: by a helper a user, one search
 * after the other; each file that is found is read by a helper of its owner. Whoever is
 * late costs that user's searches, and nobody waits.
 */
#ifndef RUNTIME_DAEMON_COLLECT_LIBRARY_QUEUE_H
#define RUNTIME_DAEMON_COLLECT_LIBRARY_QUEUE_H

#include "runtime/daemon/collect/library_seekers.h"

/* Begin a search for the work's user: `seek` is copied. */
void scribe_libs_seek(struct scribe_daemon *d, struct scribe_job *w, const struct scribe_seek *seek);
/* Each turn: go on with all of them. */
void scribe_libs_seek_tick(struct scribe_daemon *d);
/* The job's log is written now: what nobody has been able to tell of its processes yet marks their modules. */
void scribe_libs_seek_cut(struct scribe_daemon *d, const struct scribe_job *w);
/* Is one under way? */
bool scribe_libs_seeking(const struct scribe_daemon *d);
/* The helper of each user for whom is searched. */
void scribe_libs_seekers(const struct scribe_daemon *d,
			 void (*fn)(void *ctx, uint32_t uid, struct scribe_helper *h), void *ctx);

#endif
