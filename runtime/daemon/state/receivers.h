/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receivers of single operations (segments): DXT of a whole job, trace windows, publishers. Each ignores jobs
 * that do not use it. Must not know where segments come from.
 */
#ifndef RUNTIME_DAEMON_STATE_RECEIVERS_H
#define RUNTIME_DAEMON_STATE_RECEIVERS_H

#include "runtime/daemon/state/daemon.h"

struct scribe_receiver {
	/* `thread` 0: not recorded. */
	void (*receive)(struct scribe_job *job, const struct scribe_segment *s, uint64_t thread);
	/* Of the process's standard stream 0 to 2, which has no slot. NULL: ignored. */
	void (*receive_standard)(struct scribe_process *p, uint32_t stream, struct scribe_segment *s);
	/* Called while the slot is drained, because it may be reused. `id` 0: its segments are dropped. */
	void (*bind)(struct scribe_process *p, const struct scribe_slot_view *v, uint64_t id);
	/* A program's ring is filling. NULL: ignored. */
	void (*urgent)(struct scribe_job *job);
	/* Frees everything of the job. */
	void (*end)(struct scribe_job *job);
};

static inline void scribe_receivers_receive(struct scribe_job *job, const struct scribe_segment *s, uint64_t thread)
{
	for (const struct scribe_receiver *const *r = job->daemon->receivers; r && *r; r++)
		(*r)->receive(job, s, thread);
}

static inline void scribe_receivers_standard(struct scribe_process *p, uint32_t stream, struct scribe_segment *s)
{
	for (const struct scribe_receiver *const *r = p->job->daemon->receivers; r && *r; r++)
		if ((*r)->receive_standard)
			(*r)->receive_standard(p, stream, s);
}

static inline void scribe_receivers_bind(struct scribe_process *p, const struct scribe_slot_view *v, uint64_t id)
{
	for (const struct scribe_receiver *const *r = p->job->daemon->receivers; r && *r; r++)
		(*r)->bind(p, v, id);
}

static inline void scribe_receivers_urgent(struct scribe_job *job)
{
	for (const struct scribe_receiver *const *r = job->daemon->receivers; r && *r; r++)
		if ((*r)->urgent)
			(*r)->urgent(job);
}

static inline void scribe_receivers_end(struct scribe_job *job)
{
	for (const struct scribe_receiver *const *r = job->daemon->receivers; r && *r; r++)
		(*r)->end(job);
}

#endif
