/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segments: each read and write of a traced record, with its place and times, on a
 * leaf of memory shared with the daemon. A leaf is one thread's: nothing here is
 * contended, whoever is preempted. What finds no leaf is counted.
 */
#ifndef BPF_KERN_SEGMENT_BPF_H
#define BPF_KERN_SEGMENT_BPF_H

#include "bpf/kern/maps.bpf.h"

#define SCRIBE_LEAF_TRIES 64 /* another thread has left its own at each that fails */
#define SCRIBE_SEGS_EACH  32 /* leaves taken, where few are left */

static __always_inline struct scribe_leaf *scribe_leaf_at(__u32 index)
{
	__u32 at = index / SCRIBE_SEGS_CHUNK;
	void *chunk = bpf_map_lookup_elem(&scribe_segs, &at);

	at = index % SCRIBE_SEGS_CHUNK;
	return chunk ? bpf_map_lookup_elem(chunk, &at) : 0;
}

/* Few are left: more memory is wanted, and the daemon, which may be about to sleep. */
static __always_inline void scribe_leaf_ask(struct scribe_ctl *ctl)
{
	__u32 left = *(volatile __u32 *)&ctl->segs.tail - *(volatile __u32 *)&ctl->segs.head;
	struct scribe_event *ev;
	__u64 *ask;

	if (left >= ctl->segs.low || left % SCRIBE_SEGS_EACH)
		return;
	ask = bpf_ringbuf_reserve(&scribe_asked, sizeof(*ask), 0);
	if (ask) {
		*ask = 0;
		bpf_ringbuf_submit(ask, BPF_RB_FORCE_WAKEUP);
	}
	ev = bpf_ringbuf_reserve(&scribe_events, sizeof(*ev), 0);
	if (!ev)
		return; /* it is full: the daemon has been woken */
	__builtin_memset(ev, 0, sizeof(*ev));
	ev->type = SCRIBE_EV_SEGMENTS;
	bpf_ringbuf_submit(ev, BPF_RB_FORCE_WAKEUP);
}

/* A free leaf; 0: there is none. */
static __always_inline __u32 scribe_leaf_pop(struct scribe_ctl *ctl)
{
	const __u32 mask = SCRIBE_SEGS_CHUNK * SCRIBE_SEG_CHUNKS_MAX - 1;
	__u32 index = 0;

	SCRIBE_POP(scribe_seg_free, &ctl->segs, mask, 0, index);
	scribe_leaf_ask(ctl);
	return index;
}

/*
 * On the list of those that the daemon takes. Where that fails the leaf is what it was, a thread's, and the daemon
 * finds it so. Exchanged: a leaf that the daemon reads does not become one that can be copied.
 */
static __always_inline int scribe_leaf_list(struct scribe_ctl *ctl, struct scribe_leaf *leaf, __u32 index)
{
	__u32 was = __sync_lock_test_and_set(&leaf->state, SCRIBE_LEAF_LEFT);

	for (int i = 0; i < SCRIBE_LEAF_TRIES; i++) {
		__u32 first = *(volatile __u32 *)&ctl->leaves;

		*(volatile __u32 *)&leaf->next = first;
		if (__sync_val_compare_and_swap(&ctl->leaves, first, index) == first)
			return 1;
	}
	*(volatile __u32 *)&leaf->state = was;
	return 0;
}

/* The thread lets go of its leaf. */
SCRIBE_GLOBAL int scribe_leaf_leave(struct scribe_thread *t)
{
	struct scribe_ctl *ctl = scribe_ctl_get();
	struct scribe_leaf *leaf;

	if (!t || !ctl)
		return 0;
	leaf = t->leaf ? scribe_leaf_at(t->leaf) : 0;
	if (!leaf || !scribe_leaf_list(ctl, leaf, t->leaf))
		return 0;
	t->leaf = 0;
	return 1;
}

/*
 * A full leaf is copied to a free one, which the daemon takes, and is empty: the memory that each segment is
 * written to stays in the cache of its thread's processor, and 84 go to cold memory at once
 * (docs/decisions/38-segments-stay-in-the-cache.md). False: it is not full, the daemon is reading it, or
 * no other is free.
 */
