// SPDX-License-Identifier: BSD-3-Clause
/*
 * Single operations of running jobs for publishers. Owns the subscriptions of a job, and data of freed slots
 * until no segment can refer to them. Must not know sinks, messages, or how a ring is written
 * (subscriber.c).
 */
#include "runtime/daemon/operations/publish.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/base/clock.h"
#include "logfmt/base/publish_ring.h"
#include "logfmt/counters/counters_hdf5.h"
#include "logfmt/counters/module.h"
#include "logfmt/rules/lib_rules.h"
#include "runtime/daemon/operations/segments_private.h"
#include "runtime/daemon/operations/subscriber.h"
#include "runtime/daemon/programs/shm_memory.h"
#include "runtime/daemon/state/record_policy.h"
#include "runtime/daemon/tables/slot_names.h"

#define PASS_NS   100000000ull
#define URGENT_NS 5000000ull    /* while a program's ring fills up */
#define STAYS_NS  1000000000ull /* afterwards */
#define FORGET_NS 1000000000ull /* ten passes: no segment refers to a freed slot after this */
#define NAME_NS   3000000000ull /* longest wait for a file's name */
#define KEPT_MOST 262144u       /* segments, 12 MiB; a pass is made at half of it */

/* Rank and file of a slot. */
struct placing {
	int64_t rank;
	uint64_t id, exe, base_ns; /* id 0: excluded */
	uint32_t module;
	int32_t ndims; /* HDF5 datasets; otherwise -1 */
	int64_t npoints;
};

struct scribe_publish {
	struct scribe_subscriber *first;
	enum { MARK_WANTED, MARK_ASKED, MARK_ALL } marks; /* slots older than the subscription */
	struct scribe_segment *kept;
	size_t n, capacity;
	struct scribe_map gone[2]; /* of freed slots, recent and older */
	uint64_t next_ns, forget_ns, urgent_until_ns;
	uint64_t unkept; /* lost on their way here, last count */
	uint64_t published, lost;
};

#define JOB_FLAGS  (SCRIBE_JF_SEGMENTS | SCRIBE_JF_OPENS)
#define SLOT_FLAGS (SCRIBE_SF_TRACED | SCRIBE_SF_OPENS)

static void mark(struct scribe_job *job)
{
	job->publish->marks = MARK_WANTED;
	scribe_bpf_trace_job(job->daemon->bpf, job->index, JOB_FLAGS, true);
	scribe_shm_segments_wish(job);
}

/* Others may still need reads and writes. */
static void unmark(struct scribe_job *job)
{
	const bool all = !scribe_job_has_dxt(job) && !scribe_windows_marked(job);

	scribe_bpf_trace_job(job->daemon->bpf, job->index, all ? JOB_FLAGS : SCRIBE_JF_OPENS, false);
	scribe_bpf_trace_slots(job->daemon->bpf, job->index, all ? SLOT_FLAGS : SCRIBE_SF_OPENS, false);
	scribe_shm_segments_wish(job);
}

static void mark_rest(struct scribe_job *job)
{
	struct scribe_publish *x = job->publish;

	/* first all programs must have seen the job's flags */
	if (x->marks == MARK_WANTED && scribe_bpf_sync_begin())
		x->marks = MARK_ASKED;
	if (x->marks != MARK_ASKED || !scribe_bpf_sync_done())
		return;
	scribe_bpf_trace_slots(job->daemon->bpf, job->index, SLOT_FLAGS, true);
	x->marks = MARK_ALL;
}

static void count_lost(struct scribe_job *job, uint64_t start_ns, uint64_t n)
{
	for (struct scribe_subscriber *s = job->publish->first; s; s = s->next)
		if (start_ns >= s->since_ns) {
			s->head->lost += n;
			job->publish->lost += n;
		}
}

static void send_event(struct scribe_job *job, const struct scribe_publish_event *e)
{
	for (struct scribe_subscriber *s = job->publish->first; s; s = s->next) {
		if (e->start_ns < s->since_ns)
			continue;
		if (scribe_subscriber_put(s, job, e)) {
			job->publish->published++;
		} else {
			s->head->lost++;
			job->publish->lost++;
		}
	}
}

static uint64_t key_of(uint32_t slot, uint32_t generation)
{
	return (uint64_t)generation << 32 | slot;
}

/* 0: not known. */
static uint64_t exe_of(struct scribe_process *p)
{
	const struct scribe_name_entry *e =
		p->exe ? scribe_name_table_intern(&p->job->names, p->exe, strlen(p->exe)) : NULL;

	return e ? e->id : 0;
}

static struct placing placing_of(struct scribe_process *p, uint32_t kind, uint64_t id)
{
	const struct scribe_log_unit *u = p->unit;

