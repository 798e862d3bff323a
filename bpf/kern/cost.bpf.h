/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the programs cost. On system calls the clock is read before and after those of one call in a block; a thread's
 * blocks grow from 1 call to about 512, of random length, so that no pattern of calls is missed. At fork, exec and exit
 * it is always read.
 */
#ifndef BPF_KERN_COST_BPF_H
#define BPF_KERN_COST_BPF_H

#include "bpf/kern/maps.bpf.h"

#define SCRIBE_BLOCK_USUAL  512
#define SCRIBE_COST_MOST_NS 50000 /* longer: an interrupt or another task ran */

/* The calls of the block so far are taken to cost what the measured one did. */
static __always_inline void scribe_cost_add(struct scribe_thread *t, struct scribe_proc *p)
{
	const __u32 calls = t->block - t->until;

	__sync_fetch_and_add(&p->cost_ns, calls * t->cost_ns);
	__sync_fetch_and_add(&p->cost_calls, calls);
}

static __always_inline void scribe_cost_time(struct scribe_thread *t, struct scribe_proc *p, struct task_struct *task)
{
	const __u64 ns = BPF_CORE_READ(task, se.sum_exec_runtime);

	__sync_fetch_and_add(&p->cpu_ns, ns - t->cpu_ns);
	t->cpu_ns = ns;
}

/* With its first call, which is measured, a block begins. */
SCRIBE_GLOBAL int scribe_cost_begin(struct scribe_thread *t, struct scribe_proc *p)
{
	if (!t || !p)
		return 0;
	scribe_cost_add(t, p);
	scribe_cost_time(t, p, bpf_get_current_task_btf());
	t->usual = t->usual < SCRIBE_BLOCK_USUAL / 2 ? 2 * t->usual + 1 : SCRIBE_BLOCK_USUAL;
	t->block = 1 + bpf_get_prandom_u32() % (2 * t->usual);
	t->until = t->block - 1;
	t->measured = 1;
	t->cost_from_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline void scribe_cost_enter(struct scribe_thread *t, struct scribe_proc *p)
{
	if (t->until)
		t->until--;
	else
		scribe_cost_begin(t, p);
}

/* The return's program has run from `from_ns` until now, the entry's until the start of the call. */
SCRIBE_GLOBAL int scribe_cost_end(struct scribe_thread *t, __u64 from_ns)
{
	const __u64 now = bpf_ktime_get_ns();
	__u64 cost;

	if (!t)
		return 0;
	t->measured = 0;
	cost = now - from_ns;
	if (t->op.start_ns > t->cost_from_ns)
		cost += t->op.start_ns - t->cost_from_ns;
	if (cost < SCRIBE_COST_MOST_NS)
		t->cost_ns = cost;
	return 0;
}

static __always_inline void scribe_cost_leave(struct scribe_thread *t, __u64 from_ns)
{
	if (t->measured)
		scribe_cost_end(t, from_ns);
}

/* Of a run outside system calls. */
static __always_inline void scribe_cost_once(struct scribe_proc *p, __u64 from_ns)
{
	const __u64 cost = bpf_ktime_get_ns() - from_ns;

	if (cost < SCRIBE_COST_MOST_NS)
		__sync_fetch_and_add(&p->cost_ns, cost);
}

#endif
