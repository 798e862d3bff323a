// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
/*
 * The kernel programs: system calls, processes, io_uring. Each filters, looks up and updates. Run in the
 * calling task, preemptible as on this kernel. State between entry and return is in task storage, records in
 * maps. Must not know ranks, final names or logs.
 */
#include "bpf/kern/io_uring.bpf.h"
#include "bpf/kern/process.bpf.h"
#include "bpf/kern/streams.bpf.h"
#include "bpf/kern/syscall.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* enum scribe_syscall_class of each system call. */
const volatile __u8 scribe_syscall_classes[SCRIBE_MAX_SYSCALL];

/* Returns 1 if there is something to do at the call's return. */
static __always_inline int scribe_enter_call(struct scribe_thread *t, struct scribe_proc *p, struct task_struct *task,
					     struct pt_regs *regs, __u32 class)
{
	/* 32-bit calls have other numbers and argument registers: they are counted, not decoded. */
	if (scribe_compat_call(task)) {
		scribe_count(p, SCRIBE_L_COMPAT_SYSCALL);
		t->io_begun = 0; /* the kernel's account may include it: the next difference is not a missed call */
		return 0;
	}
	if (class <= SCRIBE_CLASS_LAST_DATA) {
		/* Odd classes read. Constants, so that the compiler makes one path for each. */
		if (class & 1)
			scribe_io_enter(t, p, task, SCRIBE_OP_READ);
		else
			scribe_io_enter(t, p, task, SCRIBE_OP_WRITE);
		if (scribe_data_enter(t, p, task, class, scribe_arg(regs, 1))) {
			t->class = class;
			return 1;
		}
		/* A call without a record is still accounted at return, by cause (t->left). */
		t->class = class & 1 ? SCRIBE_CLASS_LEFT_READ : SCRIBE_CLASS_LEFT_WRITE;
		if (t->measured)
			t->op.start_ns = bpf_ktime_get_ns();
		return 1;
	}
	/* Data calls of this thread are filtered in scribe_data_enter. */
	if (p->ignored_tid && p->ignored_tid == (__u32)task->pid)
		return 0;
	if (class == SCRIBE_CLASS_FCNTL && scribe_arg(regs, 2) == SCRIBE_ANNOUNCE) {
		/* A message of the program's own stream counters: the kernel then refuses the unknown command. */
		for (int i = 0; i < 6; i++)
			t->arg[i] = scribe_arg(regs, i + 1);
		scribe_stream_announced(t, p);
		return 0;
	}
	if (class <= SCRIBE_CLASS_LAST_FD) {
		__u64 fd = scribe_arg(regs, class == SCRIBE_CLASS_MMAP ? 5 : 1);

		/* Argument 5 is not a descriptor in an anonymous mapping. */
		if (class == SCRIBE_CLASS_MMAP && (scribe_arg(regs, 4) & SCRIBE_MAP_ANONYMOUS))
			return 0;
		if (class == SCRIBE_CLASS_MMAP && (scribe_arg(regs, 3) & SCRIBE_PROT_EXEC))
			scribe_send_map(p, t->proc, fd);
		if (class == SCRIBE_CLASS_DUP_TO)
			scribe_dup_over(t, task, fd, scribe_arg(regs, 2));
		if (!scribe_fd_enter(t, p, class, fd))
			return 0;
		/* At return the description may be freed: whether this close ends it is read now. */
		if (class == SCRIBE_CLASS_CLOSE)
			t->last_ref = scribe_file_last_ref(t->file);
	} else {
		/* The handlers of these calls take their arguments from t->arg, also at return. */
		for (int i = 0; i < 6; i++)
			t->arg[i] = scribe_arg(regs, i + 1);
		if (!scribe_other_enter(t, p, class))
			return 0;
	}
	t->class = class;
	t->op.start_ns = bpf_ktime_get_ns();
	/* Loaded after the clock is read, because that waits for pending loads. Needed at return only. */
	if (class == SCRIBE_CLASS_OPENAT && (scribe_arg(regs, 3) & SCRIBE_O_CREAT))
		scribe_slot_prefetch();
	return 1;
}