	return (struct placing){.rank = p->rank ? p->rank->rank : -1,
				.id = id,
				.exe = id ? exe_of(p) : 0,
				.base_ns = u && u->base_ns ? u->base_ns
					   : u             ? u->start_ns
							   : 0,
				.module = (uint32_t)scribe_drain_module(kind),
				.ndims = -1,
				.npoints = -1};
}

static struct placing placing_of_slot(struct scribe_process *p, const struct scribe_slot *slot, uint64_t id)
{
	struct placing at = placing_of(p, slot->kind, id);

	if (slot->kind == SCRIBE_KIND_H5D) {
		at.ndims = (int32_t)slot->ext.v[SCRIBE_LIB_H5D_NDIMS];
		at.npoints = (int64_t)slot->ext.v[SCRIBE_LIB_H5D_NPOINTS];
	}
	return at;
}

/* Until two FORGET_NS have passed. */
static void remember(struct scribe_publish *x, uint64_t key, const struct placing *at)
{
	struct placing *e = malloc(sizeof(*e));

	if (!e)
		return; /* its operations count as lost */
	*e = *at;
	free(scribe_map_take(&x->gone[0], key));
	if (scribe_map_put(&x->gone[0], key, e) < 0)
		free(e);
}

static void bind(struct scribe_process *p, const struct scribe_slot_view *v, uint64_t id)
{
	struct placing at;

	if (!(v->slot->flags & SCRIBE_SF_OPENS) || !p->job->publishing)
		return;
	if (scribe_slot_is_untraced(p->job->daemon, v->index, v->slot))
		id = 0;
	if (id && !p->rank)
		return;
	at = placing_of_slot(p, v->slot, id);
	remember(p->job->publish, key_of(v->index, v->slot->generation), &at);
}

/* Standard streams are not slots: a number above all slots, the process as generation. */
#define STANDARD_SLOT (UINT32_MAX - SCRIBE_STANDARD_STREAMS + 1)

static int locate_standard(struct scribe_job *job, uint32_t stream, uint32_t proc_id, bool last, struct placing *ret)
{
	struct scribe_process *p = scribe_worlds_find(&job->worlds, proc_id);
	const struct scribe_name_entry *name;

	if (!p || !p->rank)
		return last ? -ESRCH : 0;
	name = scribe_counter_name_entry(job->daemon, p, 0, stream + 1);
	if (!name || name->excluded || scribe_drain_is_excluded(p, SCRIBE_KIND_STDIO))
		return -ENOENT;
	*ret = placing_of(p, SCRIBE_KIND_STDIO, name->id);
	return 1;
}

static void receive(struct scribe_job *job, const struct scribe_segment *s, uint64_t thread)
{
	struct scribe_publish *x = job->publish;

	if (!job->publishing)
		return;
	if (x->n == x->capacity) {
		const size_t capacity = x->capacity ? 2 * x->capacity : 4096;
		struct scribe_segment *more = capacity <= KEPT_MOST ? realloc(x->kept, capacity * sizeof(*more)) : NULL;

		if (!more) {
			count_lost(job, s->start_ns, 1);
			return;
		}
		x->kept = more;
		x->capacity = capacity;
	}
	x->kept[x->n++] = *s;
	if (x->n >= KEPT_MOST / 2)
		x->next_ns = 0;
}

static void receive_standard(struct scribe_process *p, uint32_t stream, struct scribe_segment *s)
{
	struct scribe_job *job = p->job;
	struct placing at;

	if (!job->publishing || stream >= SCRIBE_STANDARD_STREAMS)
		return;
	s->slot = STANDARD_SLOT + stream;
	s->generation = p->proc_id;
	if (!scribe_map_get(&job->publish->gone[0], key_of(s->slot, s->generation)) &&
	    locate_standard(job, stream, p->proc_id, false, &at) == 1)
		remember(job->publish, key_of(s->slot, s->generation), &at);
	receive(job, s, 0);
}

static void forget(struct scribe_map *m)
{
	for (size_t i = 0; i < m->buckets; i++)
		free(m->entry[i].value);
	scribe_map_clear(m);
}

/* 1; 0: not known yet; -ENOENT: excluded; -ESRCH: the process has ended and left no record. */
static int locate_living(struct scribe_job *job, const struct scribe_segment *s, bool last, struct placing *ret)
{
	struct scribe_daemon *d = job->daemon;
	const struct scribe_slot *slot = scribe_bpf_slot(d->bpf, s->slot);
	const struct scribe_name_entry *name;
	struct scribe_process *p;

	if (!slot || slot->generation != s->generation)
		return -ESRCH;
	p = scribe_worlds_find(&job->worlds, slot->proc_id);
	if (!p || !p->rank)
		return last ? -ESRCH : 0;
	if (scribe_slot_is_untraced(d, s->slot, slot))
		return -ENOENT;
	name = scribe_slot_name_entry(d, s->slot, s->generation);
	/* overflow records get no name event */
	if (!name && slot->kind != SCRIBE_KIND_CATCHALL && !last)
		return 0;
	name = scribe_slot_traced_name(d, p, s->slot, slot);
	if (!name)
		return -ENOENT;
	*ret = placing_of_slot(p, slot, name->id);
	return 1;
}

