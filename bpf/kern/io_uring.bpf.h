/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * io_uring: noted at submission, recorded at completion, where the file is
 * known and whichever thread it runs in (the ring's own threads have the
 * process's tgid). A request whose completion is skipped on success shows up in
 * the ledger as submitted and not completed.
 */
#ifndef BPF_KERN_IO_URING_BPF_H
#define BPF_KERN_IO_URING_BPF_H

#include "bpf/kern/aio.bpf.h"

#define SCRIBE_CQE_MORE       2 /* the request completes again */
#define SCRIBE_FSYNC_DATASYNC 1

/* enum io_uring_op is user-space ABI. */
enum scribe_uring_op {
	SCRIBE_URING_READV = 1,
	SCRIBE_URING_WRITEV = 2,
	SCRIBE_URING_FSYNC = 3,
	SCRIBE_URING_READ_FIXED = 4,
	SCRIBE_URING_WRITE_FIXED = 5,
	SCRIBE_URING_SYNC_RANGE = 8,
	SCRIBE_URING_FALLOCATE = 17,
	SCRIBE_URING_OPENAT = 18,
	SCRIBE_URING_CLOSE = 19,
	SCRIBE_URING_STATX = 21,
	SCRIBE_URING_READ = 22,
	SCRIBE_URING_WRITE = 23,
	SCRIBE_URING_OPENAT2 = 28,
	SCRIBE_URING_RENAMEAT = 35,
	SCRIBE_URING_UNLINKAT = 36,
	SCRIBE_URING_MKDIRAT = 37,
	SCRIBE_URING_SYMLINKAT = 38,
	SCRIBE_URING_LINKAT = 39,
	SCRIBE_URING_READ_MULTI = 49,
	SCRIBE_URING_READV_FIXED = 60,
	SCRIBE_URING_WRITEV_FIXED = 61,
};

/* Process of a tgid: completions run in threads that are not enrolled. */
struct scribe_tgid {
	__u32 proc;
	__u32 proc_id;
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scribe_tgid);
} scribe_tgids SEC(".maps");

/* A thread's state for work done on behalf of a process: as many a CPU as tasks may be in our programs there.
 */
#define SCRIBE_STAND_INS 3
struct scribe_stand_in {
	__u32 busy;
	__u32 pad;
	struct scribe_thread thread;
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRIBE_STAND_INS);
	__type(key, __u32);
	__type(value, struct scribe_stand_in);
} scribe_stand_ins SEC(".maps");

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

/* Requests that are recorded; others on paths are only counted. */
static __always_inline bool scribe_uring_followed(__u32 op)
{
	return scribe_uring_direction(op) != SCRIBE_OP_NONE || op == SCRIBE_URING_FSYNC ||
	       op == SCRIBE_URING_SYNC_RANGE || op == SCRIBE_URING_FALLOCATE || op == SCRIBE_URING_OPENAT ||
	       op == SCRIBE_URING_OPENAT2 || op == SCRIBE_URING_CLOSE;
}

static __always_inline bool scribe_uring_on_path(__u32 op)
{
	return op == SCRIBE_URING_STATX || (op >= SCRIBE_URING_RENAMEAT && op <= SCRIBE_URING_LINKAT);
}

static __always_inline struct scribe_stand_in *scribe_stand_in_take(const struct scribe_proc *p)
{
	for (__u32 i = 0; i < SCRIBE_STAND_INS; i++) {
		__u32 key = i;
		struct scribe_stand_in *me = bpf_map_lookup_elem(&scribe_stand_ins, &key);

		if (me && !__sync_lock_test_and_set(&me->busy, 1))
			return me;
	}
	scribe_count(p, SCRIBE_L_URING_LOST);
	return 0;
}

static __always_inline void scribe_stand_in_put(struct scribe_stand_in *me)
{
	__sync_lock_test_and_set(&me->busy, 0);
}

