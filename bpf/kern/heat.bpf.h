/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes over time of a shard (logfmt/rules/heat_rules.h). Nearly all operations add to the shard's own bin; the
 * slow path runs at most ten times a second and file, or for operations longer than a bin. Without a table the
 * bin widens.
 */
#ifndef BPF_KERN_HEAT_BPF_H
#define BPF_KERN_HEAT_BPF_H

#include "bpf/kern/slot.bpf.h"

#include "logfmt/rules/heat_rules.h"

SCRIBE_GLOBAL int scribe_heat_fold_once(struct scribe_heat_table *t, __u32 first, __u32 by)
{
	if (t)
		scribe_heat_fold(t, first, by);
	return 0;
}

SCRIBE_GLOBAL int scribe_heat_fit_once(struct scribe_heat_table *t, __u64 to_ns)
{
	if (t)
		scribe_heat_fit(t, to_ns);
	return 0;
}

SCRIBE_GLOBAL int scribe_heat_some_once(struct scribe_heat_table *t, struct scribe_heat *h)
{
	return t && h ? scribe_heat_some(t, h) : 0;
}

static __always_inline struct scribe_heat_table *scribe_heat_table_at(__u32 index)
{
	__u32 at = index / SCRIBE_HEATS_CHUNK;
	void *chunk = bpf_map_lookup_elem(&scribe_heats, &at);

	at = index % SCRIBE_HEATS_CHUNK;
	return chunk ? bpf_map_lookup_elem(chunk, &at) : 0;
}

SCRIBE_GLOBAL int scribe_heat_make(struct scribe_slot *at, __u64 base_ns)
{
	const __u32 mask = SCRIBE_HEATS_CHUNK * SCRIBE_HEAT_CHUNKS_MAX - 1;
	struct scribe_ctl *ctl = scribe_ctl_get();
	struct scribe_heat_table *t;
	__u32 index = 0;

	if (!at || !ctl)
		return 0;
	SCRIBE_POP(scribe_heat_free, &ctl->heats, mask, 0, index);
	if (ctl->heats.tail - ctl->heats.head == ctl->heats.low || !index)
		scribe_ask();
	t = index ? scribe_heat_table_at(index - 1) : 0;
	if (t)
		t->base_ns = base_ns;
	if (t)
		at->heat.table = index;
	return 0;
}

#define SCRIBE_HEAT_ATOMIC 2u /* with read (0) or write (1): the shard is not locked */

SCRIBE_GLOBAL int scribe_heat_far(struct scribe_slot *at, __u64 start_ns, __u64 end_ns, __u64 bytes, __u32 w)
{
	struct scribe_heat_table *t = 0;
	struct scribe_proc *p;
	__u64 base;

	if (!at || !bytes)
		return 0;
	if (w & SCRIBE_HEAT_ATOMIC && __sync_lock_test_and_set(&at->heat.lock, 1)) {
		/* The shard is not locked: a second task adds to `spill` instead of waiting. */
		__sync_fetch_and_add(&at->heat.spill[w & 1], bytes);
		return 0;
	}
	p = scribe_proc_at(at->proc);
	base = p ? p->heat_base_ns ? p->heat_base_ns : p->start_ns : 0;
	if (end_ns < start_ns)
		end_ns = start_ns;
	if (!at->heat.table && scribe_heat_wants_table(&at->heat, base, start_ns, end_ns))
		scribe_heat_make(at, base);
	if (at->heat.table)
		t = scribe_heat_table_at(at->heat.table - 1);
	scribe_heat_move(&at->heat, t, t ? t->base_ns : base, start_ns, end_ns, bytes, w);
	if (w & SCRIBE_HEAT_ATOMIC)
		__sync_lock_test_and_set(&at->heat.lock, 0);
	return 0;
}

/* On a locked shard; `w` should be a constant. */
static __always_inline void scribe_heat_count(struct scribe_slot *at, __u64 start_ns, __u64 end_ns, __u64 bytes,
					      __u32 w)
{
	if (scribe_heat_is_near(&at->heat, start_ns, end_ns))
		at->heat.bytes[w & 1] += bytes;
	else
		scribe_heat_far(at, start_ns, end_ns, bytes, w);
}

#endif
