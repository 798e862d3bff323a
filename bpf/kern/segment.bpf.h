/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segments of traced records, in buffers shared with the daemon, each of one thread; a segment without a buffer
 * is counted.
 */
#ifndef BPF_KERN_SEGMENT_BPF_H
#define BPF_KERN_SEGMENT_BPF_H

#include "bpf/kern/maps.bpf.h"

#define SCRIBE_SEGBUF_TRIES 64 /* each failure is another thread's success */
#define SCRIBE_SEGS_EACH    32 /* buffers taken while few are left */

static __always_inline struct scribe_segbuf *scribe_segbuf_at(__u32 index)
{
	__u32 at = index / SCRIBE_SEGS_CHUNK;
	void *chunk = bpf_map_lookup_elem(&scribe_segs, &at);

	at = index % SCRIBE_SEGS_CHUNK;
	return chunk ? bpf_map_lookup_elem(chunk, &at) : 0;
}

/* The daemon may be about to sleep. */
static __always_inline void scribe_segbuf_ask(struct scribe_ctl *ctl)
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
		return; /* full: the daemon has been woken */
	__builtin_memset(ev, 0, sizeof(*ev));
	ev->type = SCRIBE_EV_SEGMENTS;
	bpf_ringbuf_submit(ev, BPF_RB_FORCE_WAKEUP);
}

static __always_inline __u32 scribe_segbuf_pop(struct scribe_ctl *ctl)
{
	const __u32 mask = SCRIBE_SEGS_CHUNK * SCRIBE_SEG_CHUNKS_MAX - 1;
	__u32 index = 0;

	SCRIBE_POP(scribe_seg_free, &ctl->segs, mask, 0, index);
	scribe_segbuf_ask(ctl);
	return index;
}

/* On failure it stays the thread's. Exchanged, because the daemon may be reading it (SEGBUF_READ). */
static __always_inline int scribe_segbuf_list(struct scribe_ctl *ctl, struct scribe_segbuf *segbuf, __u32 index)
{
	__u32 was = __sync_lock_test_and_set(&segbuf->state, SCRIBE_SEGBUF_LEFT);

	for (int i = 0; i < SCRIBE_SEGBUF_TRIES; i++) {
		__u32 first = *(volatile __u32 *)&ctl->segbufs;

		*(volatile __u32 *)&segbuf->next = first;
		if (__sync_val_compare_and_swap(&ctl->segbufs, first, index) == first)
			return 1;
	}
	*(volatile __u32 *)&segbuf->state = was;
	return 0;
}

SCRIBE_GLOBAL int scribe_segbuf_leave(struct scribe_thread *t)
{
	struct scribe_ctl *ctl = scribe_ctl_get();
	struct scribe_segbuf *segbuf;

	if (!t || !ctl)
		return 0;
	segbuf = t->segbuf ? scribe_segbuf_at(t->segbuf) : 0;
	if (!segbuf || !scribe_segbuf_list(ctl, segbuf, t->segbuf))
		return 0;
	t->segbuf = 0;
	return 1;
}

/*
 * Copies a full buffer for the daemon and empties it: the thread's stays in its processor's cache
 * (docs/decisions/38-segments-stay-in-the-cache.md). False: not full, being read, or no free buffer.
 */
SCRIBE_GLOBAL int scribe_segbuf_copy(struct scribe_thread *t)
{
	struct scribe_ctl *ctl = scribe_ctl_get();
	struct scribe_segbuf *segbuf, *to;
	__u32 index;

	if (!t || !ctl)
		return 0;
	segbuf = t->segbuf ? scribe_segbuf_at(t->segbuf) : 0;
	if (!segbuf || segbuf->n < SCRIBE_SEGBUF_SEGMENTS)
		return 0;
	if (__sync_val_compare_and_swap(&segbuf->state, SCRIBE_SEGBUF_OPEN, SCRIBE_SEGBUF_LEFT) != SCRIBE_SEGBUF_OPEN)
		return 0;
	index = scribe_segbuf_pop(ctl);
	to = index ? scribe_segbuf_at(index) : 0;
	if (to) {
		bpf_probe_read_kernel(to, sizeof(*to), segbuf);
		segbuf->n = 0;
		segbuf->taken = 0;
		__sync_lock_test_and_set(&to->state, SCRIBE_SEGBUF_OPEN);
		scribe_segbuf_list(ctl, to, index);
	}
	__sync_lock_test_and_set(&segbuf->state, SCRIBE_SEGBUF_OPEN);
	return to != 0;
}

