/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same programs on trace events, which run with preemption off on every kernel: none is skipped because
 * another task is inside it.
 */
#ifndef BPF_KERN_EVENTS_BPF_H
#define BPF_KERN_EVENTS_BPF_H

#define SCRIBE_AT_SECURE 23 /* <linux/auxvec.h> */
#define SCRIBE_AUXV_MAX  48

/* Linux 6.2 for tracepoint programs; for trace events, where these need them. */
extern struct task_struct *bpf_task_from_pid(__s32 pid) __ksym __weak;
extern void bpf_task_release(struct task_struct *task) __ksym __weak;

struct scribe_event_of_call {
	__u64 common;
	__u64 id;
	__u64 value; /* sys_exit */
};

struct trace_event_raw_sched_process_fork {
	pid_t child_pid;
} __attribute__((preserve_access_index));

struct trace_event_raw_io_uring_submit_req {
	void *req;
} __attribute__((preserve_access_index));

struct trace_event_raw_io_uring_complete {
	void *req;
	int res;
	unsigned int cflags;
} __attribute__((preserve_access_index));

struct trace_event_raw_io_uring_cqe_overflow {
	void *ctx;
	unsigned long long user_data;
	__s32 res;
	__u32 cflags;
} __attribute__((preserve_access_index));

SEC("?tracepoint/raw_syscalls/sys_enter")
int scribe_event_enter(struct scribe_event_of_call *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return scribe_is_untraced(task) ? 0 : scribe_enter(task, scribe_task_regs(task), ctx->id);
}

SEC("?tracepoint/raw_syscalls/sys_exit")
int scribe_event_exit(struct scribe_event_of_call *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return scribe_is_untraced(task) ? 0 : scribe_leave(task, scribe_task_regs(task), ctx->id, ctx->value);
}

SEC("?tracepoint/sched/sched_process_fork")
int scribe_ev_fork(struct trace_event_raw_sched_process_fork *ctx)
{
	struct task_struct *parent = bpf_get_current_task_btf(), *child;

	if (scribe_is_untraced(parent))
		return 0;
	child = bpf_task_from_pid(ctx->child_pid);
	if (!child)
		return 0;
	scribe_fork(parent, child);
	bpf_task_release(child);
	return 0;
}

/* From the new program's auxiliary vector; true when not found. */
static __noinline bool scribe_is_secureexec(struct task_struct *task)
{
	__u64 at = (__u64)BPF_CORE_READ(task, mm) + bpf_core_field_offset(struct mm_struct, saved_auxv);
	__u64 entry[2];

	for (int i = 0; i < SCRIBE_AUXV_MAX; i++) {
		if (bpf_probe_read_kernel(entry, sizeof(entry), (void *)(at + i * sizeof(entry))) || !entry[0])
			return true;
		if (entry[0] == SCRIBE_AT_SECURE)
			return entry[1];
	}
	return true;
}

SEC("?tracepoint/sched/sched_process_exec")
int scribe_ev_exec(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();

	scribe_exec(task, scribe_is_secureexec(task), true);
	return 0;
}

SEC("?tracepoint/sched/sched_process_exec")
int scribe_ev_own(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (scribe_is_untraced(task))
		return 0;
	scribe_exec(task, scribe_is_secureexec(task), false);
	return 0;
}

SEC("?tracepoint/sched/sched_process_exit")
int scribe_ev_end(void *ctx)
{
	scribe_exit_task(bpf_get_current_task_btf());
	return 0;
}

SEC("?tracepoint/io_uring/io_uring_submit_req")
int scribe_ev_sub(struct trace_event_raw_io_uring_submit_req *ctx)
{
	return scribe_uring_submit((__u64)ctx->req);
}

SEC("?tracepoint/io_uring/io_uring_complete")
int scribe_ev_cqe(struct trace_event_raw_io_uring_complete *ctx)
{
	return scribe_uring_done((__u64)ctx->req, ctx->res, ctx->cflags);
}

SEC("?tracepoint/io_uring/io_uring_cqe_overflow")
int scribe_ev_ovf(struct trace_event_raw_io_uring_cqe_overflow *ctx)
{
	struct scribe_overflow o = {.user_data = ctx->user_data, .res = ctx->res, .flags = ctx->cflags};

	return scribe_uring_overflow((__u64)ctx->ctx, &o);
}

#endif
