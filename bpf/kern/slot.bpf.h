/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds or makes the slot of a file and locks a shard. Index and generation together detect stale references.
 * Overflow goes to the process's catch-all or counts as lost.
 */
#ifndef BPF_KERN_SLOT_BPF_H
#define BPF_KERN_SLOT_BPF_H

#include "bpf/kern/dentry_path.bpf.h"

#define S_IFMT              00170000
#define S_IFREG             0100000
#define S_IFCHR             0020000
#define S_IFDIR             0040000
#define S_IFLNK             0120000
#define SCRIBE_SB_KERNMOUNT (1u << 22)
#define SCRIBE_MAGIC_LUSTRE 0x0bd00bd0
#define SCRIBE_LUSTRE_ALIGN (1u << 20)

SCRIBE_GLOBAL __u32 scribe_slot_pop(__u32 low)
{
	struct scribe_ctl *ctl = scribe_ctl_get();
	__u32 index = SCRIBE_NO_SLOT;

	if (!ctl)
		return SCRIBE_NO_SLOT;
	SCRIBE_POP(scribe_slot_free, &ctl->slots, scribe_slot_mask, low, index);
	return index;
}

/* Wakes the grower. Inline, because call chains are limited to eight functions. */
static __always_inline void scribe_ask(void)
{
	__u64 *ask = bpf_ringbuf_reserve(&scribe_asked, sizeof(*ask), 0);

	if (!ask)
		return; /* full: it was woken and has not run yet */
	*ask = 0;
	bpf_ringbuf_submit(ask, BPF_RB_FORCE_WAKEUP);
}

/* For calls that may create a file: the processor fetches the lines meanwhile. */
static __always_inline void scribe_slot_prefetch(void)
{
	struct scribe_ctl *ctl = scribe_ctl_get();
	struct scribe_ring_pair *next;
	struct scribe_slot *s;
	__u32 head, at;

	if (!ctl)
		return;
	head = *(volatile __u32 *)&ctl->slots.head;
	at = (head & scribe_slot_mask) / 2;
	next = bpf_map_lookup_elem(&scribe_slot_free, &at);
	s = next ? scribe_slot_at(next->at[head & 1]) : 0;
	if (!s)
		return;
	(void)*(volatile __u32 *)&s->state;
	(void)*(volatile __u32 *)&s->cursor.last_op;
	(void)*(volatile __u64 *)&s->ext.v[SCRIBE_EXT_CLOSE_NS];
	(void)*(volatile __u32 *)&s->shard.lock;
	(void)*(volatile __u64 *)&s->shard.close_end;
}

/* The daemon may walk the list at the same time. */
static __always_inline void scribe_slot_link(struct scribe_proc *p, struct scribe_slot *s, __u32 index)
{
	*(volatile __u32 *)&s->next = SCRIBE_LINK_PENDING;
	*(volatile __u32 *)&s->next = __sync_lock_test_and_set(&p->head, index);
}

/* Beyond the quota, and from the job's reserve when the pool is used up. */
static __always_inline __u32 scribe_slot_kept(struct scribe_ctl *ctl, struct scribe_job_entry *job, __u32 *ret_flags)
{
	__u32 index = scribe_slot_pop(ctl->slots.reserve);

	if (index)
		return index;
	if (__sync_fetch_and_add(&job->kept, 1) < job->reserve)
		index = scribe_slot_pop(0);
	if (index)
		*ret_flags = SCRIBE_SF_FROM_RESERVE;
	else
		__sync_fetch_and_add(&job->kept, -1);
	return index;
}

static __always_inline __u32 scribe_slot_own(struct scribe_ctl *ctl, struct scribe_job_entry *job)
{
	__u32 index = 0;

	if (__sync_fetch_and_add(&job->used, 1) < job->quota)
		index = scribe_slot_pop(ctl->slots.reserve);
	if (!index)
		__sync_fetch_and_add(&job->used, -1);
	return index;
}

