/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * io_uring requests: counters, and the file, by descriptor or by index in the ring's table (direct descriptor).
 */
#ifndef BPF_KERN_IO_URING_REQUEST_BPF_H
#define BPF_KERN_IO_URING_REQUEST_BPF_H

#include "bpf/kern/descs.bpf.h"

/* IOSQE_* */
#define SCRIBE_URING_FIXED_FILE (1u << 0)
#define SCRIBE_URING_DRAIN      (1u << 1)
#define SCRIBE_URING_SKIP       (1u << 6) /* IOSQE_CQE_SKIP_SUCCESS */

#define SCRIBE_SPLICE_IN_FIXED   (1u << 31)  /* io_splice.flags */
#define SCRIBE_URING_ALLOC_INDEX 0xffffffffu /* the kernel chooses the index */

enum scribe_uring_op {
	SCRIBE_URING_READV = 1,
	SCRIBE_URING_WRITEV = 2,
	SCRIBE_URING_FSYNC = 3,
	SCRIBE_URING_READ_FIXED = 4,
	SCRIBE_URING_WRITE_FIXED = 5,
	SCRIBE_URING_SYNC_RANGE = 8,
	SCRIBE_URING_LINK_TIMEOUT = 15,
	SCRIBE_URING_FALLOCATE = 17,
	SCRIBE_URING_OPENAT = 18,
	SCRIBE_URING_CLOSE = 19,
	SCRIBE_URING_STATX = 21,
	SCRIBE_URING_READ = 22,
	SCRIBE_URING_WRITE = 23,
	SCRIBE_URING_FADVISE = 24,
	SCRIBE_URING_OPENAT2 = 28,
	SCRIBE_URING_SPLICE = 30,
	SCRIBE_URING_RENAMEAT = 35,
	SCRIBE_URING_UNLINKAT = 36,
	SCRIBE_URING_MKDIRAT = 37,
	SCRIBE_URING_SYMLINKAT = 38,
	SCRIBE_URING_LINKAT = 39,
	SCRIBE_URING_FSETXATTR = 41,
	SCRIBE_URING_SETXATTR = 42,
	SCRIBE_URING_FGETXATTR = 43,
	SCRIBE_URING_GETXATTR = 44,
	SCRIBE_URING_CMD = 46,
	SCRIBE_URING_READ_MULTI = 49,
	SCRIBE_URING_FTRUNCATE = 55,
	SCRIBE_URING_READV_FIXED = 60,
	SCRIBE_URING_WRITEV_FIXED = 61,
};

static __always_inline int scribe_uring_direction(__u32 op)
{
	switch (op) {
	case SCRIBE_URING_READV:
	case SCRIBE_URING_READ_FIXED:
	case SCRIBE_URING_READ:
	case SCRIBE_URING_READ_MULTI:
	case SCRIBE_URING_READV_FIXED:
		return SCRIBE_OP_READ;
	case SCRIBE_URING_WRITEV:
	case SCRIBE_URING_WRITE_FIXED:
	case SCRIBE_URING_WRITE:
	case SCRIBE_URING_WRITEV_FIXED:
		return SCRIBE_OP_WRITE;
	default:
		return SCRIBE_OP_NONE;
	}
}

/* SCRIBE_EXT_COUNT: none. */
static __always_inline __u32 scribe_uring_counter(__u32 op)
{
	switch (op) {
	case SCRIBE_URING_FALLOCATE:
		return SCRIBE_EXT_FALLOCATES;
	case SCRIBE_URING_SYNC_RANGE:
		return SCRIBE_EXT_SYNC_RANGES;
	case SCRIBE_URING_FADVISE:
		return SCRIBE_EXT_FADVISES;
	case SCRIBE_URING_FTRUNCATE:
		return SCRIBE_EXT_TRUNCATES;
	case SCRIBE_URING_FSETXATTR:
		return SCRIBE_EXT_XATTR_WRITES;
	case SCRIBE_URING_FGETXATTR:
		return SCRIBE_EXT_XATTR_READS;
	default:
		return SCRIBE_EXT_COUNT;
	}
}

static __always_inline bool scribe_uring_followed(__u32 op)
{
	return scribe_uring_direction(op) != SCRIBE_OP_NONE || scribe_uring_counter(op) != SCRIBE_EXT_COUNT ||
	       op == SCRIBE_URING_FSYNC || op == SCRIBE_URING_OPENAT || op == SCRIBE_URING_OPENAT2 ||
	       op == SCRIBE_URING_CLOSE;
}

