// SPDX-License-Identifier: BSD-3-Clause
/*
 * Single operations (segments) from the kernel's leaves and from programs' rings to their
 * receivers: a job that is traced as a whole, windows on it, publishers. A leaf names its thread's
 * job; one without a process is assigned by each segment's slot. A job's struct scribe_segments is
 * made here and freed by scribe_segments_end(). Main thread of the daemon. Must not know logs, nor
 * how segments are packed.
 */
#include <errno.h>
#include <stdlib.h>

#include "runtime/daemon/collect/publish.h"
#include "runtime/daemon/collect/segment_windows.h"
#include "runtime/daemon/collect/segments_private.h"
#include "runtime/daemon/collect/shm_segments.h"
#include "runtime/daemon/state/record_policy.h"

/* Whose record that was. */
static struct scribe_job *work_of_slot(struct scribe_daemon *d, const struct scribe_segment *s)
{
	const struct scribe_slot *slot = scribe_bpf_slot(d->bpf, s->slot);
	const struct scribe_proc *p;

	if (s->slot < d->slots && d->slot[s->slot].label && d->slot[s->slot].generation == s->generation)
		return d->work[d->slot[s->slot].job % SCRIBE_JOBS_MAX];
	p = slot && slot->generation == s->generation ? scribe_bpf_proc(d->bpf, slot->proc) : NULL;
	return p && p->proc_id == slot->proc_id ? d->work[p->job % SCRIBE_JOBS_MAX] : NULL;
}

/* What of the thread is kept, where the job wants it. */
static uint64_t thread_of(const struct scribe_job *w, const struct scribe_leaf *leaf)
{
	if (!w || !w->config.dxt_threads || !leaf->proc_id)
		return 0;
	return leaf->thread ? leaf->thread : leaf->tid;
}

/*
 * `segments` in the job's entry counts what was taken, so that a later daemon knows how many are
 * not in its memory.
 */
static void on_leaf(void *ctx, const struct scribe_leaf *leaf, const struct scribe_segment *first, uint32_t n)
{
	struct scribe_daemon *d = ctx;
	struct scribe_job *w = leaf->proc_id ? d->work[leaf->job % SCRIBE_JOBS_MAX] : NULL;

	for (uint32_t i = 0; i < n; i++) {
		if (!leaf->proc_id)
			w = work_of_slot(d, &first[i]);
		/* of an earlier job in this place a process may live on */
		if (!w || first[i].start_ns < w->begun_ns)
			continue;
		scribe_publish_keep(w, &first[i]);
		if (first[i].op > SCRIBE_SEGMENT_WRITE)
			continue;
		scribe_windows_keep(w, &first[i], thread_of(w, leaf));
		if (!w->segments)
			continue;
		scribe_segment_keep(w->segments, &first[i], thread_of(w, leaf));
		scribe_bpf_job(d->bpf, w->index)->segments++;
	}
}

/* `all`: also leaves that are not full, and programs' rings. */
void scribe_segments_take(struct scribe_daemon *d, bool all)
{
	if (!d->bpf || !d->tracing)
		return;
	if (!all) {
		scribe_bpf_leaves(d->bpf, on_leaf, d);
		return;
	}
	scribe_bpf_leaves_all(d->bpf, on_leaf, d);
	scribe_shm_segments_take_all(d);
}

int scribe_segments_begin(struct scribe_job *w, struct scribe_err *err)
{
	struct scribe_daemon *d = w->daemon;
	struct scribe_segments *s;
	int rc;

	if (d->resuming && !w->config.dxt)
		scribe_windows_lost(w);
	if (!w->config.dxt || w->segments)
		return 0;
	s = calloc(1, sizeof(*s));
	rc = s ? scribe_segments_job_begins(w, err) : scribe_err_set(err, -ENOMEM, "out of memory");
	if (rc < 0) {
		free(s);
		return rc;
	}
	scribe_segstore_open(&s->store, &d->segpool);
	if (d->resuming)
		s->untold = scribe_bpf_job(d->bpf, w->index)->segments;
	w->segments = s;
	return 0;
}

/*
 * At draining, while the slot is still known: segments of this slot and generation get their file.
 */
void scribe_segments_bind(struct scribe_process *p, const struct scribe_slot_view *v, uint64_t id)
{
	struct scribe_segments *s = p->work->segments;
	struct scribe_rank_trace *t = NULL;
	struct scribe_traced *e;
	const bool untraced = scribe_slot_is_untraced(p->work->daemon, v->index, v->slot);

	if (v->slot->flags & SCRIBE_SF_OPENS)
		scribe_publish_bind(p, v, untraced ? 0 : id);
	if (!(v->slot->flags & SCRIBE_SF_TRACED))
		return;
	scribe_windows_bind(p, v, id);
	if (untraced || p->work->config.exclusion_rules.modules_off >> scribe_trace_module(v->slot->kind) & 1)
		id = 0;
	e = s ? scribe_traced_at(s, v->index, v->slot->generation) : NULL;
	/* without an entry its segments are lost as they come, and counted then */
	if (!e || e->state != SCRIBE_TRACED_UNBOUND)
		return;
	if (id && p->rank)
		t = scribe_rank_trace_of(&p->rank->trace, s);
	scribe_traced_bind(p->work, s, t, e, scribe_traced_module_of(v->slot->kind), id);
}

void scribe_segments_tick(struct scribe_job *w, bool end)
{
	if (!w->windows)
		return;
	/* what is lost before it begins is not the window's */
	if (scribe_windows_wait(w))
		scribe_shm_segments_take_all(w->daemon);
	scribe_windows_begin_due(w);
	if (!scribe_windows_end_due(w, end))
		return;
	scribe_segments_take(w->daemon, true);
	scribe_windows_close(w);
}

void scribe_segments_publish(struct scribe_daemon *d)
{
	bool taken = false;

	for (struct scribe_job *w = d->works; w; w = w->next) {
		if (!scribe_publish_due(w))
			continue;
		if (!taken)
			scribe_segments_take(d, true);
		taken = true;
		scribe_publish_pass(w);
	}
}

void scribe_segments_publish_now(struct scribe_job *w)
{
	if (w->publishing)
		scribe_publish_pass(w);
}

void scribe_segments_publish_rest(struct scribe_job *w)
{
	if (!w->publishing)
		return;
	scribe_segments_take(w->daemon, true);
	scribe_publish_finish(w);
}

void scribe_segments_end(struct scribe_job *w)
{
	scribe_windows_end(w);
	scribe_publish_end(w);
	if (!w->segments)
		return;
	scribe_segments_clear(w->segments);
	free(w->segments);
	w->segments = NULL;
	scribe_segments_job_ends(w);
}