#define SCRIBE_ASK_EACH 256 /* slots taken while few are left */

/* The daemon adds slots in time, unless few are left. */
static __always_inline void scribe_slots_request(struct scribe_ctl *ctl)
{
	__u32 left = *(volatile __u32 *)&ctl->slots.tail - *(volatile __u32 *)&ctl->slots.head;

	if (left < ctl->slots.low && left % SCRIBE_ASK_EACH == 0)
		scribe_ask();
}

/* In no list yet; 0: none. */
SCRIBE_GLOBAL __u32 scribe_slot_new(struct scribe_proc *p, __u32 proc, __u32 kind)
{
	struct scribe_ctl *ctl = scribe_ctl_get();
	__u32 index, flags = 0;
	struct scribe_slot *s;
	struct scribe_job_entry *job;

	if (!p || !ctl)
		return 0;
	job = scribe_job_at(p->job);
	if (!job)
		return 0;
	if (kind == SCRIBE_KIND_CATCHALL || kind == SCRIBE_KIND_SHARD)
		index = scribe_slot_kept(ctl, job, &flags);
	else
		index = scribe_slot_own(ctl, job);
	scribe_slots_request(ctl);
	s = index ? scribe_slot_at(index) : 0;
	if (!s)
		return 0;
	/* arithmetic, because the verifier follows both sides of a branch */
	flags |= (job->flags / SCRIBE_JF_SEGMENTS & SCRIBE_TRACED_KINDS >> (kind & 31) & 1) * SCRIBE_SF_TRACED;
	flags |= (job->flags / SCRIBE_JF_OPENS & SCRIBE_OPENS_KINDS >> (kind & 31) & 1) * SCRIBE_SF_OPENS;
	if (kind != SCRIBE_KIND_PATH)
		__sync_fetch_and_add(&job->files, 1);
	s->kind = kind;
	s->proc = proc;
	s->proc_id = p->proc_id;
	s->flags = flags;
	s->generation++; /* detects reuse */
	/* A page fault of a process that inherited the mapping may have counted on its way. */
	__builtin_memset(s->cache_seldom, 0, sizeof(s->cache_seldom));
	*(volatile __u32 *)&s->state = SCRIBE_SLOT_LIVE;
	return index;
}

static __always_inline __u32 scribe_catchall(struct scribe_proc *p, __u32 proc)
{
	struct scribe_slot *s;
	__u32 index;

	index = *(volatile __u32 *)&p->catchall;
	if (index)
		return index;
	index = scribe_slot_new(p, proc, SCRIBE_KIND_CATCHALL);
	s = index ? scribe_slot_at(index) : 0;
	if (!s)
		return 0;
	scribe_slot_link(p, s, index);
	if (__sync_val_compare_and_swap(&p->catchall, 0, index) != 0) {
		/* Another thread was first; this one is freed with its process. */
		s->state = SCRIBE_SLOT_ABANDONED;
		return *(volatile __u32 *)&p->catchall;
	}
	__sync_fetch_and_or(&p->flags, SCRIBE_PF_OVERFLOWED);
	return index;
}

/* Short loops for the verifier; the first usually finds it. */
#define SCRIBE_INDEX_STRETCH 4
#define SCRIBE_INDEX_FURTHER 0xffffffffu
_Static_assert(SCRIBE_INDEX_PROBES % SCRIBE_INDEX_STRETCH == 0, "whole stretches");

