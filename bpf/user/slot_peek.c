// SPDX-License-Identifier: BSD-3-Clause
/*
 * Sums of a record in use, in bounded time: a shard is copied between equal, even lock values; after LOOK_TRIES
 * the last copy counts, which may lack the current operation. Main thread. Must not change anything.
 */
#include <errno.h>

#include "bpf/user/load_private.h"

#define LOOK_TRIES 32

static void add_once(const struct scribe_posix_shard *p, struct scribe_slot_copy *l)
{
	l->events += p->events;
	l->opens += p->opens;
	l->stats += p->stats;
	for (int i = 0; i < 2; i++) {
		l->ops[i] += p->ops[i];
		l->bytes[i] += p->bytes[i];
		if (p->max_ns[i] > l->max_ns[i])
			l->max_ns[i] = p->max_ns[i];
	}
	for (int i = 0; i < 3; i++)
		l->busy_ns[i] += p->busy_ns[i];
}

static void add_shard(const struct scribe_posix_shard *p, struct scribe_slot_copy *l)
{
	const struct scribe_slot_copy before = *l;

	for (int i = 0; i < LOOK_TRIES; i++) {
		uint32_t lock = __atomic_load_n(&p->lock, __ATOMIC_ACQUIRE);

		*l = before;
		add_once(p, l);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		/* The sums must be read before the second read of the lock. */
		if (!(lock & 1) && __atomic_load_n(&p->lock, __ATOMIC_RELAXED) == lock)
			return;
	}
}

static bool has_anything(struct scribe_bpf *b, const struct scribe_slot *s, struct scribe_slot_copy *l)
{
	*l = (struct scribe_slot_copy){.kind = s->kind, .generation = s->generation};
	add_shard(&s->shard, l);
	for (int i = 0; i < SCRIBE_EXTRA_SHARDS; i++) {
		const struct scribe_slot *shard = s->shards[i] ? scribe_bpf_slot(b, s->shards[i]) : NULL;

		if (shard)
			add_shard(&shard->shard, l);
	}
	return l->events > 0;
}

int scribe_bpf_peek(struct scribe_bpf *b, uint32_t proc, uint32_t *slot, struct scribe_slot_copy *ret_copy)
{
	const struct scribe_proc *p = scribe_bpf_proc(b, proc);
	const struct scribe_slot *s = scribe_bpf_slot(b, *slot);
	uint32_t next = SCRIBE_LINK_PENDING;
	bool speaks;

	if (!p || !p->proc_id || !s || !*slot || s->proc_id != p->proc_id || s->kind == SCRIBE_KIND_SHARD)
		return -ENOENT;
	for (int i = 0; i < LOOK_TRIES && next == SCRIBE_LINK_PENDING; i++)
		next = __atomic_load_n(&s->next, __ATOMIC_ACQUIRE);
	if (next == SCRIBE_LINK_PENDING)
		return -EAGAIN;
	speaks = s->state == SCRIBE_SLOT_LIVE && !(s->flags & SCRIBE_SF_EXCLUDED) && has_anything(b, s, ret_copy);
	*slot = next;
	return speaks;
}

static void add_undrained(struct scribe_bpf *b, const struct scribe_proc *p, uint64_t events[2])
{
	uint32_t next;

	for (uint32_t slot = __atomic_load_n(&p->head, __ATOMIC_ACQUIRE); slot; slot = next) {
		const struct scribe_slot *s = scribe_bpf_slot(b, slot);
		struct scribe_slot_copy l;

		if (!s || s->proc_id != p->proc_id)
			return;
		if (s->kind != SCRIBE_KIND_SHARD && s->state == SCRIBE_SLOT_LIVE && has_anything(b, s, &l))
			events[(s->flags & SCRIBE_SF_EXCLUDED) != 0] += l.events;
		next = scribe_slot_next(s);
	}
}

void scribe_bpf_undrained(struct scribe_bpf *b, uint32_t job, uint64_t ret_events[2])
{
	ret_events[0] = ret_events[1] = 0;
	for (uint32_t i = 1; i < b->procs.entries; i++) {
		const struct scribe_proc *p = scribe_bpf_proc(b, i);

		/* Records of COUNTED processes are in the job's sums already. */
		if (p && p->proc_id && p->job == job && !(p->flags & SCRIBE_PF_COUNTED))
			add_undrained(b, p, ret_events);
	}
}