static int locate(struct scribe_job *job, const struct scribe_segment *s, bool last, struct placing *ret)
{
	const struct scribe_publish *x = job->publish;
	const uint64_t key = key_of(s->slot, s->generation);
	const struct placing *e = scribe_map_get(&x->gone[0], key);

	if (!e)
		e = scribe_map_get(&x->gone[1], key);
	if (!e && s->slot >= STANDARD_SLOT)
		return locate_standard(job, s->slot - STANDARD_SLOT, s->generation, last, ret);
	if (!e)
		return locate_living(job, s, last, ret);
	*ret = *e;
	return e->id ? 1 : -ENOENT;
}

static void urgent(struct scribe_job *job)
{
	if (job->publishing)
		job->publish->urgent_until_ns = scribe_now_ns() + STAYS_NS;
}

static int by_end(const void *a, const void *b)
{
	const struct scribe_segment *x = a, *y = b;

	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static uint8_t op_of(const struct scribe_segment *s)
{
	static const uint8_t ops[] = {
		[SCRIBE_SEGMENT_READ] = SCRIBE_PUBLISH_READ,     [SCRIBE_SEGMENT_WRITE] = SCRIBE_PUBLISH_WRITE,
		[SCRIBE_SEGMENT_OPEN] = SCRIBE_PUBLISH_OPEN,     [SCRIBE_SEGMENT_CLOSE] = SCRIBE_PUBLISH_CLOSE,
		[SCRIBE_SEGMENT_LIB_READ] = SCRIBE_PUBLISH_READ, [SCRIBE_SEGMENT_LIB_WRITE] = SCRIBE_PUBLISH_WRITE,
		[SCRIBE_SEGMENT_FLUSH] = SCRIBE_PUBLISH_FLUSH,
	};

	return s->op < sizeof(ops) ? ops[s->op] : UINT8_MAX;
}

static uint8_t select_of(const struct scribe_segment *s, uint32_t module)
{
	if (module != SCRIBE_MOD_H5D || (s->op != SCRIBE_SEGMENT_LIB_READ && s->op != SCRIBE_SEGMENT_LIB_WRITE))
		return SCRIBE_PUBLISH_SELECT_ALL;
	switch (s->also) {
	case SCRIBE_H5D_POINT_SELECTS:
		return SCRIBE_PUBLISH_SELECT_POINTS;
	case SCRIBE_H5D_IRREGULAR_HYPERSLAB_SELECTS:
		return SCRIBE_PUBLISH_SELECT_IRREGULAR;
	case SCRIBE_H5D_REGULAR_HYPERSLAB_SELECTS:
		return SCRIBE_PUBLISH_SELECT_REGULAR;
	default:
		return SCRIBE_PUBLISH_SELECT_ALL;
	}
}

static void report(struct scribe_job *job, const struct scribe_segment *s, const struct placing *at)
{
	const uint8_t op = op_of(s);
	const struct scribe_publish_event e = {.frame = {sizeof(e), SCRIBE_PUBLISH_EVENT, (uint16_t)job->index},
					       .id = at->id,
					       .exe = at->exe,
					       .rank = at->rank,
					       .offset = op > SCRIBE_PUBLISH_WRITE ? -1 : s->offset,
					       .length = s->bytes,
					       .start_ns = s->start_ns,
					       .end_ns = s->end_ns > s->start_ns ? s->end_ns : s->start_ns,
					       .base_ns = at->base_ns,
					       .module = (uint16_t)at->module,
					       .op = op,
					       .select = select_of(s, at->module),
					       .ndims = at->ndims,
					       .npoints = at->npoints};

	/* shared memory: the program can write anything */
	if (op > SCRIBE_PUBLISH_FLUSH)
		return;
	send_event(job, &e);
}

static void pass(struct scribe_job *job, bool last)
{
	struct scribe_publish *x = job->publish;
	const uint64_t now = scribe_now_ns();
	uint64_t unkept;
	size_t waiting = 0;

	if (x->n)
		qsort(x->kept, x->n, sizeof(*x->kept), by_end);
	for (size_t i = 0; i < x->n; i++) {
		const struct scribe_segment s = x->kept[i];
		struct placing at;
		const int rc = locate(job, &s, last || now > s.end_ns + NAME_NS, &at);

		if (rc == 0)
			x->kept[waiting++] = s;
		else if (rc > 0)
			report(job, &s, &at);
		else if (rc != -ENOENT)
			count_lost(job, s.start_ns, 1);
	}
	x->n = waiting;
	unkept = scribe_segments_unkept(job);
	if (unkept > x->unkept)
		count_lost(job, UINT64_MAX, unkept - x->unkept);
	x->unkept = unkept;
	if (now < x->forget_ns)
		return;
	/* two generations: an entry stays for one interval at least */
	forget(&x->gone[1]);
	x->gone[1] = x->gone[0];
	x->gone[0] = (struct scribe_map){0};
	x->forget_ns = now + FORGET_NS;
}

bool scribe_publish_due(struct scribe_job *job)
{
	uint64_t now;

	if (!job->publishing)
		return false;
	mark_rest(job);
	now = scribe_now_ns();
	if (now < job->publish->urgent_until_ns)
		job->daemon->poll_fast = true;
	return now >= job->publish->next_ns;
}

void scribe_publish_pass(struct scribe_job *job)
{
	const uint64_t now = scribe_now_ns();

	job->publish->next_ns = now + (now < job->publish->urgent_until_ns ? URGENT_NS : PASS_NS);
	pass(job, false);
}

static int publish_begin(struct scribe_job *job, struct scribe_err *err)
{
	int rc = scribe_segments_job_begins(job, err);

	if (rc < 0)
		return rc;
	job->publish = calloc(1, sizeof(*job->publish));
	if (job->publish)
		return 0;
	scribe_segments_job_ends(job);
	return scribe_err_set(err, -ENOMEM, "out of memory");
}

int scribe_publish_subscribe(struct scribe_job *job, uint64_t client, int *ret_fd, struct scribe_err *err)
{
	int rc = job->publish ? 0 : publish_begin(job, err);
	struct scribe_subscriber *s, **at;
	unsigned n = 0;

	if (rc < 0)
		return rc;
	for (at = &job->publish->first; *at; at = &(*at)->next)
		n++;
	if (n >= SCRIBE_PUBLISHERS_MOST)
		return scribe_err_set(err, -EDQUOT, "%u publishers have this job already", n);
	rc = scribe_subscriber_new(&s, client, err);
	if (rc < 0)
		return rc;
	s->since_ns = scribe_now_ns();
	*at = s;
	if (!n) {
		job->publishing = true;
		job->publish->unkept = scribe_segments_unkept(job);
		mark(job);
	}
	*ret_fd = s->fd;
	return 0;
}

void scribe_publish_taken(struct scribe_job *job, uint64_t client, uint64_t bytes)
{
	for (struct scribe_subscriber *s = job->publish ? job->publish->first : NULL; s; s = s->next)
		if (s->client == client && bytes > s->taken && bytes <= s->put)
			s->taken = bytes;
}

void scribe_publish_drop(struct scribe_job *job, uint64_t client)
{
	struct scribe_subscriber **at = job->publish ? &job->publish->first : NULL, *s;

	while (at && *at && (*at)->client != client)
		at = &(*at)->next;
	if (!at || !*at)
		return;
	s = *at;
	*at = s->next;
	scribe_subscriber_free(s);
	if (!job->publish->first && job->publishing) {
		job->publishing = false;
		unmark(job);
		job->publish->n = 0;
	}
}

void scribe_publish_finish(struct scribe_job *job)
{
	if (!job->publishing)
		return;
	pass(job, true);
	for (struct scribe_subscriber *s = job->publish->first; s; s = s->next)
		__atomic_store_n(&s->head->ended, 1, __ATOMIC_RELEASE);
	job->publishing = false;
}

static void end(struct scribe_job *job)
{
	struct scribe_publish *x = job->publish;

	if (!x)
		return;
	while (x->first)
		scribe_publish_drop(job, x->first->client);
	forget(&x->gone[0]);
	forget(&x->gone[1]);
	free(x->kept);
	free(x);
	job->publish = NULL;
	scribe_segments_job_ends(job);
}

void scribe_publish_describe(const struct scribe_job *job, char *text, size_t cap)
{
	const size_t used = strlen(text);
	int n;

	if (!job->publish)
		return;
	n = snprintf(text + used, cap - used, "published=%llu lost %llu\n", (unsigned long long)job->publish->published,
		     (unsigned long long)job->publish->lost);
	if (n < 0 || (size_t)n >= cap - used)
		text[used] = 0;
}

const struct scribe_receiver scribe_receiver_publish = {
	.receive = receive, .receive_standard = receive_standard, .bind = bind, .urgent = urgent, .end = end};