/* Callers return first for tasks that are not traced. */
static __always_inline int scribe_enter(struct task_struct *task, struct pt_regs *regs, __u64 id)
{
	struct scribe_thread *t;
	struct scribe_proc *p;
	__u32 class;

	if (id >= SCRIBE_MAX_SYSCALL)
		return 0;
	class = scribe_syscall_classes[id];
	if (!class)
		return 0;
	t = scribe_thread_of(task);
	if (!t)
		return 0;
	/* The return does nothing while class is 0: an early return below skips the call there too. */
	t->call = 0;
	p = scribe_proc_at(t->proc);
	if (!p || p->proc_id != t->proc_id || (p->flags & SCRIBE_PF_NOT_RECORDED))
		return 0;
	scribe_cost_enter(t, p);
	if (!scribe_enter_call(t, p, task, regs, class) && t->measured)
		scribe_cost_end(t, t->cost_from_ns);
	return 0;
}

/* Even classes write, odd ones read. */
static __always_inline int scribe_leave_data(struct scribe_thread *t, struct task_struct *task, struct pt_regs *regs,
					     __u32 class, long ret)
{
	struct scribe_proc *p;

	if (ret < 0) {
		p = scribe_proc_at(t->proc);
		if (p)
			scribe_data_failed(t, p, !(class & 1), ret);
		scribe_cost_leave(t, t->op.end_ns);
		return 0;
	}
	if (class & 1) {
		if (scribe_data_exit(t, task, regs, class, SCRIBE_OP_READ, ret))
			return 0;
	} else if (scribe_data_exit(t, task, regs, class, SCRIBE_OP_WRITE, ret)) {
		return 0;
	}
	/* The fast path did not apply (record locked, sharded, excluded, retired): nothing is recorded yet. */
	p = scribe_proc_at(t->proc);
	if (p)
		scribe_data_late(t, p);
	t->fetched = 0;
	scribe_cost_leave(t, t->op.end_ns);
	return 0;
}

static __always_inline int scribe_leave(struct task_struct *task, struct pt_regs *regs, __u64 id, long ret)
{
	struct scribe_thread *t;
	struct scribe_proc *p;
	__u32 class;

	if (id >= SCRIBE_MAX_SYSCALL || !scribe_syscall_classes[id])
		return 0;
	t = scribe_thread_of(task);
	if (!t)
		return 0;
	class = t->class;
	if (!class)
		return 0;
	t->class = 0;
	/* Tests only (lose_each): every n-th data call counts as seen and is not recorded. */
	if (scribe_lose_each && class <= SCRIBE_CLASS_LAST_DATA && (t->events + 1) % scribe_lose_each == 0) {
		t->events++;
		return 0;
	}
	if (class <= SCRIBE_CLASS_LAST_DATA)
		return scribe_leave_data(t, task, regs, class, ret);
	p = scribe_proc_at(t->proc);
	if (!p)
		return 0;
	if (class >= SCRIBE_CLASS_LEFT_READ) {
		const __u64 from_ns = t->measured ? bpf_ktime_get_ns() : 0;

		scribe_io_left(t, p, class - SCRIBE_CLASS_LEFT_READ, ret);
		scribe_cost_leave(t, from_ns);
		return 0;
	}
	t->op.end_ns = bpf_ktime_get_ns();
	if (class <= SCRIBE_CLASS_LAST_FD)
		scribe_fd_exit(t, p, class, scribe_arg(regs, 2), ret);
	else
		scribe_other_exit(t, p, class, ret);
	scribe_cost_leave(t, t->op.end_ns);
	return 0;
}

/* The loader picks this pair or that on trace events (events.bpf.h). The longest to verify is the first. */
SEC("?tp_btf/sys_exit")
int BPF_PROG(scribe_sys_exit, struct pt_regs *regs, long ret)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return scribe_is_untraced(task) ? 0 : scribe_leave(task, regs, SCRIBE_SYSCALL_NR(regs), ret);
}

SEC("?tp_btf/sys_enter")
int BPF_PROG(scribe_sys_enter, struct pt_regs *regs, long id)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return scribe_is_untraced(task) ? 0 : scribe_enter(task, regs, id);
}

SEC("?tp_btf/sched_process_fork")
int BPF_PROG(scribe_sched_fork, struct task_struct *parent, struct task_struct *child)
{
	scribe_fork(parent, child);
	return 0;
}

SEC("?tp_btf/sched_process_exec")
int BPF_PROG(scribe_sched_exec, struct task_struct *task, pid_t old_pid, struct linux_binprm *bprm)
{
	scribe_exec(task, BPF_CORE_READ_BITFIELD_PROBED(bprm, secureexec), true);
	return 0;
}

