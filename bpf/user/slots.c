// SPDX-License-Identifier: BSD-3-Clause
/*
 * Drains records of exited processes in place, of running ones as consistent copies; sweeps the table of open
 * descriptions. Slots, links and rings are shared with kernel programs and change atomically. Main thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bpf/kern/slot_index.h"
#include "bpf/user/load_private.h"
#include "bpf/user/map_calls.h"
#include "logfmt/base/clock.h"

/* With naps of 20 us after every 64: about 6 ms per shard. */
#define DRAIN_LOCK_TRIES 20000
#define DRAIN_BATCH      4096
#define DRAIN_LOOK_EVERY 16
/* exited processes */
#define DRAIN_SWEEP_EVERY 512

/* As in bpf/kern/maps.bpf.h. */
struct drain_desc_key {
	uint64_t file, proc_id;
};

static struct scribe_value_table *table_at(struct scribe_bpf *b, uint32_t index)
{
	return index ? scribe_chunks_at(&b->tables, index - 1) : NULL;
}

static struct scribe_heat_table *heat_at(struct scribe_bpf *b, uint32_t index)
{
	return index ? scribe_chunks_at(&b->heats, index - 1) : NULL;
}

/* Pointers into the map, valid until the slot is freed. */
static void view_add(struct scribe_bpf *b, struct scribe_slot_view *v, const struct scribe_slot *s)
{
	v->shard[v->nshards] = &s->shard;
	v->ext[v->nshards] = &s->ext;
	v->part[v->nshards] = s;
	v->access[v->nshards] = table_at(b, s->shard.access_table);
	v->stride[v->nshards] = table_at(b, s->shard.stride_table);
	v->heat[v->nshards] = &s->heat;
	v->heat_table[v->nshards] = heat_at(b, s->heat.table);
	v->nshards++;
}

/* For exited processes: no copy. */
static void view_direct(struct scribe_bpf *b, uint32_t index, struct scribe_slot_view *v)
{
	struct scribe_slot *s = scribe_bpf_slot(b, index);

	memset(v, 0, sizeof(*v));
	v->index = index;
	v->slot = s;
	view_add(b, v, s);
	for (int i = 0; i < SCRIBE_EXTRA_SHARDS; i++) {
		struct scribe_slot *shard = scribe_bpf_slot(b, s->shards[i]);

		if (s->shards[i] && shard)
			view_add(b, v, shard);
	}
}

static void nap(void)
{
	struct timespec ts = {.tv_nsec = 20000};

	nanosleep(&ts, NULL);
}

/* For records that may be written concurrently. */
struct drain_copy {
	struct scribe_slot slot[1 + SCRIBE_EXTRA_SHARDS];
	struct scribe_value_table table[1 + SCRIBE_EXTRA_SHARDS][2];
	struct scribe_heat_table heat[1 + SCRIBE_EXTRA_SHARDS];
};

static void copy_shard(struct scribe_bpf *b, const struct scribe_slot *from, struct scribe_slot *to,
		       struct scribe_value_table table[2], struct scribe_heat_table *heat)
{
	const volatile uint32_t *lock = &from->shard.lock;

	for (int i = 0; i < DRAIN_LOCK_TRIES; i++) {
		uint32_t before = __atomic_load_n(lock, __ATOMIC_ACQUIRE);
		struct scribe_value_table *t;
		struct scribe_heat_table *h;

		/* Odd: a writer is active, and may wait for this processor. */
		if (before & 1) {
			if (i % 64 == 63)
				nap();
			continue;
		}
		*to = *from;
		if ((t = table_at(b, to->shard.access_table)))
			table[0] = *t;
		if ((t = table_at(b, to->shard.stride_table)))
			table[1] = *t;
		if ((h = heat_at(b, to->heat.table)))
			*heat = *h;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		/* The same even value before and after: no writer in between. */
		if (__atomic_load_n(lock, __ATOMIC_RELAXED) == before)
			return;
	}
	/* The atomic shard is not locked; a writer may be stuck. */
	*to = *from;
	if (heat_at(b, to->heat.table))
		*heat = *heat_at(b, to->heat.table);
}

