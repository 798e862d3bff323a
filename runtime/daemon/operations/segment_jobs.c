// SPDX-License-Identifier: BSD-3-Clause
/*
 * Takes segments to the receivers. Owns a job's struct scribe_segments. Must not know logs or
 * packing.
 */
#include <errno.h>
#include <stdlib.h>

#include "runtime/daemon/operations/publish.h"
#include "runtime/daemon/operations/segment_windows.h"
#include "runtime/daemon/operations/segments_private.h"
#include "runtime/daemon/programs/shm_segments.h"
#include "runtime/daemon/state/record_policy.h"

/* For a buffer without a process. */
static struct scribe_job *work_of_slot(struct scribe_daemon *d, const struct scribe_segment *s)
{
	const struct scribe_slot *slot = scribe_bpf_slot(d->bpf, s->slot);
	const struct scribe_proc *p;

	if (s->slot < d->slots && d->slot[s->slot].name && d->slot[s->slot].generation == s->generation)
		return d->job[d->slot[s->slot].job % SCRIBE_JOBS_MAX];
	p = slot && slot->generation == s->generation ? scribe_bpf_proc(d->bpf, slot->proc) : NULL;
	return p && p->proc_id == slot->proc_id ? d->job[p->job % SCRIBE_JOBS_MAX] : NULL;
}

/* 0: the job does not record threads. */
static uint64_t thread_of(const struct scribe_job *job, const struct scribe_segbuf *segbuf)
{
	if (!job || !job->config.dxt_threads || !segbuf->proc_id)
		return 0;
	return segbuf->thread ? segbuf->thread : segbuf->tid;
}

static void on_segbuf(void *ctx, const struct scribe_segbuf *segbuf, const struct scribe_segment *first, uint32_t n)
{
	struct scribe_daemon *d = ctx;
	struct scribe_job *job = segbuf->proc_id ? d->job[segbuf->job % SCRIBE_JOBS_MAX] : NULL;

	for (uint32_t i = 0; i < n; i++) {
		if (!segbuf->proc_id)
			job = work_of_slot(d, &first[i]);
		/* the process may be of an earlier job at this index */
		if (!job || first[i].start_ns < job->begun_ns)
			continue;
		scribe_receivers_receive(job, &first[i], thread_of(job, segbuf));
	}
}

void scribe_segments_take(struct scribe_daemon *d, bool all)
{
	if (!d->bpf || !d->tracing)
		return;
	if (!all) {
		scribe_bpf_segbufs(d->bpf, on_segbuf, d);
		return;
	}
	scribe_bpf_segbufs_all(d->bpf, on_segbuf, d);
	scribe_shm_segments_take_all(d);
}

static void receive(struct scribe_job *job, const struct scribe_segment *s, uint64_t thread)
{
	struct scribe_job_entry *entry;

	if (!scribe_job_has_dxt(job) || s->op > SCRIBE_SEGMENT_WRITE)
		return;
	scribe_segment_keep(job->segments, s, thread);
	entry = job->daemon->bpf ? scribe_bpf_job(job->daemon->bpf, job->index) : NULL;
	/* a later daemon computes its losses from this */
	if (entry)
		entry->segments++;
}

static void bind(struct scribe_process *p, const struct scribe_slot_view *v, uint64_t id)
{
	struct scribe_segments *s = p->job->segments;
	struct scribe_rank_trace *t = NULL;
	struct scribe_traced *e;

	if (!s || (!(v->slot->flags & SCRIBE_SF_TRACED) && scribe_job_has_dxt(p->job)))
		return;
	if (scribe_slot_is_untraced(p->job->daemon, v->index, v->slot) ||
	    p->job->config.exclusion_rules.modules_off >> scribe_trace_module(v->slot->kind) & 1)
		id = 0;
	e = scribe_traced_at(s, v->index, v->slot->generation);
	/* counted as lost when segments arrive */
	if (!e || e->state != SCRIBE_TRACED_UNBOUND)
		return;
	if (id && p->rank)
		t = scribe_rank_trace_of(&p->rank->trace, s);
	scribe_traced_bind(p->job, s, t, e, scribe_traced_module_of(v->slot->kind), id);
}

static void end(struct scribe_job *job)
{
	if (!job->segments)
		return;
	scribe_segments_clear(job->segments);
	free(job->segments);
	job->segments = NULL;
	scribe_segments_job_ends(job);
}

static const struct scribe_receiver receiver_job = {.receive = receive, .bind = bind, .end = end};

static const struct scribe_receiver *const receivers[] = {&scribe_receiver_publish, &scribe_receiver_windows,
							  &receiver_job, NULL};

int scribe_segments_begin(struct scribe_job *job, struct scribe_err *err)
{
	struct scribe_daemon *d = job->daemon;
	struct scribe_segments *s;
	int rc;

	d->receivers = receivers;
	if (d->resuming && !job->config.dxt)
		scribe_windows_lost(job);
	if (!job->config.dxt || job->segments)
		return 0;
	s = calloc(1, sizeof(*s));
	rc = s ? scribe_segments_job_begins(job, err) : scribe_err_set(err, -ENOMEM, "out of memory");
	if (rc < 0) {
		free(s);
		return rc;
	}
	scribe_segstore_open(&s->store, &d->segpool);
	if (d->resuming)
		s->untold = scribe_bpf_job(d->bpf, job->index)->segments;
	job->segments = s;
	return 0;
}

bool scribe_segments_stop(struct scribe_job *job)
{
	struct scribe_bpf *bpf = job->daemon->bpf;

	if (job->publishing || scribe_windows_marked(job))
		return false;
	scribe_bpf_trace_job(bpf, job->index, SCRIBE_JF_SEGMENTS, false);
	scribe_bpf_trace_slots(bpf, job->index, SCRIBE_SF_TRACED, false);
	scribe_shm_segments_wish(job);
	return true;
}

void scribe_segments_tick(struct scribe_job *job, bool end)
{
	if (!job->windows)
		return;
	/* losses before it opens are not the window's */
	if (scribe_windows_wait(job))
		scribe_shm_segments_take_all(job->daemon);
	scribe_windows_begin_due(job);
	if (!scribe_windows_end_due(job, end))
		return;
	scribe_segments_take(job->daemon, true);
	scribe_windows_close(job);
}

void scribe_segments_publish(struct scribe_daemon *d)
{
	bool taken = false;

	for (struct scribe_job *job = d->jobs; job; job = job->next) {
		if (!scribe_publish_due(job))
			continue;
		if (!taken)
			scribe_segments_take(d, true);
		taken = true;
		scribe_publish_pass(job);
	}
}

void scribe_segments_publish_now(struct scribe_job *job)
{
	if (job->publishing)
		scribe_publish_pass(job);
}

void scribe_segments_publish_rest(struct scribe_job *job)
{
	if (!job->publishing)
		return;
	scribe_segments_take(job->daemon, true);
	scribe_publish_finish(job);
}
