// SPDX-License-Identifier: BSD-3-Clause
/*
 * States of a window: waiting until records send segments, open, lingering for segments in the kernel's buffers,
 * closed, when segments get rank and name. Windows without a client are freed. Must not know clients, or
 * how logs are written.
 */
#include "runtime/daemon/operations/segment_windows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/base/clock.h"
#include "runtime/daemon/operations/segments_private.h"
#include "runtime/daemon/programs/shm_memory.h"
#include "runtime/daemon/tables/slot_names.h"

/* `client` 0: to be freed. */
struct scribe_window {
	uint64_t client;
	uint64_t length_ns, begin_ns, end_ns;
	enum { WAITING, OPEN, CLOSING, CLOSED } state;
	struct scribe_segments s;
	struct scribe_map ranks; /* rank -> struct scribe_rank_trace */
	uint64_t no_leaf;        /* job's total at its start, then the difference */
	struct scribe_window *next;
};

struct scribe_windows {
	enum { MARK_NONE, MARK_WANTED, MARK_ASKED, MARK_ALL } marks;
	struct scribe_window *first;
	struct note {
		uint64_t begin_ns, end_ns, segments;
	} note[SCRIBE_WINDOWS_MOST]; /* last freed windows */
	unsigned notes;              /* total */
};

static void mark(struct scribe_job *job)
{
	if (job->windows->marks != MARK_NONE)
		return;
	/* all records of a traced job send segments already */
	job->windows->marks = scribe_job_has_dxt(job) ? MARK_ALL : MARK_WANTED;
	if (scribe_job_has_dxt(job))
		return;
	scribe_bpf_trace_job(job->daemon->bpf, job->index, SCRIBE_JF_SEGMENTS, true);
	scribe_shm_segments_wish(job);
}

static void unmark(struct scribe_job *job)
{
	job->windows->marks = MARK_NONE;
	if (scribe_job_has_dxt(job) || job->publishing)
		return;
	scribe_bpf_trace_job(job->daemon->bpf, job->index, SCRIBE_JF_SEGMENTS, false);
	scribe_shm_segments_wish(job);
	scribe_bpf_trace_slots(job->daemon->bpf, job->index, SCRIBE_SF_TRACED, false);
}

bool scribe_windows_marked(const struct scribe_job *job)
{
	return job->windows && job->windows->marks != MARK_NONE;
}

static bool is_marked(struct scribe_job *job)
{
	struct scribe_windows *ws = job->windows;

	/* slots first when no running program is left that has not seen the job's flag */
	if (ws->marks == MARK_WANTED && scribe_bpf_sync_begin())
		ws->marks = MARK_ASKED;
	if (ws->marks == MARK_ASKED && scribe_bpf_sync_done()) {
		scribe_bpf_trace_slots(job->daemon->bpf, job->index, SCRIBE_SF_TRACED, true);
		ws->marks = MARK_ALL;
	}
	return ws->marks == MARK_ALL;
}

void scribe_windows_lost(struct scribe_job *job)
{
	const struct scribe_job_entry *entry = scribe_bpf_job(job->daemon->bpf, job->index);

	if (!entry || !(entry->flags & SCRIBE_JF_SEGMENTS))
		return;
	scribe_bpf_trace_job(job->daemon->bpf, job->index, SCRIBE_JF_SEGMENTS | SCRIBE_JF_OPENS, false);
	scribe_bpf_trace_slots(job->daemon->bpf, job->index, SCRIBE_SF_TRACED | SCRIBE_SF_OPENS, false);
}

uint64_t scribe_segments_unkept(const struct scribe_job *job)
{
	struct scribe_ledger ledger = {0};

	scribe_bpf_ledger(job->daemon->bpf, job->index, &ledger);
	return ledger.v[SCRIBE_L_SEGMENTS_NO_LEAF] + job->losses.rings;
}