/* Where a read or write is to be, and from what memory. */
static __always_inline void scribe_uring_rw(struct scribe_proc *p, struct scribe_flight *f, __u64 addr)
{
	struct io_rw *rw = SCRIBE_CAST(io_rw, addr);
	__u64 buffer = SCRIBE_GET(rw, addr);

	f->offset = SCRIBE_GET(rw, kiocb.ki_pos);
	if (f->kind == SCRIBE_URING_READV || f->kind == SCRIBE_URING_WRITEV)
		f->unaligned = scribe_iov_unaligned(p, buffer, (__u32)SCRIBE_GET(rw, len), p->mem_align);
	else
		f->unaligned = buffer && scribe_misaligned(buffer, p->mem_align);
}

static __always_inline void scribe_uring_note(struct scribe_proc *p, struct scribe_flight *f, __u64 addr)
{
	struct scribe_flight_key key = {.id = addr};

	if (scribe_uring_direction(f->kind) != SCRIBE_OP_NONE) {
		scribe_uring_rw(p, f, addr);
	} else if (f->kind == SCRIBE_URING_CLOSE) {
		struct io_close *c = SCRIBE_CAST(io_close, addr);

		/* Without file_slot (before 5.16) there are no direct descriptors to close. */
		if (!bpf_core_field_exists(c->file_slot) || SCRIBE_GET(c, file_slot) == 0)
			f->file = scribe_fd_file(bpf_get_current_task_btf(), SCRIBE_GET(c, fd));
	}
	f->start_ns = bpf_ktime_get_ns();
	scribe_count(p, SCRIBE_L_URING_SUBMITTED);
	if (scribe_flight_put(&key, f))
		scribe_count(p, SCRIBE_L_URING_LOST);
}

SCRIBE_GLOBAL int scribe_uring_submit(__u64 addr)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct scribe_tgid *found = bpf_map_lookup_elem(&scribe_tgids, &tgid);
	struct scribe_stand_in *me;
	struct scribe_flight *f;
	struct io_kiocb *req;
	struct scribe_proc *p;
	__u8 opcode;

	if (!found)
		return 0;
	p = scribe_proc_at(found->proc);
	if (!p || p->proc_id != found->proc_id || (p->flags & SCRIBE_PF_NOT_RECORDED))
		return 0;
	req = SCRIBE_CAST(io_kiocb, addr);
	opcode = SCRIBE_GET(req, opcode);
	if (!scribe_uring_followed(opcode)) {
		if (scribe_uring_on_path(opcode))
			scribe_count(p, SCRIBE_L_URING_OTHER);
		return 0;
	}
	me = scribe_stand_in_take(p);
	if (!me)
		return 0;
	f = &me->thread.flight;
	__builtin_memset(f, 0, sizeof(*f));
	f->kind = opcode;
	f->proc = found->proc;
	f->proc_id = found->proc_id;
	scribe_uring_note(p, f, addr);
	scribe_stand_in_put(me);
	return 0;
}

/* The finished read or write t->flight, on the stand-in's behalf. */
static __always_inline void scribe_uring_data(struct scribe_thread *t, struct scribe_proc *p, __u64 addr,
					      __s32 res)
{
	struct io_rw *rw = SCRIBE_CAST(io_rw, addr);
	struct scribe_flight *f = &t->flight;
	__u32 write = scribe_uring_direction(f->kind);

	if (f->offset == -1 || (write && (scribe_file_flags(f->file) & SCRIBE_O_APPEND)))
		f->offset = (__s64)SCRIBE_GET(rw, kiocb.ki_pos) - (res > 0 ? res : 0);
	f->slot = scribe_resolve(t, p, f->file, false);
	f->generation = t->c_generation;
	scribe_flight_done(t, p, res, write, SCRIBE_EXT_URING_OPS);
}

