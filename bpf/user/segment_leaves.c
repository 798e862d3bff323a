// SPDX-License-Identifier: BSD-3-Clause
/*
 * Leaves of segments from the consumer's side: those that threads have left are taken and given
 * back, those of living threads are read as far as they are written. Must not know what a segment
 * says. A leaf belongs to a thread, then to the list of left ones, then to the daemon, by its state
 * word. Runs in the daemon's main thread.
 */
#include <errno.h>

#include "bpf/user/load_private.h"

static struct scribe_leaf *leaf_at(struct scribe_bpf *b, uint32_t index)
{
	return index ? scribe_chunks_at(&b->segs, index) : NULL;
}

/* What is new on it. */
static void take(struct scribe_leaf *leaf, scribe_leaf_fn fn, void *ctx)
{
	uint32_t n = __atomic_load_n(&leaf->n, __ATOMIC_ACQUIRE);

	if (n > SCRIBE_LEAF_SEGMENTS)
		n = SCRIBE_LEAF_SEGMENTS;
	if (leaf->taken >= n)
		return;
	fn(ctx, leaf, &leaf->at[leaf->taken], n - leaf->taken);
	/* behind what has been done with them: who dies before that takes them again */
	__atomic_store_n(&leaf->taken, n, __ATOMIC_RELEASE);
}

/*
 * What is new on a thread's own. Meanwhile the thread writes on, and leaves it where it is full, but does not copy it.
 * Marked as read already: by a daemon that died so.
 */
static bool take_open(struct scribe_leaf *leaf, scribe_leaf_fn fn, void *ctx)
{
	uint32_t state = SCRIBE_LEAF_OPEN;

	if (!__atomic_compare_exchange_n(&leaf->state, &state, SCRIBE_LEAF_READ, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE) &&
	    state != SCRIBE_LEAF_READ)
		return false;
	take(leaf, fn, ctx);
	state = SCRIBE_LEAF_READ;
	return __atomic_compare_exchange_n(&leaf->state, &state, SCRIBE_LEAF_OPEN, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE);
}

/* The state before the ring: from then on any thread may take the leaf. */
static void give(struct scribe_bpf *b, struct scribe_leaf *leaf, uint32_t index)
{
	leaf->n = 0;
	leaf->taken = 0;
	leaf->proc_id = 0;
	__atomic_store_n(&leaf->state, SCRIBE_LEAF_FREE, __ATOMIC_RELEASE);
	scribe_ring_give(b, &b->seg_free, &b->ctl->segs, index);
}

/*
 * The list as it is now, the first that was left first. The whole list by one exchange; it is
 * linked backwards, so it is turned round.
 */
static uint32_t list_take(struct scribe_bpf *b)
{
	uint32_t last = __atomic_exchange_n(&b->ctl->leaves, 0, __ATOMIC_ACQ_REL), first = 0;

	while (last) {
		struct scribe_leaf *leaf = leaf_at(b, last);
		uint32_t before = leaf ? leaf->next : 0;

		if (leaf)
			leaf->next = first;
		first = leaf ? last : first;
		last = before;
	}
	return first;
}

void scribe_bpf_leaves(struct scribe_bpf *b, scribe_leaf_fn fn, void *ctx)
{
	for (uint32_t at = list_take(b), next; at; at = next) {
		struct scribe_leaf *leaf = leaf_at(b, at);

		next = leaf->next;
		take(leaf, fn, ctx);
		give(b, leaf, at);
	}
}

/* Its thread is gone without having left it. */
static bool is_orphan(struct scribe_bpf *b, const struct scribe_leaf *leaf)
{
	const struct scribe_proc *p = leaf->proc_id ? scribe_bpf_proc(b, leaf->proc) : NULL;

	return p && p->proc_id != leaf->proc_id;
}

void scribe_bpf_leaves_all(struct scribe_bpf *b, scribe_leaf_fn fn, void *ctx)
{
	uint32_t end = b->segs.n * SCRIBE_SEGS_CHUNK;

	scribe_bpf_leaves(b, fn, ctx);
	for (uint32_t i = 1; i < end; i++) {
		struct scribe_leaf *leaf = leaf_at(b, i);

		if (take_open(leaf, fn, ctx) && is_orphan(b, leaf))
			give(b, leaf, i);
	}
	/* left while the others were gone through */
	scribe_bpf_leaves(b, fn, ctx);
}

int scribe_bpf_want_leaves(struct scribe_bpf *b, uint32_t ahead)
{
	if (ahead > b->ctl->segs_ahead)
		__atomic_store_n(&b->ctl->segs_ahead, ahead, __ATOMIC_RELEASE);
	return scribe_bpf_grow_value_tables(b);
}