/* Variant for when no process can join: its verification takes a tenth of the time. */
SEC("?tp_btf/sched_process_exec")
int BPF_PROG(scribe_sched_own, struct task_struct *task, pid_t old_pid, struct linux_binprm *bprm)
{
	scribe_exec(task, BPF_CORE_READ_BITFIELD_PROBED(bprm, secureexec), false);
	return 0;
}

SEC("?tp_btf/sched_process_exit")
int BPF_PROG(scribe_sched_exit, struct task_struct *task)
{
	scribe_exit_task(task);
	return 0;
}

/* Reads a tracepoint argument as a number, whatever type the verifier gives it. */
static __always_inline __u64 scribe_tracepoint_arg(void *ctx, int n)
{
	__u64 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), (__u64 *)ctx + n);
	return value;
}

/* Names and arguments of io_uring's tracepoints differ by kernel; the loader picks (bpf/user/levels.c). */
SEC("?tp_btf/io_uring_submit_req")
int scribe_uring_sub(void *ctx)
{
	return scribe_uring_submit(scribe_tracepoint_arg(ctx, 0));
}

/* Linux 6.0 and 6.1: (request, …); 5.17 to 5.19: (ring, request, …). */
SEC("?tp_btf/io_uring_submit_sqe")
int scribe_uring_sqe(void *ctx)
{
	return scribe_uring_submit(scribe_tracepoint_arg(ctx, 0));
}

SEC("?tp_btf/io_uring_submit_sqe")
int scribe_uring_sqe2(void *ctx)
{
	return scribe_uring_submit(scribe_tracepoint_arg(ctx, 1));
}

SEC("?tp_btf/io_uring_complete")
int scribe_uring_cqe(void *ctx)
{
	struct io_uring_cqe *cqe = (struct io_uring_cqe *)scribe_tracepoint_arg(ctx, 2);
	struct io_uring_cqe c = {};

	bpf_probe_read_kernel(&c, sizeof(c), cqe);
	return scribe_uring_done(scribe_tracepoint_arg(ctx, 1), c.res, c.flags);
}

/* Before Linux 6.15 the result is passed in the arguments. */
SEC("?tp_btf/io_uring_complete")
int scribe_uring_res(void *ctx)
{
	return scribe_uring_done(scribe_tracepoint_arg(ctx, 1), scribe_tracepoint_arg(ctx, 3),
				 scribe_tracepoint_arg(ctx, 4));
}

/* (ring, user_data, result, flags, …) */
SEC("?tp_btf/io_uring_cqe_overflow")
int scribe_uring_ovf(void *ctx)
{
	struct scribe_overflow o = {.user_data = scribe_tracepoint_arg(ctx, 1),
				    .res = scribe_tracepoint_arg(ctx, 2),
				    .flags = scribe_tracepoint_arg(ctx, 3)};

	return scribe_uring_overflow(scribe_tracepoint_arg(ctx, 0), &o);
}

/* What the page cache does. The loader picks those that this kernel has (bpf/user/levels.c). */
SEC("?tp_btf/mm_filemap_add_to_page_cache")
int BPF_PROG(scribe_page_added, struct folio *folio)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return scribe_is_untraced(task) ? 0 : scribe_cache_added(task, folio);
}

SEC("?tp_btf/writeback_dirty_folio")
int BPF_PROG(scribe_page_dirty, struct folio *folio, struct address_space *mapping)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return scribe_is_untraced(task) ? 0 : scribe_cache_dirtied(task, folio, mapping);
}

/* Linux 6.11. */
SEC("?tp_btf/mm_filemap_fault")
int BPF_PROG(scribe_page_fault, struct address_space *mapping)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return scribe_is_untraced(task) ? 0 : scribe_cache_fault(task, (__u64)BPF_CORE_READ(mapping, host));
}

/* Pages of the cache were mapped around the address. */
SEC("?tp_btf/mm_filemap_map_pages")
int BPF_PROG(scribe_page_around, struct address_space *mapping)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return scribe_is_untraced(task) ? 0 : scribe_cache_fault(task, (__u64)BPF_CORE_READ(mapping, host));
}

struct trace_event_raw_balance_dirty_pages {
	long pause; /* ms */
} __attribute__((preserve_access_index));

SEC("?tracepoint/writeback/balance_dirty_pages")
int scribe_page_pause(struct trace_event_raw_balance_dirty_pages *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return scribe_is_untraced(task) ? 0 : scribe_cache_throttled(task, ctx->pause);
}

#ifndef SCRIBE_PROBE_READ
#include "bpf/kern/events.bpf.h"
#endif