SCRIBE_GLOBAL int scribe_leaf_copy(struct scribe_thread *t)
{
	struct scribe_ctl *ctl = scribe_ctl_get();
	struct scribe_leaf *leaf, *to;
	__u32 index;

	if (!t || !ctl)
		return 0;
	leaf = t->leaf ? scribe_leaf_at(t->leaf) : 0;
	if (!leaf || leaf->n < SCRIBE_LEAF_SEGMENTS)
		return 0;
	if (__sync_val_compare_and_swap(&leaf->state, SCRIBE_LEAF_OPEN, SCRIBE_LEAF_LEFT) != SCRIBE_LEAF_OPEN)
		return 0;
	index = scribe_leaf_pop(ctl);
	to = index ? scribe_leaf_at(index) : 0;
	if (to) {
		bpf_probe_read_kernel(to, sizeof(*to), leaf);
		leaf->n = 0;
		leaf->taken = 0;
		__sync_lock_test_and_set(&to->state, SCRIBE_LEAF_OPEN);
		scribe_leaf_list(ctl, to, index);
	}
	__sync_lock_test_and_set(&leaf->state, SCRIBE_LEAF_OPEN);
	return to != 0;
}

/* pthread_self() of the current thread's program: its C library keeps it where this register points. */
static __always_inline __u64 scribe_thread_self(void)
{
#ifdef __TARGET_ARCH_x86
	return bpf_get_current_task_btf()->thread.fsbase;
#else
	return 0;
#endif
}

/* Room for one more segment: the thread has a leaf that is not full. 0: there is none. */
SCRIBE_GLOBAL int scribe_leaf_make(struct scribe_thread *t)
{
	struct scribe_ctl *ctl = scribe_ctl_get();
	struct scribe_leaf *leaf;
	struct scribe_proc *p;
	__u32 index;

	if (!t || !ctl)
		return 0;
	if (scribe_leaf_copy(t))
		return 1;
	if (t->leaf && !scribe_leaf_leave(t))
		return 0;
	index = scribe_leaf_pop(ctl);
	leaf = index ? scribe_leaf_at(index) : 0;
	p = scribe_proc_at(t->proc);
	if (!leaf || !p)
		return 0;
	leaf->n = 0;
	leaf->taken = 0;
	leaf->proc = t->stand_in ? 0 : t->proc;
	leaf->proc_id = t->stand_in ? 0 : t->proc_id;
	leaf->job = p->job;
	leaf->tid = (__u32)bpf_get_current_pid_tgid();
	leaf->thread = scribe_thread_self();
	*(volatile __u32 *)&leaf->state = SCRIBE_LEAF_OPEN;
	t->leaf = index;
	return 1;
}

/* One more is complete: whoever sees the number sees the segment. */
static __always_inline void scribe_leaf_count(struct scribe_leaf *leaf, __u32 n)
{
#ifdef __TARGET_ARCH_x86
	asm volatile("" ::: "memory");
	*(volatile __u32 *)&leaf->n = n;
#else
	__sync_lock_test_and_set(&leaf->n, n);
#endif
}

/* The operation, counted on this record. In place, for the way that nearly all go. */
static __always_inline void scribe_segment_also(struct scribe_thread *t, __u32 slot, __u32 generation,
						const struct scribe_data_op *op, __u32 also)
{
	struct scribe_leaf *leaf = t->leaf ? scribe_leaf_at(t->leaf) : 0;
	__u32 n = leaf ? leaf->n : SCRIBE_LEAF_SEGMENTS;
	struct scribe_segment *s;

	/* before a program has set up its threads (the dynamic linker) there is none */
	if (n >= SCRIBE_LEAF_SEGMENTS || (!leaf->thread && scribe_thread_self())) {
		leaf = scribe_leaf_make(t) ? scribe_leaf_at(t->leaf) : 0;
		n = 0;
		if (!leaf) {
			scribe_count_thread(t, SCRIBE_L_SEGMENTS_NO_LEAF);
			return;
		}
	}
	s = &leaf->at[n];
	s->offset = op->offset;
	s->bytes = op->bytes;
	s->start_ns = op->start_ns;
	s->end_ns = op->end_ns;
	s->slot = slot;
	s->generation = generation;
	s->op = op->op;
	s->also = also;
	scribe_leaf_count(leaf, n + 1);
}

static __always_inline void scribe_segment(struct scribe_thread *t, __u32 slot, __u32 generation,
					   const struct scribe_data_op *op)
{
	scribe_segment_also(t, slot, generation, op, 0);
}

#endif
