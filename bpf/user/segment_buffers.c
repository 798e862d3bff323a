// SPDX-License-Identifier: BSD-3-Clause
/*
 * Consumer of segment buffers: listed ones are freed, those of running threads read as far as written. A
 * buffer's owner is in its state word. Main thread. Must not know what segments mean.
 */
#include <errno.h>

#include "bpf/user/load_private.h"

static struct scribe_segbuf *segbuf_at(struct scribe_bpf *b, uint32_t index)
{
	return index ? scribe_chunks_at(&b->segs, index) : NULL;
}

static void take(struct scribe_segbuf *segbuf, scribe_segbuf_fn fn, void *ctx)
{
	uint32_t n = __atomic_load_n(&segbuf->n, __ATOMIC_ACQUIRE);

	if (n > SCRIBE_SEGBUF_SEGMENTS)
		n = SCRIBE_SEGBUF_SEGMENTS;
	if (segbuf->taken >= n)
		return;
	fn(ctx, segbuf, &segbuf->at[segbuf->taken], n - segbuf->taken);
	/* after the callback: a daemon that dies before reads them again */
	__atomic_store_n(&segbuf->taken, n, __ATOMIC_RELEASE);
}

/*
 * The thread may put the buffer on the list meanwhile, but does not copy it. SEGBUF_READ at entry: a daemon died
 * here.
 */
static bool take_open(struct scribe_segbuf *segbuf, scribe_segbuf_fn fn, void *ctx)
{
	uint32_t state = SCRIBE_SEGBUF_OPEN;

	if (!__atomic_compare_exchange_n(&segbuf->state, &state, SCRIBE_SEGBUF_READ, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE) &&
	    state != SCRIBE_SEGBUF_READ)
		return false;
	take(segbuf, fn, ctx);
	/* Fails if the thread put it on the list. */
	state = SCRIBE_SEGBUF_READ;
	return __atomic_compare_exchange_n(&segbuf->state, &state, SCRIBE_SEGBUF_OPEN, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE);
}

static void give(struct scribe_bpf *b, struct scribe_segbuf *segbuf, uint32_t index)
{
	segbuf->n = 0;
	segbuf->taken = 0;
	segbuf->proc_id = 0;
	/* Before the ring, from which any thread may take the buffer. */
	__atomic_store_n(&segbuf->state, SCRIBE_SEGBUF_FREE, __ATOMIC_RELEASE);
	scribe_ring_give(b, &b->seg_free, &b->ctl->segs, index);
}

/* The list, oldest first. */
static uint32_t list_take(struct scribe_bpf *b)
{
	uint32_t last = __atomic_exchange_n(&b->ctl->segbufs, 0, __ATOMIC_ACQ_REL), first = 0;

	/* It is linked backwards: reverse it. */
	while (last) {
		struct scribe_segbuf *segbuf = segbuf_at(b, last);
		uint32_t before = segbuf ? segbuf->next : 0;

		if (segbuf)
			segbuf->next = first;
		first = segbuf ? last : first;
		last = before;
	}
	return first;
}

void scribe_bpf_segbufs(struct scribe_bpf *b, scribe_segbuf_fn fn, void *ctx)
{
	for (uint32_t at = list_take(b), next; at; at = next) {
		struct scribe_segbuf *segbuf = segbuf_at(b, at);

		next = segbuf->next;
		take(segbuf, fn, ctx);
		give(b, segbuf, at);
	}
}

/* The thread ended without putting it on the list. */
static bool is_orphan(struct scribe_bpf *b, const struct scribe_segbuf *segbuf)
{
	const struct scribe_proc *p = segbuf->proc_id ? scribe_bpf_proc(b, segbuf->proc) : NULL;

	return p && p->proc_id != segbuf->proc_id;
}

void scribe_bpf_segbufs_all(struct scribe_bpf *b, scribe_segbuf_fn fn, void *ctx)
{
	uint32_t end = b->segs.n * SCRIBE_SEGS_CHUNK;

	scribe_bpf_segbufs(b, fn, ctx);
	for (uint32_t i = 1; i < end; i++) {
		struct scribe_segbuf *segbuf = segbuf_at(b, i);

		if (take_open(segbuf, fn, ctx) && is_orphan(b, segbuf))
			give(b, segbuf, i);
	}
	/* listed during the loop */
	scribe_bpf_segbufs(b, fn, ctx);
}

int scribe_bpf_want_segbufs(struct scribe_bpf *b, uint32_t ahead)
{
	if (ahead > b->ctl->segs_ahead)
		__atomic_store_n(&b->ctl->segs_ahead, ahead, __ATOMIC_RELEASE);
	return scribe_bpf_grow_value_tables(b);
}
