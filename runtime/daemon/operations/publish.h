/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Single operations of running jobs for publishers (util/publish): every tenth of a second they are sorted by
 * end, given rank and file, and written to rings (logfmt/base/publish_ring.h). Full rings lose operations,
 * which are counted. Without subscriptions every function returns at once.
 */
#ifndef RUNTIME_DAEMON_OPERATIONS_PUBLISH_H
#define RUNTIME_DAEMON_OPERATIONS_PUBLISH_H

#include "runtime/daemon/state/receivers.h"

#define SCRIBE_PUBLISHERS_MOST 8u /* per job */

/* Operations from now on. *ret_fd is the ring's memory file, owned by the daemon. -EDQUOT: too many. */
int scribe_publish_subscribe(struct scribe_job *job, uint64_t client, int *ret_fd, struct scribe_err *err);
/* The client has read so many bytes; impossible values are ignored. */
void scribe_publish_taken(struct scribe_job *job, uint64_t client, uint64_t bytes);
void scribe_publish_drop(struct scribe_job *job, uint64_t client);

extern const struct scribe_receiver scribe_receiver_publish;

bool scribe_publish_due(struct scribe_job *job);
void scribe_publish_pass(struct scribe_job *job);
/* The job has ended: writes the rest, and marks rings as ended. */
void scribe_publish_finish(struct scribe_job *job);

/* Appends "published=N lost=N" to a log's metadata if there was a publisher and it fits. */
void scribe_publish_describe(const struct scribe_job *job, char *text, size_t cap);

#endif