static __always_inline void scribe_uring_meta(struct scribe_thread *t, struct scribe_proc *p, __u64 addr,
					      __s32 res)
{
	struct scribe_flight *f = &t->flight;
	__u32 what = SCRIBE_META_EXT, ext = SCRIBE_EXT_COUNT;

	if (f->kind == SCRIBE_URING_FSYNC) {
		struct io_sync *s = SCRIBE_CAST(io_sync, addr);

		what = SCRIBE_GET(s, flags) & SCRIBE_FSYNC_DATASYNC ? SCRIBE_META_FDSYNC : SCRIBE_META_FSYNC;
	} else if (f->kind == SCRIBE_URING_CLOSE) {
		what = SCRIBE_META_CLOSE;
		ext = SCRIBE_EXT_CLOSES;
	} else {
		ext = f->kind == SCRIBE_URING_FALLOCATE ? SCRIBE_EXT_FALLOCATES : SCRIBE_EXT_SYNC_RANGES;
	}
	if (res < 0) {
		what = SCRIBE_META_EXT;
		ext = SCRIBE_EXT_FAILED_META;
	}
	f->slot = scribe_resolve(t, p, f->file, false);
	f->generation = t->c_generation;
	scribe_meta_set(t, what, ext);
	t->meta.start_ns = f->start_ns;
	if (f->slot != SCRIBE_SKIP_SLOT && f->slot != SCRIBE_NO_SLOT)
		scribe_meta_on(t, p, SCRIBE_AT(f->slot, f->generation), f->file);
}

SCRIBE_GLOBAL int scribe_uring_record(struct scribe_thread *t, struct scribe_proc *p, __u64 addr, __s32 res)
{
	struct scribe_flight *f;

	if (!t || !p)
		return 0;
	f = &t->flight;
	if (f->kind == SCRIBE_URING_OPENAT || f->kind == SCRIBE_URING_OPENAT2) {
		struct io_open *o = SCRIBE_CAST(io_open, addr);

		if (res < 0)
			scribe_count(p, SCRIBE_L_FAILED_PATHS);
		else if (SCRIBE_GET(o, file_slot))
			scribe_count(p, SCRIBE_L_URING_DIRECT_OPEN);
		else
			scribe_open_exit(t, p, res, SCRIBE_GET(o, how.mode));
		return 0;
	}
	if (f->kind != SCRIBE_URING_CLOSE)
		SCRIBE_LOAD(&f->file, addr + bpf_core_field_offset(struct io_kiocb, file));
	if (!f->file)
		return 0;
	if (scribe_uring_direction(f->kind) != SCRIBE_OP_NONE)
		scribe_uring_data(t, p, addr, res);
	else
		scribe_uring_meta(t, p, addr, res);
	return 0;
}

SCRIBE_GLOBAL int scribe_uring_done(__u64 addr, __s32 res, __u32 flags)
{
	struct scribe_flight_key key = {.id = addr};
	struct scribe_flight *found = scribe_flight_find(&key);
	struct scribe_stand_in *me;
	struct scribe_thread *t;
	struct scribe_proc *p;

	if (!found)
		return 0;
	p = scribe_proc_at(found->proc);
	if (!p || p->proc_id != found->proc_id)
		return 0;
	me = scribe_stand_in_take(p);
	if (me)
		me->thread.flight = *found;
	if (!(flags & SCRIBE_CQE_MORE))
		scribe_flight_drop(&key);
	if (!me)
		return 0;
	t = &me->thread;
	t->stand_in = 1;
	t->proc = t->flight.proc;
	t->proc_id = t->flight.proc_id;
	t->c_file = 0;
	t->events = 0;
	t->op.start_ns = t->flight.start_ns;
	t->op.end_ns = bpf_ktime_get_ns();
	scribe_uring_record(t, p, addr, res);
	scribe_count(p, SCRIBE_L_URING_COMPLETED);
	scribe_count_many(p, SCRIBE_L_EVENTS, t->events);
	/* Nothing of this process stays in the stand-in. */
	if (t->c_file && !t->c_kept)
		scribe_desc_put(p, t->c_file, t->c_inode, t->c_slot, t->c_generation);
	t->c_file = 0;
	scribe_stand_in_put(me);
	return 0;
}

#endif