/* By the register where the C library keeps it. */
static __always_inline __u64 scribe_thread_self(void)
{
#ifdef __TARGET_ARCH_x86
	return bpf_get_current_task_btf()->thread.fsbase;
#else
	return 0;
#endif
}

/* 0: no buffer. */
SCRIBE_GLOBAL int scribe_segbuf_make(struct scribe_thread *t)
{
	struct scribe_ctl *ctl = scribe_ctl_get();
	struct scribe_segbuf *segbuf;
	struct scribe_proc *p;
	__u32 index;

	if (!t || !ctl)
		return 0;
	if (scribe_segbuf_copy(t))
		return 1;
	if (t->segbuf && !scribe_segbuf_leave(t))
		return 0;
	index = scribe_segbuf_pop(ctl);
	segbuf = index ? scribe_segbuf_at(index) : 0;
	p = scribe_proc_at(t->proc);
	if (!segbuf || !p)
		return 0;
	segbuf->n = 0;
	segbuf->taken = 0;
	segbuf->proc = t->stand_in ? 0 : t->proc;
	segbuf->proc_id = t->stand_in ? 0 : t->proc_id;
	segbuf->job = p->job;
	segbuf->tid = (__u32)bpf_get_current_pid_tgid();
	segbuf->thread = scribe_thread_self();
	*(volatile __u32 *)&segbuf->state = SCRIBE_SEGBUF_OPEN;
	t->segbuf = index;
	return 1;
}

/* The release order makes a segment visible before its number. */
static __always_inline void scribe_segbuf_count(struct scribe_segbuf *segbuf, __u32 n)
{
#ifdef __TARGET_ARCH_x86
	asm volatile("" ::: "memory");
	*(volatile __u32 *)&segbuf->n = n;
#else
	__sync_lock_test_and_set(&segbuf->n, n);
#endif
}

static __always_inline void scribe_segment_also(struct scribe_thread *t, __u32 slot, __u32 generation,
						const struct scribe_data_op *op, __u32 also)
{
	struct scribe_segbuf *segbuf = t->segbuf ? scribe_segbuf_at(t->segbuf) : 0;
	__u32 n = segbuf ? segbuf->n : SCRIBE_SEGBUF_SEGMENTS;
	struct scribe_segment *s;

	/* The dynamic linker runs before a program has set up its thread pointer. */
	if (n >= SCRIBE_SEGBUF_SEGMENTS || (!segbuf->thread && scribe_thread_self())) {
		segbuf = scribe_segbuf_make(t) ? scribe_segbuf_at(t->segbuf) : 0;
		n = 0;
		if (!segbuf) {
			scribe_count_thread(t, SCRIBE_L_SEGMENTS_NO_LEAF);
			return;
		}
	}
	s = &segbuf->at[n];
	s->offset = op->offset;
	s->bytes = op->bytes;
	s->start_ns = op->start_ns;
	s->end_ns = op->end_ns;
	s->slot = slot;
	s->generation = generation;
	s->op = op->op;
	s->also = also;
	scribe_segbuf_count(segbuf, n + 1);
}

static __always_inline void scribe_segment(struct scribe_thread *t, __u32 slot, __u32 generation,
					   const struct scribe_data_op *op)
{
	scribe_segment_also(t, slot, generation, op, 0);
}

#endif