int scribe_windows_open(struct scribe_job *job, uint64_t client, uint32_t ms, struct scribe_err *err)
{
	struct scribe_window *x, **at;
	unsigned n = 0;
	int rc;

	if (!job->windows) {
		rc = scribe_segments_job_begins(job, err);
		if (rc < 0)
			return rc;
		job->windows = calloc(1, sizeof(*job->windows));
		if (!job->windows) {
			scribe_segments_job_ends(job);
			return scribe_err_set(err, -ENOMEM, "out of memory");
		}
	}
	for (at = &job->windows->first; *at; at = &(*at)->next)
		n++;
	if (n >= SCRIBE_WINDOWS_MOST)
		return scribe_err_set(err, -EDQUOT, "%u windows are open on this job already", n);
	x = calloc(1, sizeof(*x));
	if (!x)
		return scribe_err_set(err, -ENOMEM, "out of memory");
	x->client = client;
	x->length_ns = (uint64_t)ms * 1000000;
	scribe_segstore_open(&x->s.store, &job->daemon->segpool);
	*at = x;
	mark(job);
	return 0;
}

static void note(struct scribe_windows *ws, const struct scribe_window *x)
{
	ws->note[ws->notes++ % SCRIBE_WINDOWS_MOST] = (struct note){x->begin_ns, x->end_ns, x->s.kept};
}

static void free_window(struct scribe_window *x)
{
	for (size_t i = 0; i < x->ranks.buckets; i++)
		scribe_rank_trace_free(x->ranks.entry[i].value);
	scribe_map_clear(&x->ranks);
	scribe_segments_clear(&x->s);
	free(x);
}

static void sweep(struct scribe_job *job)
{
	struct scribe_window **at = &job->windows->first;
	bool wanted = false;

	while (*at) {
		struct scribe_window *x = *at;

		if (x->client) {
			wanted |= x->state != CLOSED;
			at = &x->next;
			continue;
		}
		*at = x->next;
		if (x->state != WAITING)
			note(job->windows, x);
		free_window(x);
	}
	if (!wanted && job->windows->marks != MARK_NONE)
		unmark(job);
}

unsigned scribe_windows_stop(struct scribe_job *job, uint64_t client)
{
	const uint64_t now = scribe_now_ns();
	unsigned n = 0;

	for (struct scribe_window *x = job->windows ? job->windows->first : NULL; x; x = x->next) {
		if (x->state == CLOSED || (client && x->client != client))
			continue;
		n++;
		/* opens and ends at once, so that the client gets a log */
		if (x->state == WAITING)
			x->length_ns = 0;
		else if (x->end_ns > now)
			x->end_ns = now;
	}
	return n;
}

unsigned scribe_windows_count(const struct scribe_job *job)
{
	unsigned n = 0;

	for (const struct scribe_window *x = job->windows ? job->windows->first : NULL; x; x = x->next)
		n += x->state == OPEN;
	return n;
}

void scribe_windows_drop(struct scribe_job *job, uint64_t client)
{
	if (!job->windows)
		return;
	for (struct scribe_window *x = job->windows->first; x; x = x->next)
		if (x->client == client)
			x->client = 0;
	sweep(job);
}

bool scribe_windows_wait(const struct scribe_job *job)
{
	for (const struct scribe_window *x = job->windows->first; x; x = x->next)
		if (x->state == WAITING)
			return true;
	return false;
}

void scribe_windows_begin_due(struct scribe_job *job)
{
	bool marked = false;

	for (struct scribe_window *x = job->windows->first; x; x = x->next) {
		if (x->state != WAITING)
			continue;
		if (!marked && !is_marked(job))
			return;
		marked = true;
		x->no_leaf = scribe_segments_unkept(job);
		x->begin_ns = scribe_now_ns();
		x->end_ns = x->begin_ns + x->length_ns;
		x->state = OPEN;
	}
}

bool scribe_windows_end_due(struct scribe_job *job, bool end)
{
	const uint64_t now = scribe_now_ns();
	bool due = false;

	for (struct scribe_window *x = job->windows->first; x; x = x->next) {
		if (x->state == WAITING && end) {
			x->no_leaf = scribe_segments_unkept(job);
			x->begin_ns = x->end_ns = now;
		} else if (x->state != OPEN || (!end && now < x->end_ns + SCRIBE_WINDOW_LINGER_NS)) {
			continue;
		}
		if (x->end_ns > now)
			x->end_ns = now;
		x->state = CLOSING;
		due = true;
	}
	return due;
}

