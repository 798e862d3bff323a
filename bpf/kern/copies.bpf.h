/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sendfile, splice, copy_file_range, and FICLONE and FICLONERANGE, which share ranges without copying and are
 * cp's first choice: a read of one file and a write of the other. FIDEDUPERANGE only reads both.
 */
#ifndef BPF_KERN_COPIES_BPF_H
#define BPF_KERN_COPIES_BPF_H

#include "bpf/kern/syscall_fd.bpf.h"

SCRIBE_GLOBAL int scribe_copy_side(struct scribe_thread *t, struct scribe_proc *p, __u32 write, __s64 bytes,
				   __s64 offset)
{
	__u32 slot, generation;
	__u64 file;

	if (!t || !p)
		return 0;
	slot = write ? t->slot2 : t->slot;
	generation = write ? t->generation2 : t->generation;
	file = write ? t->file2 : t->file;
	if (!file || slot == SCRIBE_SKIP_SLOT || slot == SCRIBE_NO_SLOT)
		return 0;
	t->op.op = write & 1;
	t->op.bytes = bytes;
	t->op.offset = offset;
	t->op.unaligned = 0;
	scribe_data_of_call(t, p, SCRIBE_AT(slot, generation), file);
	scribe_meta_set(t, SCRIBE_META_EXT, SCRIBE_EXT_SPLICES);
	t->meta.end_ns = t->op.start_ns; /* the data operation has the time */
	scribe_meta_on(t, p, SCRIBE_AT(slot, generation), file);
	return 0;
}

/* From the user's offset, which the call has moved, else from f_pos. */
SCRIBE_GLOBAL __s64 scribe_copy_began(__u64 file, __u64 user_off, __s64 bytes)
{
	__s64 after = 0;

	if (!file)
		return 0;
	if (!user_off || bpf_probe_read_user(&after, sizeof(after), (void *)user_off)) {
		after = scribe_file_pos(file);
		barrier_var(after); /* otherwise one load serves the stack and a file */
	}
	return after - bytes;
}

SCRIBE_GLOBAL int scribe_copy_enter(struct scribe_thread *t, struct scribe_proc *p, __u64 in, __u64 out)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (!t || !p)
		return 0;
	t->file2 = scribe_fd_file(task, out);
	t->slot2 = SCRIBE_SKIP_SLOT;
	if (t->file2)
		t->slot2 = scribe_resolve(t, p, t->file2, false);
	t->generation2 = t->c_generation;
	t->file = scribe_fd_file(task, in);
	t->slot = SCRIBE_SKIP_SLOT;
	if (t->file)
		t->slot = scribe_resolve(t, p, t->file, false);
	t->generation = t->c_generation;
	return 0;
}

/* linux/fs.h */
#define SCRIBE_FICLONE       0x40049409u
#define SCRIBE_FICLONERANGE  0x4020940du
#define SCRIBE_FIDEDUPERANGE 0xc0189436u

#define SCRIBE_DEDUPE_MOST 128 /* targets per call: the kernel takes one page of them */

static __always_inline int scribe_clone_enter(struct scribe_thread *t, struct scribe_proc *p)
{
	__u32 command = SCRIBE_ARG(2);

	if (command == SCRIBE_FICLONE)
		scribe_copy_enter(t, p, SCRIBE_ARG(3), SCRIBE_ARG(1));
	else if (command == SCRIBE_FICLONERANGE &&
		 !bpf_probe_read_user(&t->clone, sizeof(t->clone), (void *)SCRIBE_ARG(3)))
		scribe_copy_enter(t, p, t->clone.from, SCRIBE_ARG(1));
	else if (command == SCRIBE_FIDEDUPERANGE)
		scribe_copy_enter(t, p, SCRIBE_ARG(1), SCRIBE_ARG(1));
	else
		return 0;
	return 1;
}

/* 1: no such target. */
SCRIBE_GLOBAL int scribe_dedupe_one(struct scribe_thread *t, struct scribe_proc *p, __u32 i)
{
	struct scribe_dedupe_target *to;
	struct scribe_dedupe *from;
	__u64 at;

	if (!t || !p)
		return 1;
	from = &t->dedupe.from;
	to = &t->dedupe.to;
	if (bpf_probe_read_user(from, sizeof(*from), (void *)SCRIBE_ARG(3)) || i >= from->count)
		return 1;
	at = SCRIBE_ARG(3) + sizeof(*from) + i * sizeof(*to);
	if (bpf_probe_read_user(to, sizeof(*to), (void *)at) || to->status || !to->bytes)
		return 0;
	scribe_copy_side(t, p, SCRIBE_OP_READ, to->bytes, from->offset);
	t->file = scribe_fd_file(bpf_get_current_task_btf(), to->fd);
	if (t->file) {
		t->slot = scribe_resolve(t, p, t->file, false);
		t->generation = t->c_generation;
		scribe_copy_side(t, p, SCRIBE_OP_READ, to->bytes, to->offset);
	}
	t->file = t->file2;
	t->slot = t->slot2;
	t->generation = t->generation2;
	return 0;
}

static __always_inline void scribe_clone_exit(struct scribe_thread *t, struct scribe_proc *p, __s64 ret)
{
	__u32 command = SCRIBE_ARG(2);
	struct scribe_clone_range *range = &t->clone;

	if (ret < 0 || !t->file)
		return;
	if (command == SCRIBE_FIDEDUPERANGE) {
		for (__u32 i = 0; i < SCRIBE_DEDUPE_MOST; i++) {
			if (scribe_dedupe_one(t, p, i))
				break;
		}
		return;
	}
	__builtin_memset(range, 0, sizeof(*range));
	if (command == SCRIBE_FICLONERANGE && bpf_probe_read_user(range, sizeof(*range), (void *)SCRIBE_ARG(3)))
		return;
	if (!range->bytes)
		range->bytes = scribe_file_size(t->file) - range->from_offset;
	scribe_copy_side(t, p, SCRIBE_OP_READ, range->bytes, range->from_offset);
	scribe_copy_side(t, p, SCRIBE_OP_WRITE, range->bytes, range->to_offset);
}

#endif