/* SCRIBE_NO_SLOT: there is none; FURTHER: continue with the next part. */
SCRIBE_GLOBAL __u32 scribe_index_find_on(const struct scribe_file_key *key, __u64 hash, __u32 first)
{
	if (!key)
		return SCRIBE_NO_SLOT;
	for (__u32 i = 0; i < SCRIBE_INDEX_STRETCH; i++) {
		__u32 at = scribe_index_at(hash, first + i) & scribe_index_mask;
		__u64 *cell = bpf_map_lookup_elem(&scribe_index, &at), v;
		struct scribe_slot *s;

		if (!cell)
			return SCRIBE_NO_SLOT;
		v = *(volatile __u64 *)cell;
		if (v == 0)
			return SCRIBE_NO_SLOT;
		if (v != scribe_index_cell(hash, (__u32)v))
			continue;
		s = scribe_slot_at((__u32)v);
		if (s && s->hash == key->hash && s->ino == key->ino && s->proc_id == key->proc_id &&
		    s->dev == key->dev && *(volatile __u32 *)&s->state == SCRIBE_SLOT_LIVE)
			return (__u32)v;
	}
	return SCRIBE_INDEX_FURTHER;
}

static __always_inline __u32 scribe_index_find(const struct scribe_file_key *key, __u64 hash)
{
	for (__u32 i = 0; i < SCRIBE_INDEX_PROBES; i += SCRIBE_INDEX_STRETCH) {
		__u32 index = scribe_index_find_on(key, hash, i);

		if (index != SCRIBE_INDEX_FURTHER)
			return index;
	}
	return SCRIBE_NO_SLOT;
}

/* 1: no free cell in this part. */
SCRIBE_GLOBAL int scribe_index_add_on(__u64 hash, __u32 slot, __u32 first)
{
	for (__u32 i = 0; i < SCRIBE_INDEX_STRETCH; i++) {
		__u32 at = scribe_index_at(hash, first + i) & scribe_index_mask;
		__u64 *cell = bpf_map_lookup_elem(&scribe_index, &at), v;

		if (!cell)
			break;
		v = *(volatile __u64 *)cell;
		if (v != 0 && v != SCRIBE_INDEX_GONE)
			continue;
		if (__sync_val_compare_and_swap(cell, v, scribe_index_cell(hash, slot)) == v)
			return 0;
	}
	return 1;
}

static __always_inline int scribe_index_add(__u64 hash, __u32 slot)
{
	for (__u32 i = 0; i < SCRIBE_INDEX_PROBES; i += SCRIBE_INDEX_STRETCH)
		if (!scribe_index_add_on(hash, slot, i))
			return 0;
	return 1;
}

/*
 * *ret_new: the caller sends its name. Without a free index cell a later look-up makes another record, and the
 * drain merges them.
 */
static __always_inline __u32 scribe_slot_for(struct scribe_proc *p, __u32 proc, struct scribe_file_key *key, __u32 kind,
					     bool *ret_new)
{
	__u64 hash = scribe_index_hash(key);
	__u32 index = scribe_index_find(key, hash);
	struct scribe_slot *s;

	*ret_new = false;
	if (index)
		return index;
	index = scribe_slot_new(p, proc, kind);
	s = index ? scribe_slot_at(index) : 0;
	if (!s) {
		scribe_count(p, SCRIBE_L_OVERFLOWED_FILES);
		__sync_fetch_and_add(&p->overflowed, 1);
		return scribe_catchall(p, proc);
	}
	s->ino = key->ino;
	s->dev = key->dev;
	s->hash = key->hash;
	scribe_slot_link(p, s, index);
	if (scribe_index_add(hash, index))
		scribe_count(p, SCRIBE_L_SLOT_INDEX_FULL);
	*ret_new = true;
	return index;
}

/* The even value to unlock with, or 1 when busy. */
static __always_inline __u32 scribe_shard_trylock(struct scribe_slot *s)
{
	__u32 v = *(volatile __u32 *)&s->shard.lock;

	if (v & 1)
		return 1;
	return __sync_val_compare_and_swap(&s->shard.lock, v, v + 1) == v ? v : 1;
}

/* Plain: even values are valid if the slot was freed meanwhile. */
static __always_inline void scribe_shard_unlock(struct scribe_slot *s, __u32 v)
{
#ifdef __TARGET_ARCH_x86
	asm volatile("" ::: "memory");
	*(volatile __u32 *)&s->shard.lock = v + 2;
#else
	__sync_lock_test_and_set(&s->shard.lock, v + 2);
#endif
}