static void receive(struct scribe_job *job, const struct scribe_segment *from, uint64_t thread)
{
	if (from->op > SCRIBE_SEGMENT_WRITE)
		return;
	for (struct scribe_window *x = job->windows ? job->windows->first : NULL; x; x = x->next) {
		if ((x->state != OPEN && x->state != CLOSING) || from->start_ns < x->begin_ns ||
		    from->start_ns >= x->end_ns)
			continue;
		if (x->s.kept < SCRIBE_WINDOW_SEGMENTS_MOST)
			scribe_segment_keep(&x->s, from, thread);
		else
			x->s.no_room++;
	}
}

static void bind_track(struct scribe_process *p, struct scribe_window *x, struct scribe_traced *e,
		       enum scribe_traced_module module, uint64_t id)
{
	struct scribe_rank_trace *t = NULL;

	if (id && p->rank) {
		const uint64_t rank = (uint64_t)p->rank->rank;

		t = scribe_map_get(&x->ranks, rank);
		if (!t && scribe_rank_trace_of(&t, &x->s) && scribe_map_put(&x->ranks, rank, t) < 0) {
			scribe_rank_trace_free(t);
			t = NULL;
		}
	}
	scribe_traced_bind(p->job, &x->s, t, e, module, id);
}

static void bind(struct scribe_process *p, const struct scribe_slot_view *v, uint64_t id)
{
	if (!(v->slot->flags & SCRIBE_SF_TRACED))
		return;
	for (struct scribe_window *x = p->job->windows ? p->job->windows->first : NULL; x; x = x->next) {
		struct scribe_traced *e;

		if (x->state == WAITING || x->state == CLOSED)
			continue;
		e = scribe_traced_at(&x->s, v->index, v->slot->generation);
		if (e && e->state == SCRIBE_TRACED_UNBOUND)
			bind_track(p, x, e, scribe_traced_module_of(v->slot->kind), id);
	}
}

static void bind_living(struct scribe_job *job, struct scribe_window *x, uint64_t key, struct scribe_traced *e)
{
	const struct scribe_slot *slot = scribe_bpf_slot(job->daemon->bpf, (uint32_t)key);
	const uint64_t n = e->track.side[0].n + e->track.side[1].n;
	struct scribe_process *p;
	const struct scribe_name_entry *name;

	p = slot && slot->generation == key >> 32 ? scribe_worlds_find(&job->worlds, slot->proc_id) : NULL;
	/* the process has ended or the slot was reused: rank and name are not known */
	if (!p) {
		x->s.no_room += n;
		x->s.kept -= n;
		scribe_track_clear(&x->s.store, &e->track);
		return;
	}
	name = scribe_slot_traced_name(job->daemon, p, (uint32_t)key, slot);
	bind_track(p, x, e, scribe_traced_module_of(slot->kind), name ? name->id : 0);
}

static void bind_rest(struct scribe_job *job, struct scribe_window *x)
{
	uint64_t *keys = scribe_map_keys(&x->s.by_slot);

	/* sorted, so that logs have a fixed order of records */
	for (size_t i = 0; keys && i < x->s.by_slot.used; i++) {
		struct scribe_traced *e = scribe_map_get(&x->s.by_slot, keys[i]);

		if (e->state == SCRIBE_TRACED_UNBOUND)
			bind_living(job, x, keys[i], e);
	}
	if (!keys)
		x->s.no_room++;
	free(keys);
}

void scribe_windows_close(struct scribe_job *job)
{
	for (struct scribe_window *x = job->windows->first; x; x = x->next) {
		if (x->state != CLOSING)
			continue;
		bind_rest(job, x);
		x->no_leaf = scribe_segments_unkept(job) - x->no_leaf;
		x->state = CLOSED;
	}
	sweep(job);
}

