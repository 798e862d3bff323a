// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
/*
 * The two ways to hang on system calls, with the same work: number filter, task
 * storage, two clock readings. One pair is attached at a time.
 */
#include "bpf/kern/kernel.bpf.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile long wanted;

struct in_call {
	__u64 start, sum, calls;
};
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct in_call);
} scribe_b_task SEC(".maps");

static __always_inline void enter(void)
{
	struct in_call *s = bpf_task_storage_get(&scribe_b_task, bpf_get_current_task_btf(), 0, 0);

	if (s)
		s->start = bpf_ktime_get_ns();
}

static __always_inline void leave(void)
{
	struct in_call *s = bpf_task_storage_get(&scribe_b_task, bpf_get_current_task_btf(), 0, 0);

	if (!s || !s->start)
		return;
	s->sum += bpf_ktime_get_ns() - s->start;
	s->calls++;
	s->start = 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(scribe_b_enter, struct pt_regs *regs, long id)
{
	if (id == wanted)
		enter();
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(scribe_b_exit, struct pt_regs *regs, long ret)
{
#ifdef __TARGET_ARCH_x86
	if ((long)regs->orig_ax == wanted)
		leave();
#else
	if (regs->syscallno == wanted)
		leave();
#endif
	return 0;
}

SEC("tracepoint/syscalls/sys_enter_pread64")
int scribe_b_tpin(void *ctx)
{
	enter();
	return 0;
}

SEC("tracepoint/syscalls/sys_exit_pread64")
int scribe_b_tpout(void *ctx)
{
	leave();
	return 0;
}
