/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Single operations of running jobs, handed to publishers: processes of the job's user that send them
 * to other systems (util/publish). Each subscription has a ring in shared memory
 * (logfmt/base/publish_ring.h). Every tenth of a second what the kernel and the programs have left is
 * taken, put in the order of ends, given its rank and file, and written to the rings. The daemon waits
 * for no publisher: what finds no room is counted. Where nobody subscribes every call here does nothing.
 */
#ifndef RUNTIME_DAEMON_COLLECT_PUBLISH_H
#define RUNTIME_DAEMON_COLLECT_PUBLISH_H

#include "runtime/daemon/state/daemon.h"

#define SCRIBE_PUBLISHERS_MOST 8u /* of one job at once */

/*
 * The connection `client` gets the operations of `w` that begin from now on. 0 and the ring's memory file,
 * which stays the daemon's to close; -EDQUOT: there are too many; -ENOMEM, or the kernel's.
 */
int scribe_publish_subscribe(struct scribe_job *job, uint64_t client, int *ret_fd, struct scribe_err *err);
/* That connection has read so many bytes of its ring; what cannot be is ignored. */
void scribe_publish_taken(struct scribe_job *job, uint64_t client, uint64_t bytes);
/* That connection is gone. */
void scribe_publish_drop(struct scribe_job *job, uint64_t client);

/* A segment of the job's, as it comes from the kernel or a program. */
void scribe_publish_keep(struct scribe_job *job, const struct scribe_segment *s);
/* The same of the process's standard stream 0 to 2. */
void scribe_publish_keep_standard(struct scribe_process *p, uint32_t stream, struct scribe_segment *s);
/* A program leaves so many that it will soon have no room for more. */
void scribe_publish_urgent(struct scribe_job *job);
/* As scribe_segments_bind: the record of a slot that is about to be given back. */
void scribe_publish_bind(struct scribe_process *p, const struct scribe_slot_view *v, uint64_t id);

/* ---- for segment_jobs.c, which takes what the kernel and programs have left before ---- */

/* Is it time for a pass? */
bool scribe_publish_due(struct scribe_job *job);
void scribe_publish_pass(struct scribe_job *job);
/* Nothing more comes of the job: the rest is written, and that it has ended. */
void scribe_publish_finish(struct scribe_job *job);
/* Everything of it is given back. */
void scribe_publish_end(struct scribe_job *job);

/* A line of the log's metadata, "published=N lost=N", where there has been a publisher; as much as fits. */
void scribe_publish_describe(const struct scribe_job *job, char *text, size_t cap);

#endif