static void view_copy(struct scribe_bpf *b, uint32_t index, struct drain_copy *c, struct scribe_slot_view *v)
{
	memset(v, 0, sizeof(*v));
	copy_shard(b, scribe_bpf_slot(b, index), &c->slot[0], c->table[0], &c->heat[0]);
	v->index = index;
	v->slot = &c->slot[0];
	view_add(b, v, &c->slot[0]);
	for (int i = 0; i < SCRIBE_EXTRA_SHARDS; i++) {
		const struct scribe_slot *shard = scribe_bpf_slot(b, c->slot[0].shards[i]);

		if (!c->slot[0].shards[i] || !shard)
			continue;
		copy_shard(b, shard, &c->slot[i + 1], c->table[i + 1], &c->heat[i + 1]);
		view_add(b, v, &c->slot[i + 1]);
	}
	/* view_add found tables in the map; the consistent ones are copies */
	for (unsigned n = 0, i = 0; i <= SCRIBE_EXTRA_SHARDS; i++) {
		if (i && !c->slot[0].shards[i - 1])
			continue;
		if (v->access[n])
			v->access[n] = &c->table[i][0];
		if (v->stride[n])
			v->stride[n] = &c->table[i][1];
		if (v->heat_table[n])
			v->heat_table[n] = &c->heat[i];
		n++;
	}
}

static void view_count(const struct scribe_slot_view *v, uint64_t sum[2])
{
	for (unsigned i = 0; i < v->nshards; i++)
		sum[v->slot->kind == SCRIBE_KIND_CATCHALL] += v->shard[i]->events;
}

static void job_count(struct scribe_job_entry *job, const uint64_t sum[2])
{
	job->recorded += sum[0];
	job->overflowed += sum[1];
}

static bool slot_speaks(const struct scribe_slot *s, uint32_t proc_id)
{
	return s->proc_id == proc_id && s->state == SCRIBE_SLOT_LIVE && s->kind != SCRIBE_KIND_SHARD;
}

/* 0 also if the link stays PENDING, between taking the list's head and storing it. */
uint32_t scribe_slot_next(const struct scribe_slot *s)
{
	for (int i = 0; i < DRAIN_LOCK_TRIES; i++) {
		uint32_t next = __atomic_load_n(&s->next, __ATOMIC_ACQUIRE);

		if (next != SCRIBE_LINK_PENDING)
			return next;
		if (i % 64 == 63)
			nap();
	}
	return 0;
}

static void index_forget(struct scribe_bpf *b, uint32_t slot, const struct scribe_slot *s)
{
	struct scribe_file_key key = {s->proc_id, s->dev, s->ino, s->hash};
	uint64_t hash = scribe_index_hash(&key), want = scribe_index_cell(hash, slot);
	uint64_t *cells = b->index.mem;
	uint32_t mask = b->index.entries - 1;

	for (uint32_t i = 0; i < SCRIBE_INDEX_PROBES; i++) {
		uint32_t at = scribe_index_at(hash, i) & mask;
		uint64_t next;

		if (__atomic_load_n(&cells[at], __ATOMIC_RELAXED) != want)
			continue;
		next = __atomic_load_n(&cells[(at + 1) & mask], __ATOMIC_RELAXED);
		/* Lookups pass GONE and end at an empty cell: only the last of a chain may become empty. */
		__atomic_store_n(&cells[at], next ? SCRIBE_INDEX_GONE : 0, __ATOMIC_RELEASE);
		return;
	}
}

static void table_give(struct scribe_bpf *b, uint32_t index)
{
	struct scribe_value_table *t = table_at(b, index);

	if (!t)
		return;
	memset(t, 0, sizeof(*t));
	scribe_ring_give(b, &b->tab_free, &b->ctl->tables, index);
}

static void heat_give(struct scribe_bpf *b, uint32_t index)
{
	struct scribe_heat_table *t = heat_at(b, index);

	if (!t)
		return;
	memset(t, 0, sizeof(*t));
	scribe_ring_give(b, &b->heat_free, &b->ctl->heats, index);
}

