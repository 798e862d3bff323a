/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that are not on one descriptor: opens, copies, paths, asynchronous I/O.
 */
#ifndef BPF_DISPATCH_BPF_H
#define BPF_DISPATCH_BPF_H

#include "bpf/async.bpf.h"
#include "bpf/path.bpf.h"

/* Entry; false: nothing to do at return. */
static __always_inline int scribe_other_enter(struct scribe_thread *t, struct scribe_proc *p, __u32 act)
{
	switch (act) {
	case SCRIBE_ACT_SENDFILE:
		scribe_io_enter(t, p, bpf_get_current_task_btf(), 0);
		scribe_io_enter(t, p, bpf_get_current_task_btf(), 1);
		scribe_copy_enter(t, p, SCRIBE_ARG(2), SCRIBE_ARG(1));
		return 1;
	case SCRIBE_ACT_COPY_RANGE:
		scribe_io_enter(t, p, bpf_get_current_task_btf(), 0);
		scribe_io_enter(t, p, bpf_get_current_task_btf(), 1);
		/* fallthrough */
	case SCRIBE_ACT_SPLICE:
		scribe_copy_enter(t, p, SCRIBE_ARG(1), SCRIBE_ARG(3));
		return 1;
	case SCRIBE_ACT_FSTATAT:
	case SCRIBE_ACT_STATX:
		/* Whether the string is empty is seen at return, when it can be read. */
		t->slot = SCRIBE_NO_SLOT;
		if (scribe_may_be_empty(t, act) &&
		    !scribe_fd_enter(t, p, bpf_get_current_task_btf(), act, SCRIBE_ARG(1)))
			t->slot = SCRIBE_SKIP_SLOT;
		return 1;
	case SCRIBE_ACT_CLOSE_RANGE:
		if (!(SCRIBE_ARG(3) & SCRIBE_CLOSE_RANGE_CLOEXEC))
			scribe_close_range(t, p, SCRIBE_ARG(1), SCRIBE_ARG(2));
		return 0;
	case SCRIBE_ACT_AIO_SUBMIT:
		return scribe_aio_submit(t, p, SCRIBE_ARG(2), SCRIBE_ARG(3));
	default:
		return 1;
	}
}

static __always_inline void scribe_copy_exit(struct scribe_thread *t, struct scribe_proc *p, __u32 act,
					     __s64 ret)
{
	__u64 in_off = act == SCRIBE_ACT_SENDFILE ? SCRIBE_ARG(3) : SCRIBE_ARG(2);
	__u64 out_off = act == SCRIBE_ACT_SENDFILE ? 0 : SCRIBE_ARG(4);

	/* Counted by the kernel as a read and a write, but not when it fails early or copies nothing. */
	if (act != SCRIBE_ACT_SPLICE) {
		struct task_struct *task = bpf_get_current_task_btf();

		t->io[0] = scribe_io_kernel(task, 0);
		t->io[1] = scribe_io_kernel(task, 1);
	}
	if (ret < 0)
		return;
	scribe_copy_side(t, p, SCRIBE_OP_READ, ret, in_off);
	scribe_copy_side(t, p, SCRIBE_OP_WRITE, ret, out_off);
}

/* Mode argument of an open: only there when the call may create. */
static __always_inline __u32 scribe_open_mode(struct scribe_thread *t, __u32 act)
{
	__u64 how[2] = {};

	switch (act) {
	case SCRIBE_ACT_CREAT:
		return SCRIBE_ARG(2);
	case SCRIBE_ACT_OPEN:
		return SCRIBE_ARG(2) & (SCRIBE_O_CREAT | SCRIBE_O_TMPFILE) ? SCRIBE_ARG(3) : 0;
	case SCRIBE_ACT_OPENAT2:
		bpf_probe_read_user(how, sizeof(how), (void *)SCRIBE_ARG(3));
		return how[1];
	default:
		return SCRIBE_ARG(3) & (SCRIBE_O_CREAT | SCRIBE_O_TMPFILE) ? SCRIBE_ARG(4) : 0;
	}
}

static __always_inline int scribe_other_exit(struct scribe_thread *t, struct scribe_proc *p, __u32 act,
					     __s64 ret)
{
	switch (act) {
	case SCRIBE_ACT_SENDFILE:
	case SCRIBE_ACT_SPLICE:
	case SCRIBE_ACT_COPY_RANGE:
		scribe_copy_exit(t, p, act, ret);
		return 0;
	case SCRIBE_ACT_OPEN:
	case SCRIBE_ACT_CREAT:
	case SCRIBE_ACT_OPENAT:
	case SCRIBE_ACT_OPENAT2:
		if (ret < 0)
			scribe_count(p, SCRIBE_L_FAILED_PATHS);
		else
			scribe_open_exit(t, p, ret, scribe_open_mode(t, act) & 07777);
		return 0;
	case SCRIBE_ACT_MSYNC:
		if (ret == 0)
			scribe_msync(t, p, SCRIBE_ARG(1));
		return 0;
	case SCRIBE_ACT_AIO_GETEVENTS:
		if (ret > 0)
			scribe_aio_reap(t, p, SCRIBE_ARG(4), ret);
		return 0;
	case SCRIBE_ACT_AIO_SUBMIT:
		scribe_aio_submitted(t, p, SCRIBE_ARG(3), ret);
		return 0;
	}
	if ((act == SCRIBE_ACT_FSTATAT || act == SCRIBE_ACT_STATX) && t->slot != SCRIBE_NO_SLOT &&
	    scribe_is_empty(t)) {
		if (t->slot != SCRIBE_SKIP_SLOT)
			scribe_fd_exit(t, p, act, 0, ret);
		return 0;
	}
	scribe_path_exit(t, p, act, ret);
	return 0;
}

#endif
