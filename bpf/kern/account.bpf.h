/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the kernel's accounting of a thread (task->ioac) with what the programs have seen; the ledger has
 * the difference. Not included: libaio, io_uring, splice, send, recv.
 */
#ifndef BPF_KERN_ACCOUNT_BPF_H
#define BPF_KERN_ACCOUNT_BPF_H

#include "bpf/kern/cache.bpf.h"
#include "bpf/kern/syscall_class.h"

#define SCRIBE_CORE_DUMPED 0x80
/* io_begun; 0: the thread ran before it was enrolled */
#define SCRIBE_IO_BEGUN 1
#define SCRIBE_IO_LATE  2 /* enrolled while nothing was attached to system calls */
/* The kernel reads less to execute a program (headers, scripts, loaders). */
#define SCRIBE_EXEC_CALLS 32

/* Tests only: lose every n-th return of a data call; 0: none. */
const volatile __u32 scribe_lose_each;

#define SCRIBE_HAS_ACCOUNT(task) bpf_core_field_exists((task)->ioac.syscr)

static __always_inline struct scribe_io scribe_io_kernel(struct task_struct *task, __u32 write)
{
	struct scribe_io io = {};

	if (!SCRIBE_HAS_ACCOUNT(task))
		return io;
	io.calls = write ? task->ioac.syscw : task->ioac.syscr;
	io.bytes = write ? task->ioac.wchar : task->ioac.rchar;
	return io;
}

static __always_inline void scribe_io_count(const struct scribe_proc *p, enum scribe_ledger_id calls, __u64 ncalls,
					    __u64 nbytes)
{
	if (ncalls)
		scribe_count_many(p, calls, ncalls);
	if (nbytes)
		scribe_count_many(p, calls + 1, nbytes);
}

/* Sets the thread's account to the kernel's; the difference goes to `calls` and the bytes counter after it. */
static __always_inline void scribe_io_account_sync(struct scribe_thread *t, struct scribe_proc *p,
						   struct task_struct *task, __u32 write, enum scribe_ledger_id calls)
{
	struct scribe_io now = scribe_io_kernel(task, write), *mine = &t->io[write & 1];

	scribe_io_count(p, calls, now.calls - mine->calls, now.bytes - mine->bytes);
	*mine = now;
}

static __always_inline __u32 scribe_io_begins(void)
{
	struct scribe_ctl *ctl = scribe_ctl_get();

	return ctl && ctl->calls ? SCRIBE_IO_BEGUN : SCRIBE_IO_LATE;
}

static __always_inline void scribe_io_late(struct scribe_thread *t, struct scribe_proc *p, struct task_struct *task)
{
	scribe_io_account_sync(t, p, task, 0, SCRIBE_L_LATE_CALLS);
	scribe_io_account_sync(t, p, task, 1, SCRIBE_L_LATE_CALLS);
}

/* The accounts differ: calls from before the thread was recorded, or missed calls. */
SCRIBE_GLOBAL int scribe_io_differs(struct scribe_thread *t, struct scribe_proc *p, __u32 write)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (!t || !p)
		return 0;
	if (t->io_begun == SCRIBE_IO_BEGUN) {
		scribe_io_account_sync(t, p, task, write & 1, SCRIBE_L_IO_MISSED_CALLS);
		return 0;
	}
	if (t->io_begun == SCRIBE_IO_LATE) {
		t->io_begun = SCRIBE_IO_BEGUN;
		scribe_io_late(t, p, task);
		return 0;
	}
	t->io_begun = SCRIBE_IO_BEGUN;
	scribe_io_account_sync(t, p, task, 0, SCRIBE_L_LEFT_BEFORE_CALLS);
	scribe_io_account_sync(t, p, task, 1, SCRIBE_L_LEFT_BEFORE_CALLS);
	return 0;
}

static __always_inline void scribe_io_enter(struct scribe_thread *t, struct scribe_proc *p, struct task_struct *task,
					    const __u32 write)
{
	if (!SCRIBE_HAS_ACCOUNT(task))
		return;
	SCRIBE_APART(write);
	if (write)
		scribe_cache_begin(t, task, write);
	t->io_before = write ? task->ioac.syscw : task->ioac.syscr;
	if (t->io_before != t->io[write & 1].calls)
		scribe_io_differs(t, p, write);
}

/* False: the kernel did not count the call, because it failed at once. */
static __always_inline bool scribe_io_leave(struct scribe_thread *t, __u32 write, __s64 ret)
{
	struct scribe_io *mine = &t->io[write & 1];

	if (ret < 0) {
		struct task_struct *task = bpf_get_current_task_btf();

		if (!SCRIBE_HAS_ACCOUNT(task) || t->io_before == (write ? task->ioac.syscw : task->ioac.syscr))
			return false;
		ret = 0;
	}
	mine->calls++;
	mine->bytes += ret;
	return true;
}

static __always_inline void scribe_io_left(struct scribe_thread *t, struct scribe_proc *p, __u32 write, __s64 ret)
{
	__u32 cause = t->left;

	if (cause == SCRIBE_LEFT_LOST || !scribe_io_leave(t, write, ret))
		return;
	scribe_io_count(p, SCRIBE_L_LEFT_PIPE_CALLS + 2 * (cause & 3), 1, ret > 0 ? ret : 0);
}

/* The kernel's own reads for an exec are not the program's. */
static __always_inline void scribe_io_exec(struct scribe_thread *t, struct scribe_proc *p, struct task_struct *task)
{
	__u64 more = scribe_io_kernel(task, 0).calls - t->io[0].calls;
	bool missed = t->io_begun && more > SCRIBE_EXEC_CALLS;

	if (t->io_begun == SCRIBE_IO_LATE)
		scribe_io_late(t, p, task);
	scribe_io_account_sync(t, p, task, 0, missed ? SCRIBE_L_IO_MISSED_CALLS : SCRIBE_L_LEFT_BEFORE_CALLS);
	scribe_io_account_sync(t, p, task, 1, t->io_begun ? SCRIBE_L_IO_MISSED_CALLS : SCRIBE_L_LEFT_BEFORE_CALLS);
	t->io_begun = scribe_io_begins();
}

/* At thread exit: adds the kernel's totals, and what the programs have missed of them. */
static __always_inline void scribe_io_end(struct scribe_thread *t, struct scribe_proc *p, struct task_struct *task,
					  bool dumped)
{
	if (t->io_begun == SCRIBE_IO_LATE && !dumped)
		scribe_io_late(t, p, task);
	for (int write = 0; write < 2; write++) {
		struct scribe_io now = scribe_io_kernel(task, write);

		scribe_io_count(p, SCRIBE_L_IO_CALLS, now.calls, now.bytes);
		scribe_io_account_sync(t, p, task, write,
				       t->io_begun && !dumped ? SCRIBE_L_IO_MISSED_CALLS : SCRIBE_L_LEFT_BEFORE_CALLS);
	}
}

#endif
