/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * io_uring: noted at submission, recorded at completion, where the file is
 * known and whichever thread it runs in (the ring's own threads have the
 * process's tgid). A request whose completion is skipped on success is one whose end
 * was not seen (URING_UNMATCHED).
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
	SCRIBE_URING_FADVISE = 24,
	SCRIBE_URING_OPENAT2 = 28,
	SCRIBE_URING_SPLICE = 30,
	SCRIBE_URING_TEE = 33,
	SCRIBE_URING_RENAMEAT = 35,
	SCRIBE_URING_UNLINKAT = 36,
	SCRIBE_URING_MKDIRAT = 37,
	SCRIBE_URING_SYMLINKAT = 38,
	SCRIBE_URING_LINKAT = 39,
	SCRIBE_URING_FSETXATTR = 41,
	SCRIBE_URING_SETXATTR = 42,
	SCRIBE_URING_FGETXATTR = 43,
	SCRIBE_URING_GETXATTR = 44,
	SCRIBE_URING_READ_MULTI = 49,
	SCRIBE_URING_FTRUNCATE = 55,
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

/* Other requests on one file: the counter of each, SCRIBE_EXT_COUNT: it is none of them. */
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

/* Requests that are recorded. */
static __always_inline bool scribe_uring_followed(__u32 op)
{
	return scribe_uring_direction(op) != SCRIBE_OP_NONE || scribe_uring_counter(op) != SCRIBE_EXT_COUNT ||
	       op == SCRIBE_URING_FSYNC || op == SCRIBE_URING_OPENAT || op == SCRIBE_URING_OPENAT2 ||
	       op == SCRIBE_URING_CLOSE;
}

/* Requests on files that are not recorded: they are counted in the ledger. */
static __always_inline bool scribe_uring_other(__u32 op)
{
	return op == SCRIBE_URING_STATX || (op >= SCRIBE_URING_RENAMEAT && op <= SCRIBE_URING_LINKAT) ||
	       op == SCRIBE_URING_SPLICE || op == SCRIBE_URING_TEE || op == SCRIBE_URING_SETXATTR ||
	       op == SCRIBE_URING_GETXATTR;
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
	__sync_fetch_and_add(&p->uring_open, 1);
	if (scribe_flight_put(&key, f))
		scribe_count(p, SCRIBE_L_URING_LOST);
}

SCRIBE_GLOBAL int scribe_uring_submit(__u64 addr)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct scribe_tgid *found = bpf_map_lookup_elem(&scribe_tgids, &tgid);
	struct scribe_stand_in *me;
	struct scribe_thread *t;
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
		if (scribe_uring_other(opcode))
			scribe_count(p, SCRIBE_L_URING_OTHER);
		return 0;
	}
	t = scribe_thread_of(bpf_get_current_task_btf());
	if (t && t->proc_id == p->proc_id)
		scribe_cache_share(t, p);
	if (!(p->flags & SCRIBE_PF_URING))
		__sync_fetch_and_or(&p->flags, SCRIBE_PF_URING);
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
		ext = scribe_uring_counter(f->kind);
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
	if (!(flags & SCRIBE_CQE_MORE) && !scribe_flight_drop(&key) && me)
		__sync_fetch_and_add(&p->uring_open, -1);
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
	scribe_cache_share(t, p);
	t->c_file = 0;
	scribe_stand_in_put(me);
	return 0;
}

/*
 * A completion that the queue has no room for. The kernel tells only what the program will read, not the request:
 * that is the one that this worker runs, or one of those that the ring is telling of just now.
 */
#define SCRIBE_PF_IO_WORKER   0x10 /* task->flags */
#define SCRIBE_OVERFLOW_LOOKS 512

struct scribe_overflow {
	__u64 user_data;
	__s32 res;
	__u32 flags;
};

/* Is it this request, and has nobody seen it end? */
SCRIBE_GLOBAL int scribe_uring_is(__u64 addr, const struct scribe_overflow *o)
{
	struct scribe_flight_key key = {.id = addr};
	struct io_kiocb *req = (struct io_kiocb *)addr;

	return o && BPF_CORE_READ(req, cqe.user_data) == o->user_data && BPF_CORE_READ(req, cqe.res) == o->res &&
	       scribe_flight_find(&key);
}

static __always_inline __u64 scribe_uring_of_worker(struct task_struct *task)
{
	struct io_worker *worker;
	__u64 work;

	if (!(task->flags & SCRIBE_PF_IO_WORKER) || !bpf_core_field_exists(task->worker_private))
		return 0;
	worker = (struct io_worker *)BPF_CORE_READ(task, worker_private);
	work = (__u64)BPF_CORE_READ(worker, cur_work);
	return work ? work - bpf_core_field_offset(struct io_kiocb, work) : 0;
}

static __always_inline int scribe_uring_overflow(__u64 ring, const struct scribe_overflow *o)
{
	__u64 addr = scribe_uring_of_worker(bpf_get_current_task_btf());
	struct io_ring_ctx *ctx = (struct io_ring_ctx *)ring;
	struct io_wq_work_node *node;

	if (addr && scribe_uring_is(addr, o))
		return scribe_uring_done(addr, o->res, o->flags);
	node = BPF_CORE_READ(ctx, submit_state.compl_reqs.first);
	for (__u32 i = 0; i < SCRIBE_OVERFLOW_LOOKS && node; i++) {
		addr = (__u64)node - bpf_core_field_offset(struct io_kiocb, comp_list);
		if (scribe_uring_is(addr, o))
			return scribe_uring_done(addr, o->res, o->flags);
		node = BPF_CORE_READ(node, next);
	}
	return 0;
}

#endif