struct scribe_window *scribe_windows_closed(struct scribe_job *job, uint64_t *ret_client)
{
	for (struct scribe_window *x = job->windows ? job->windows->first : NULL; x; x = x->next)
		if (x->state == CLOSED && x->client) {
			*ret_client = x->client;
			return x;
		}
	return NULL;
}

int scribe_window_file(const struct scribe_window *x)
{
	return x->s.store.fd;
}

struct scribe_window_sums scribe_window_sums(const struct scribe_window *x)
{
	struct scribe_window_sums s = {.begin_ns = x->begin_ns, .end_ns = x->end_ns};

	s.ledger.v[SCRIBE_L_SEGMENTS] = x->s.kept;
	s.ledger.v[SCRIBE_L_SEGMENTS_NO_LEAF] = x->no_leaf;
	s.ledger.v[SCRIBE_L_SEGMENTS_NO_ROOM] = x->s.no_room;
	if (x->no_leaf || x->s.no_room)
		s.partial = scribe_segments_missing(&x->s);
	return s;
}

int scribe_window_names(const struct scribe_window *x, int (*fn)(void *ctx, uint64_t id), void *ctx)
{
	uint64_t *rank = scribe_map_keys(&x->ranks);
	int rc = rank ? 0 : -ENOMEM;

	for (size_t i = 0; i < x->ranks.used && rc == 0; i++)
		rc = scribe_rank_trace_names(scribe_map_get(&x->ranks, rank[i]), fn, ctx);
	free(rank);
	return rc;
}

int scribe_window_write(const struct scribe_job *job, const struct scribe_window *x, uint64_t base_ns,
			struct scribe_writer *wr)
{
	const size_t n = x->ranks.used;
	uint64_t *rank = scribe_map_keys(&x->ranks);
	int rc = rank ? 0 : -ENOMEM;

	for (size_t i = 0; i < SCRIBE_TRACED_MODULES * n && rc == 0; i++)
		rc = scribe_rank_trace_write(job, (int64_t)rank[i % n], scribe_map_get(&x->ranks, rank[i % n]),
					     (enum scribe_traced_module)(i / n), base_ns, wr);
	free(rank);
	return rc;
}

void scribe_windows_describe(const struct scribe_job *job, uint64_t base_ns, uint64_t end_ns, char *text, size_t cap)
{
	const struct scribe_windows *ws = job->windows;
	struct note all[2 * SCRIBE_WINDOWS_MOST];
	unsigned n = 0, kept = ws && ws->notes > SCRIBE_WINDOWS_MOST ? SCRIBE_WINDOWS_MOST : ws ? ws->notes : 0;
	size_t used = strlen(text);

	for (unsigned i = 0; i < kept; i++)
		all[n++] = ws->note[(ws->notes - kept + i) % SCRIBE_WINDOWS_MOST];
	for (const struct scribe_window *x = ws ? ws->first : NULL; x; x = x->next)
		if (x->state != WAITING)
			all[n++] = (struct note){x->begin_ns, x->end_ns, x->s.kept};
	for (unsigned i = 0, number = 0; i < n; i++) {
		int len;

		if (all[i].begin_ns > end_ns || all[i].end_ns < base_ns)
			continue;
		len = snprintf(text + used, cap - used, "window_%u=begin %.6f end %.6f segments %llu\n", ++number,
			       scribe_seconds_between(base_ns, all[i].begin_ns),
			       scribe_seconds_between(base_ns, all[i].end_ns < end_ns ? all[i].end_ns : end_ns),
			       (unsigned long long)all[i].segments);
		if (len < 0 || (size_t)len >= cap - used) {
			text[used] = 0;
			return;
		}
		used += (size_t)len;
	}
}

static void end(struct scribe_job *job)
{
	if (!job->windows)
		return;
	while (job->windows->first) {
		struct scribe_window *x = job->windows->first;

		job->windows->first = x->next;
		free_window(x);
	}
	free(job->windows);
	job->windows = NULL;
	scribe_segments_job_ends(job);
}

const struct scribe_receiver scribe_receiver_windows = {.receive = receive, .bind = bind, .end = end};