static void slot_give(struct scribe_bpf *b, struct scribe_job_entry *job, uint32_t index)
{
	struct scribe_slot *s = scribe_bpf_slot(b, index);
	/* Kept: names and journals refer to slot and generation. */
	uint32_t generation = s->generation;

	if (s->flags & SCRIBE_SF_FROM_RESERVE)
		__sync_fetch_and_sub(&job->kept, 1);

	table_give(b, s->shard.access_table);
	table_give(b, s->shard.stride_table);
	heat_give(b, s->heat.table);
	memset(s, 0, sizeof(*s));
	s->generation = generation;
	scribe_ring_give(b, &b->slot_free, &b->ctl->slots, index);
}

/* Removes cache entries of ended processes. Rare, because they only cost memory. */
static void sweep(struct scribe_bpf *b)
{
	struct drain_desc_key *keys = calloc(DRAIN_BATCH, sizeof(*keys));
	void *values = calloc(DRAIN_BATCH, 16);
	uint32_t *alive = calloc(b->procs.entries, 2 * sizeof(*alive)); /* with parents: mappings are inherited */
	uint32_t nalive = 0, in, out;
	void *at = NULL;
	int ret = 0;

	if (keys && values && alive) {
		for (uint32_t i = 1; i < b->procs.entries; i++) {
			const struct scribe_proc *p = scribe_bpf_proc(b, i);

			if (p->proc_id)
				alive[nalive++] = p->proc_id;
			if (p->proc_id && p->parent_serial && p->parent_serial != alive[nalive - 1])
				alive[nalive++] = p->parent_serial;
		}
		while (!ret) {
			uint32_t count = DRAIN_BATCH, gone = 0;

			ret = scribe_map_lookup_batch(b->descs_fd, at, &out, keys, values, &count);
			/* ENOENT marks the last batch, which is still valid. */
			if (ret && errno != ENOENT)
				break;
			for (uint32_t i = 0; i < count; i++) {
				uint32_t k = 0;

				while (k < nalive && alive[k] != keys[i].proc_id)
					k++;
				if (k == nalive)
					keys[gone++] = keys[i];
			}
			if (gone)
				scribe_map_delete_batch(b->descs_fd, keys, &gone);
			in = out;
			at = &in;
		}
	}
	free(alive);
	free(values);
	free(keys);
}

/* `until_ns` 0: never. Reads the clock only at every DRAIN_LOOK_EVERY-th slot. */
static bool is_late(uint64_t until_ns, uint32_t n)
{
	return until_ns && n % DRAIN_LOOK_EVERY == DRAIN_LOOK_EVERY - 1 && scribe_now_ns() >= until_ns;
}

/* False: deadline. */
static bool list_give(struct scribe_bpf *b, struct scribe_proc *p, uint64_t until_ns)
{
	struct scribe_job_entry *job = scribe_job_of(b, p->job);
	uint32_t index = p->head;

	for (uint32_t n = 0; index; n++) {
		struct scribe_slot *s = scribe_bpf_slot(b, index);
		uint32_t next;

		if (!s || s->proc_id != p->proc_id)
			break;
		if (is_late(until_ns, n))
			return false;
		next = scribe_slot_next(s);
		/* head first: a slot is never in two lists; a crash here loses one slot */
		__atomic_store_n(&p->head, next, __ATOMIC_SEQ_CST);
		if (s->kind != SCRIBE_KIND_CATCHALL && s->kind != SCRIBE_KIND_SHARD) {
			__sync_fetch_and_sub(&job->used, 1);
			index_forget(b, index, s);
		}
		for (int i = 0; i < SCRIBE_EXTRA_SHARDS; i++) {
			if (s->shards[i] && s->shards[i] <= b->opt.slots)
				slot_give(b, job, s->shards[i]);
		}
		slot_give(b, job, index);
		index = next;
	}
	return true;
}