struct scribe_hold {
	struct scribe_slot *at; /* slot of the shard */
	__u32 lock;             /* for unlocking */
	__u32 atomic;           /* 1: not locked, use atomic operations */
};

#define SCRIBE_SHARD_NONE   ~0ull
#define SCRIBE_SHARD_ATOMIC (1ull << 63)

SCRIBE_GLOBAL int scribe_slot_abandon(struct scribe_proc *p, __u32 index)
{
	struct scribe_slot *s = scribe_slot_at(index);

	if (!p || !s)
		return 0;
	*(volatile __u32 *)&s->state = SCRIBE_SLOT_ABANDONED;
	scribe_slot_link(p, s, index);
	return 0;
}

/*
 * Index << 32 | lock value, locked; with SCRIBE_SHARD_ATOMIC: index of the lock-free one; SCRIBE_SHARD_NONE: no
 * slot.
 */
SCRIBE_GLOBAL __u64 scribe_shard_slow(struct scribe_slot *s)
{
	struct scribe_proc *p;
	struct scribe_slot *at;
	__u32 v;

	if (!s)
		return SCRIBE_SHARD_NONE;
	p = scribe_proc_at(s->proc);
	if (!p)
		return SCRIBE_SHARD_NONE;
	for (int i = 0; i < SCRIBE_EXTRA_SHARDS; i++) {
		__u32 index = *(volatile __u32 *)&s->shards[i];

		if (!index) {
			__u32 made = scribe_slot_new(p, s->proc, SCRIBE_KIND_SHARD);

			if (!made)
				break;
			index = __sync_val_compare_and_swap(&s->shards[i], 0, made);
			if (index)
				scribe_slot_abandon(p, made);
			else
				index = made;
		}
		at = scribe_slot_at(index);
		if (!at)
			break;
		if (i == SCRIBE_EXTRA_SHARDS - 1)
			return (__u64)index << 32 | SCRIBE_SHARD_ATOMIC;
		v = scribe_shard_trylock(at);
		if (v != 1)
			return (__u64)index << 32 | v;
	}
	return SCRIBE_SHARD_NONE;
}

/* Once shards were added, CPUs spread over two. */
static __always_inline struct scribe_slot *scribe_shard_here(struct scribe_slot *s)
{
	__u32 other = *(volatile __u32 *)&s->shards[0];
	struct scribe_slot *at = 0;

	if (other && (bpf_get_smp_processor_id() & 1))
		at = scribe_slot_at(other);
	return at ? at : s;
}

/* False: retired, reused, or none could be locked. */
static __always_inline bool scribe_shard_hold(struct scribe_slot *s, __u32 generation, struct scribe_hold *h)
{
	__u32 v;

	h->at = scribe_shard_here(s);
	h->atomic = 0;
	v = scribe_shard_trylock(h->at);
	if (v == 1 && h->at != s) {
		h->at = s;
		v = scribe_shard_trylock(s);
	}
	if (v == 1) {
		__u64 got = scribe_shard_slow(s);

		if (got == SCRIBE_SHARD_NONE)
			return false;
		h->atomic = (got & SCRIBE_SHARD_ATOMIC) != 0;
		h->at = scribe_slot_at((__u32)(got >> 32) & 0x7fffffff);
		v = (__u32)got;
		if (!h->at)
			return false;
	}
	h->lock = v;
	/* The daemon may have retired the slot meanwhile. */
	if (*(volatile __u32 *)&s->generation == generation && *(volatile __u32 *)&s->state == SCRIBE_SLOT_LIVE)
		return true;
	if (!h->atomic)
		scribe_shard_unlock(h->at, h->lock);
	return false;
}

static __always_inline void scribe_shard_release(struct scribe_hold *h)
{
	if (!h->atomic)
		scribe_shard_unlock(h->at, h->lock);
}

#endif
