/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls not on one descriptor: opens, copies, paths, asynchronous I/O. */
#ifndef BPF_KERN_SYSCALL_BPF_H
#define BPF_KERN_SYSCALL_BPF_H

#include "bpf/kern/aio.bpf.h"
#include "bpf/kern/close_range.bpf.h"
#include "bpf/kern/copies.bpf.h"
#include "bpf/kern/syscall_path.bpf.h"
#include "logfmt/rules/streams.h"

/* False: nothing to do at return. */
static __always_inline int scribe_other_enter(struct scribe_thread *t, struct scribe_proc *p, __u32 class)
{
	if (scribe_is_path_class(class)) {
		scribe_path_enter(t, p, class);
		return 1;
	}
	switch (class) {
	case SCRIBE_CLASS_SENDFILE:
		scribe_io_enter(t, p, bpf_get_current_task_btf(), 0);
		scribe_io_enter(t, p, bpf_get_current_task_btf(), 1);
		scribe_copy_enter(t, p, SCRIBE_ARG(2), SCRIBE_ARG(1));
		return 1;
	case SCRIBE_CLASS_COPY_RANGE:
		scribe_io_enter(t, p, bpf_get_current_task_btf(), 0);
		scribe_io_enter(t, p, bpf_get_current_task_btf(), 1);
		/* fallthrough */
	case SCRIBE_CLASS_SPLICE:
		scribe_copy_enter(t, p, SCRIBE_ARG(1), SCRIBE_ARG(3));
		return 1;
	case SCRIBE_CLASS_IOCTL:
		return scribe_clone_enter(t, p);
	case SCRIBE_CLASS_CLOSE_RANGE:
		if (!(SCRIBE_ARG(3) & SCRIBE_CLOSE_RANGE_CLOEXEC))
			scribe_close_range(t, p, SCRIBE_ARG(1), SCRIBE_ARG(2));
		return 0;
	case SCRIBE_CLASS_EXEC:
		scribe_io_enter(t, p, bpf_get_current_task_btf(), 0); /* fallthrough */
	case SCRIBE_CLASS_EXIT:
	case SCRIBE_CLASS_AIO_SUBMIT:
	case SCRIBE_CLASS_AIO_DESTROY:
		scribe_aio_enter(t, p, class);
		return class == SCRIBE_CLASS_EXEC || class == SCRIBE_CLASS_AIO_SUBMIT;
	default:
		return 1;
	}
}

static __always_inline void scribe_copy_exit(struct scribe_thread *t, struct scribe_proc *p, __u32 class, __s64 ret)
{
	__u64 in_off = class == SCRIBE_CLASS_SENDFILE ? SCRIBE_ARG(3) : SCRIBE_ARG(2);
	__u64 out_off = class == SCRIBE_CLASS_SENDFILE ? 0 : SCRIBE_ARG(4);

	/*
	 * The kernel's account has a read and a write, but not after an early failure or an empty copy: take it
	 * over.
	 */
	if (class != SCRIBE_CLASS_SPLICE) {
		struct task_struct *task = bpf_get_current_task_btf();

		t->io[0] = scribe_io_kernel(task, 0);
		t->io[1] = scribe_io_kernel(task, 1);
	}
	if (ret < 0)
		return;
	scribe_copy_side(t, p, SCRIBE_OP_READ, ret, scribe_copy_began(t->file, in_off, ret));
	scribe_copy_side(t, p, SCRIBE_OP_WRITE, ret, scribe_copy_began(t->file2, out_off, ret));
}

/* Mode argument of an open: valid only if the call may create. */
static __always_inline __u32 scribe_open_mode(struct scribe_thread *t, __u32 class)
{
	__u64 how[2] = {};

	switch (class) {
	case SCRIBE_CLASS_CREAT:
		return SCRIBE_ARG(2);
	case SCRIBE_CLASS_OPEN:
		return SCRIBE_ARG(2) & (SCRIBE_O_CREAT | SCRIBE_O_TMPFILE) ? SCRIBE_ARG(3) : 0;
	case SCRIBE_CLASS_OPENAT2:
		bpf_probe_read_user(how, sizeof(how), (void *)SCRIBE_ARG(3));
		return how[1];
	default:
		return SCRIBE_ARG(3) & (SCRIBE_O_CREAT | SCRIBE_O_TMPFILE) ? SCRIBE_ARG(4) : 0;
	}
}

static __always_inline int scribe_other_exit(struct scribe_thread *t, struct scribe_proc *p, __u32 class, __s64 ret)
{
	if (scribe_is_path_class(class)) {
		scribe_path_leave(t, p, class, ret);
		return 0;
	}
	switch (class) {
	case SCRIBE_CLASS_SENDFILE:
	case SCRIBE_CLASS_SPLICE:
	case SCRIBE_CLASS_COPY_RANGE:
		scribe_copy_exit(t, p, class, ret);
		return 0;
	case SCRIBE_CLASS_EXEC: /* it failed; after a success the thread's class is 0 */
		scribe_io_account_sync(t, p, bpf_get_current_task_btf(), 0, SCRIBE_L_LEFT_BEFORE_CALLS);
		return 0;
	case SCRIBE_CLASS_IOCTL:
		scribe_clone_exit(t, p, ret);
		return 0;
	case SCRIBE_CLASS_OPEN:
	case SCRIBE_CLASS_CREAT:
	case SCRIBE_CLASS_OPENAT:
	case SCRIBE_CLASS_OPENAT2:
		if (class == SCRIBE_CLASS_OPENAT && SCRIBE_ARG(4) == SCRIBE_OPEN_OWN)
			scribe_open_own(t, p, ret);
		else if (ret < 0)
			scribe_count(p, SCRIBE_L_FAILED_PATHS);
		else
			scribe_open_exit(t, p, scribe_fd_file(bpf_get_current_task_btf(), ret),
					 scribe_open_mode(t, class) & 07777);
		return 0;
	case SCRIBE_CLASS_MSYNC:
		if (ret == 0)
			scribe_msync(t, p, SCRIBE_ARG(1));
		return 0;
	case SCRIBE_CLASS_AIO_GETEVENTS:
		if (ret > 0)
			scribe_aio_reap(t, p, SCRIBE_ARG(1), SCRIBE_ARG(4), ret);
		return 0;
	case SCRIBE_CLASS_AIO_SETUP:
		if (ret == 0)
			scribe_aio_begin(t, SCRIBE_ARG(2));
		return 0;
	case SCRIBE_CLASS_AIO_SUBMIT:
		scribe_aio_submitted(t, p, SCRIBE_ARG(2), SCRIBE_ARG(3), ret);
		return 0;
	}
	return 0;
}

#endif