/* 1: deadline. */
static int walk_ended(struct scribe_bpf *b, struct scribe_proc *p, struct scribe_bpf_walk *w, uint64_t until_ns,
		      scribe_slot_fn fn, void *ctx)
{
	struct scribe_slot_view v;
	int ret;

	if (!w->started)
		w->next = p->head;
	w->started = true;
	for (uint32_t n = 0; w->next; n++) {
		struct scribe_slot *s = scribe_bpf_slot(b, w->next);

		if (!s)
			return -EIO;
		if (is_late(until_ns, n))
			return 1;
		if (slot_speaks(s, p->proc_id)) {
			view_direct(b, w->next, &v);
			ret = fn ? fn(ctx, &v) : 0;
			if (ret)
				return ret;
			view_count(&v, w->sum);
		}
		w->next = scribe_slot_next(s);
	}
	return 0;
}

int scribe_bpf_walk(struct scribe_bpf *b, uint32_t proc, struct scribe_bpf_walk *w, uint64_t until_ns,
		    scribe_slot_fn fn, void *ctx)
{
	struct scribe_proc *p = scribe_bpf_proc(b, proc);

	return p && p->proc_id ? walk_ended(b, p, w, until_ns, fn, ctx) : -EINVAL;
}

int scribe_bpf_drain_and_free(struct scribe_bpf *b, uint32_t proc, scribe_slot_fn fn, void *ctx)
{
	struct scribe_bpf_walk w = {0};
	int ret = scribe_bpf_walk(b, proc, &w, 0, fn, ctx);

	return ret ? ret : scribe_bpf_give(b, proc, &w, 0);
}

int scribe_bpf_give(struct scribe_bpf *b, uint32_t proc, const struct scribe_bpf_walk *w, uint64_t until_ns)
{
	struct scribe_proc *p = scribe_bpf_proc(b, proc);
	struct scribe_job_entry *job;

	if (!p || !p->proc_id)
		return -EINVAL;
	job = scribe_job_of(b, p->job);
	if (!(__atomic_fetch_or(&p->flags, SCRIBE_PF_COUNTED, __ATOMIC_SEQ_CST) & SCRIBE_PF_COUNTED))
		job_count(job, w->sum);
	if (!list_give(b, p, until_ns))
		return 1;
	memset(p, 0, sizeof(*p));
	__sync_fetch_and_sub(&job->proc_used, 1);
	scribe_ring_give(b, &b->proc_free, &b->ctl->procs, proc);
	if (++b->harvested >= DRAIN_SWEEP_EVERY) {
		b->harvested = 0;
		sweep(b);
	}
	return 0;
}

static bool anything_in(const struct scribe_slot *s)
{
	static const struct scribe_ext_shard none;

	if (s->shards[0])
		return true;
	return s->shard.lock != 0 || memcmp(&s->ext, &none, sizeof(none)) != 0;
}

int scribe_bpf_drain_live(struct scribe_bpf *b, uint32_t proc, scribe_slot_fn fn, void *ctx)
{
	struct scribe_proc *p = scribe_bpf_proc(b, proc);
	struct drain_copy *copy;
	struct scribe_slot_view v;
	uint32_t index, proc_id;
	uint64_t sum[2] = {0};
	int ret = 0;

	if (!p || !p->proc_id)
		return -EINVAL;
	copy = malloc(sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	proc_id = p->proc_id;
	for (index = __atomic_load_n(&p->head, __ATOMIC_ACQUIRE); index && !ret;) {
		struct scribe_slot *s = scribe_bpf_slot(b, index);

		if (!s)
			break;
		if (slot_speaks(s, proc_id)) {
			if (s->kind == SCRIBE_KIND_CATCHALL)
				__atomic_store_n(&p->catchall, 0, __ATOMIC_SEQ_CST);
			__atomic_store_n(&s->state, SCRIBE_SLOT_RETIRED, __ATOMIC_SEQ_CST);
			/* Retired first: programs make a new record, and only lock holders still write. */
			index_forget(b, index, s);
			if (s->shards[SCRIBE_EXTRA_SHARDS - 1])
				nap();
			/* The atomic shard is not locked: give its writers time to end. */
			view_copy(b, index, copy, &v);
			if (anything_in(v.slot))
				ret = fn(ctx, &v);
			if (!ret)
				view_count(&v, sum);
		}
		index = scribe_slot_next(s);
	}
	job_count(scribe_job_of(b, p->job), sum);
	free(copy);
	return ret;
}