/* io_kiocb.file is set once issued. */
static __always_inline bool scribe_uring_has_file(__u32 op)
{
	return op != SCRIBE_URING_OPENAT && op != SCRIBE_URING_OPENAT2 && op != SCRIBE_URING_CLOSE;
}

/* Only in the ledger. */
static __always_inline bool scribe_uring_other(__u32 op)
{
	return op == SCRIBE_URING_STATX || (op >= SCRIBE_URING_RENAMEAT && op <= SCRIBE_URING_LINKAT) ||
	       op == SCRIBE_URING_SPLICE || op == SCRIBE_URING_SETXATTR || op == SCRIBE_URING_GETXATTR;
}

/* The table before Linux 6.13. */
struct io_fixed_file___before {
	unsigned long file_ptr;
} __attribute__((preserve_access_index));
struct io_file_table___before {
	struct io_fixed_file___before *files;
} __attribute__((preserve_access_index));
struct io_ring_ctx___before {
	struct io_file_table___before file_table;
	unsigned int nr_user_files;
} __attribute__((preserve_access_index));

#define SCRIBE_URING_FILE_FLAGS 7ull

/* 0: none. */
static __always_inline __u64 scribe_uring_direct_file(struct io_ring_ctx *ctx, __u64 index)
{
	struct io_ring_ctx___before *before = (void *)ctx;
	__u64 at, node = 0;

	if (bpf_core_field_exists(ctx->file_table.data)) {
		if (index >= BPF_CORE_READ(ctx, file_table.data.nr))
			return 0;
		at = (__u64)BPF_CORE_READ(ctx, file_table.data.nodes) + index * 8;
		bpf_probe_read_kernel(&node, sizeof(node), (void *)at);
		return node ? BPF_CORE_READ((struct io_rsrc_node *)node, file_ptr) & ~SCRIBE_URING_FILE_FLAGS : 0;
	}
	if (!bpf_core_field_exists(before->file_table.files) || index >= BPF_CORE_READ(before, nr_user_files))
		return 0;
	at = (__u64)BPF_CORE_READ(before, file_table.files) + index * 8;
	bpf_probe_read_kernel(&node, sizeof(node), (void *)at);
	return node & ~SCRIBE_URING_FILE_FLAGS;
}

/* Before issue; 0: none. */
SCRIBE_GLOBAL __u64 scribe_uring_named_file(__u64 addr)
{
	struct io_kiocb *req = (struct io_kiocb *)addr;
	__u32 fd = BPF_CORE_READ(req, cqe.fd);

	if (BPF_CORE_READ(req, opcode) == SCRIBE_URING_CLOSE) {
		struct io_close *c = (struct io_close *)addr;
		__u32 slot = bpf_core_field_exists(c->file_slot) ? BPF_CORE_READ(c, file_slot) : 0;

		if (slot)
			return scribe_uring_direct_file(BPF_CORE_READ(req, ctx), slot - 1);
		fd = BPF_CORE_READ(c, fd);
	} else if (BPF_CORE_READ(req, flags) & SCRIBE_URING_FIXED_FILE) {
		return scribe_uring_direct_file(BPF_CORE_READ(req, ctx), fd);
	}
	return scribe_fd_file(bpf_get_current_task_btf(), fd);
}

/* 0: none. */
SCRIBE_GLOBAL __u64 scribe_uring_opened_file(__u64 addr, __s32 res)
{
	__u32 slot = BPF_CORE_READ((struct io_open *)addr, file_slot);

	if (!slot)
		return scribe_fd_file(bpf_get_current_task_btf(), res);
	return scribe_uring_direct_file(BPF_CORE_READ((struct io_kiocb *)addr, ctx),
					slot == SCRIBE_URING_ALLOC_INDEX ? (__u32)res : slot - 1);
}

/* 0: none. */
static __always_inline __u64 scribe_uring_linked(__u64 addr)
{
	__u64 next = (__u64)BPF_CORE_READ((struct io_kiocb *)addr, link);

	if (next && BPF_CORE_READ((struct io_kiocb *)next, opcode) == SCRIBE_URING_LINK_TIMEOUT)
		next = (__u64)BPF_CORE_READ((struct io_kiocb *)next, link);
	return next;
}

static __always_inline bool scribe_uring_is_chained(__u64 addr)
{
	return BPF_CORE_READ((struct io_kiocb *)addr, ctx, submit_state.link.head) != 0;
}

#endif
