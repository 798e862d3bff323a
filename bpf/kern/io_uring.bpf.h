/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * io_uring: noted at submission, recorded at completion, in any thread (the ring's have the process's tgid).
 * Skipped completions are not seen (URING_UNMATCHED). In chains a request's file is looked up when its
 * predecessor completes, because the chain may change it.
 */
#ifndef BPF_KERN_IO_URING_BPF_H
#define BPF_KERN_IO_URING_BPF_H

#include "bpf/kern/aio.bpf.h"
#include "bpf/kern/io_uring_request.bpf.h"

#define SCRIBE_CQE_MORE       2 /* completes again */
#define SCRIBE_FSYNC_DATASYNC 1
#define SCRIBE_ECANCELED      125

/* Completions run in threads that are not enrolled. */
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

/* A thread's state for work on behalf of processes; per CPU, as many as tasks can be in programs. */
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

static __always_inline struct scribe_thread *scribe_stand_in_begin(struct scribe_stand_in *me, __u32 proc,
								   __u32 proc_id)
{
	struct scribe_thread *t = &me->thread;

	t->stand_in = 1;
	t->proc = proc;
	t->proc_id = proc_id;
	t->c_file = 0;
	t->events = 0;
	return t;
}

static __always_inline void scribe_stand_in_end(struct scribe_stand_in *me, struct scribe_proc *p)
{
	scribe_count_many(p, SCRIBE_L_EVENTS, me->thread.events);
	scribe_cache_share(&me->thread, p);
	me->thread.c_file = 0;
	scribe_stand_in_put(me);
}

/* Before the close is issued: afterwards the address can be reused. */
SCRIBE_GLOBAL int scribe_uring_closing(struct scribe_thread *t, struct scribe_proc *p, __u64 addr)
{
	if (!t || !p)
		return 0;
	t->flight.file = scribe_uring_named_file(addr);
	t->flight.slot = SCRIBE_NO_SLOT;
	if (!t->flight.file)
		return 0;
	t->flight.slot = scribe_resolve(t, p, t->flight.file, false);
	t->flight.generation = t->c_generation;
	return 0;
}

/* False: the file is not recorded. */
SCRIBE_GLOBAL int scribe_uring_note(struct scribe_thread *t, struct scribe_proc *p, __u64 addr)
{
	struct scribe_flight *f;
	__u64 file;
	__u32 flags;

	if (!t || !p)
		return 0;
	f = &t->flight;
	flags = BPF_CORE_READ((struct io_kiocb *)addr, flags);
	f->skip = (flags & SCRIBE_URING_SKIP) != 0;
	f->issued = !scribe_uring_is_chained(addr) && !(flags & SCRIBE_URING_DRAIN);
	if (f->kind != SCRIBE_URING_OPENAT && f->kind != SCRIBE_URING_OPENAT2 && f->issued) {
		file = scribe_uring_named_file(addr);
		if (file && !scribe_file_counts(p, file))
			return 0;
	}
	if (scribe_uring_direction(f->kind) != SCRIBE_OP_NONE)
		scribe_uring_rw(p, f, addr);
	else if (f->kind == SCRIBE_URING_CLOSE && !scribe_uring_is_chained(addr))
		scribe_uring_closing(t, p, addr);
	f->start_ns = bpf_ktime_get_ns();
	return 1;
}

static __always_inline bool scribe_uring_other_counts(struct scribe_proc *p, __u64 addr, __u32 opcode)
{
	struct io_splice *splice = (struct io_splice *)addr;
	__u64 in, out;

	if (opcode != SCRIBE_URING_SPLICE || scribe_uring_is_chained(addr))
		return scribe_uring_other(opcode);
	out = scribe_uring_named_file(addr);
	if (BPF_CORE_READ(splice, flags) & SCRIBE_SPLICE_IN_FIXED)
		in = scribe_uring_direct_file(BPF_CORE_READ((struct io_kiocb *)addr, ctx),
					      (__u32)BPF_CORE_READ(splice, splice_fd_in));
	else
		in = scribe_fd_file(bpf_get_current_task_btf(), BPF_CORE_READ(splice, splice_fd_in));
	return (out && scribe_file_counts(p, out)) || (in && scribe_file_counts(p, in));
}

/* Commands to a character device: NVMe's read and write past the file system. Others are those of sockets and FUSE. */
SCRIBE_GLOBAL int scribe_uring_command(struct scribe_proc *p, __u64 addr)
{
	__u64 file = scribe_uring_named_file(addr);

	if (!p || !file)
		return 0;
	if ((SCRIBE_GET(SCRIBE_CAST(file, file), f_inode, i_mode) & S_IFMT) == S_IFCHR)
		__sync_fetch_and_or(&p->flags, SCRIBE_PF_PASSED);
	return 0;
}

SCRIBE_GLOBAL int scribe_uring_submit(__u64 addr)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct scribe_tgid *found = bpf_map_lookup_elem(&scribe_tgids, &tgid);
	struct scribe_flight_key key = {.id = addr};
	struct scribe_stand_in *me;
	struct scribe_thread *t;
	struct scribe_flight *f;
	struct scribe_proc *p;
	__u8 opcode;

	if (!found)
		return 0;
	p = scribe_proc_at(found->proc);
	if (!p || p->proc_id != found->proc_id || (p->flags & SCRIBE_PF_NOT_RECORDED))
		return 0;
	opcode = BPF_CORE_READ((struct io_kiocb *)addr, opcode);
	if (!scribe_uring_followed(opcode)) {
		if (opcode == SCRIBE_URING_CMD)
			scribe_uring_command(p, addr);
		if (scribe_uring_other_counts(p, addr, opcode))
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
	t = scribe_stand_in_begin(me, found->proc, found->proc_id);
	f = &t->flight;
	__builtin_memset(f, 0, sizeof(*f));
	f->kind = opcode;
	f->proc = found->proc;
	f->proc_id = found->proc_id;
	if (scribe_uring_note(t, p, addr)) {
		scribe_count(p, SCRIBE_L_URING_SUBMITTED);
		if (scribe_flight_put(&key, f))
			scribe_count(p, SCRIBE_L_URING_LOST);
		else
			__sync_fetch_and_add(&p->uring_open, 1);
	}
	scribe_stand_in_end(me, p);
	return 0;
}

static __always_inline void scribe_uring_data(struct scribe_thread *t, struct scribe_proc *p, __u64 addr, __s32 res)
{
	struct io_rw *rw = SCRIBE_CAST(io_rw, addr);
	struct scribe_flight *f = &t->flight;
	__u32 write = scribe_uring_direction(f->kind);

	/* ki_pos is at the end of the data. */
	if (f->offset == -1 || (write && (SCRIBE_GET(rw, kiocb.ki_flags) & SCRIBE_RWF_APPEND)))
		f->offset = (__s64)SCRIBE_GET(rw, kiocb.ki_pos) - (res > 0 ? res : 0);
	f->slot = scribe_resolve(t, p, f->file, false);
	f->generation = t->c_generation;
	scribe_flight_done(t, p, res, write, SCRIBE_EXT_URING_OPS);
}

static __always_inline void scribe_uring_meta(struct scribe_thread *t, struct scribe_proc *p, __u64 addr, __s32 res)
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
	if (f->kind != SCRIBE_URING_CLOSE) {
		f->slot = scribe_resolve(t, p, f->file, false);
		f->generation = t->c_generation;
	}
	scribe_meta_set(t, what, ext);
	t->meta.start_ns = f->start_ns;
	if (f->slot != SCRIBE_SKIP_SLOT && f->slot != SCRIBE_NO_SLOT)
		scribe_meta_on(t, p, SCRIBE_AT(f->slot, f->generation), f->kind == SCRIBE_URING_CLOSE ? 0 : f->file);
}

SCRIBE_GLOBAL int scribe_uring_opened(struct scribe_thread *t, struct scribe_proc *p, __u64 addr, __s32 res)
{
	__u64 file;

	if (!t || !p)
		return 0;
	if (res < 0) {
		scribe_count(p, SCRIBE_L_FAILED_PATHS);
		return 0;
	}
	if (BPF_CORE_READ((struct io_open *)addr, file_slot))
		scribe_count(p, SCRIBE_L_URING_DIRECT_OPEN);
	file = scribe_uring_opened_file(addr, res);
	if (file)
		scribe_open_exit(t, p, file, BPF_CORE_READ((struct io_open *)addr, how.mode));
	else
		scribe_count(p, SCRIBE_L_URING_LOST);
	return 0;
}

SCRIBE_GLOBAL int scribe_uring_record(struct scribe_thread *t, struct scribe_proc *p, __u64 addr, __s32 res)
{
	struct scribe_flight *f;

	if (!t || !p)
		return 0;
	f = &t->flight;
	if (f->kind != SCRIBE_URING_CLOSE)
		SCRIBE_LOAD(&f->file, addr + bpf_core_field_offset(struct io_kiocb, file));
	if (!f->file) {
		if (f->kind == SCRIBE_URING_CLOSE && res >= 0)
			scribe_count(p, SCRIBE_L_URING_LOST);
		return 0;
	}
	if (scribe_uring_direction(f->kind) != SCRIBE_OP_NONE)
		scribe_uring_data(t, p, addr, res);
	else
		scribe_uring_meta(t, p, addr, res);
	return 0;
}

static __always_inline void scribe_uring_executed(struct scribe_thread *t, struct scribe_proc *p, __u64 addr, __s32 res)
{
	if (res == -SCRIBE_ECANCELED)
		return;
	if (t->flight.kind == SCRIBE_URING_OPENAT || t->flight.kind == SCRIBE_URING_OPENAT2)
		scribe_uring_opened(t, p, addr, res);
	else
		scribe_uring_record(t, p, addr, res);
}

/* Its predecessor in the chain has completed. */
SCRIBE_GLOBAL int scribe_uring_begins(__u64 addr)
{
	struct scribe_flight_key key = {.id = addr};
	struct scribe_flight *f = scribe_flight_find(&key);
	struct scribe_stand_in *me;
	struct scribe_thread *t;
	struct scribe_proc *p;

	if (!f)
		return 0;
	f->issued = 1;
	f->start_ns = bpf_ktime_get_ns();
	if (f->kind != SCRIBE_URING_CLOSE)
		return 0;
	p = scribe_proc_at(f->proc);
	if (!p || p->proc_id != f->proc_id)
		return 0;
	me = scribe_stand_in_take(p);
	if (!me)
		return 0;
	t = scribe_stand_in_begin(me, f->proc, f->proc_id);
	scribe_uring_closing(t, p, addr);
	f->file = t->flight.file;
	f->slot = t->flight.slot;
	f->generation = t->flight.generation;
	scribe_stand_in_end(me, p);
	return 0;
}

SCRIBE_GLOBAL int scribe_uring_done(__u64 addr, __s32 res, __u32 flags)
{
	struct scribe_flight_key key = {.id = addr};
	struct scribe_flight *found = scribe_flight_find(&key);
	__u64 next = flags & SCRIBE_CQE_MORE ? 0 : scribe_uring_linked(addr);
	struct scribe_stand_in *me = 0;
	struct scribe_thread *t;
	struct scribe_proc *p;

	p = found ? scribe_proc_at(found->proc) : 0;
	if (p && p->proc_id == found->proc_id) {
		me = scribe_stand_in_take(p);
		if (me)
			me->thread.flight = *found;
		if (!(flags & SCRIBE_CQE_MORE) && !scribe_flight_drop(&key))
			__sync_fetch_and_add(&p->uring_open, -1);
		if (me) {
			t = scribe_stand_in_begin(me, me->thread.flight.proc, me->thread.flight.proc_id);
			t->op.start_ns = t->flight.start_ns;
			t->op.end_ns = bpf_ktime_get_ns();
			scribe_uring_executed(t, p, addr, res);
			scribe_count(p, SCRIBE_L_URING_COMPLETED);
			scribe_stand_in_end(me, p);
		}
	}
	if (next)
		scribe_uring_begins(next);
	return 0;
}

/*
 * A completion that does not fit in the queue. The tracepoint lacks the request: it is the worker's current
 * one, or one being completed.
 */
#define SCRIBE_PF_IO_WORKER   0x10 /* task->flags */
#define SCRIBE_OVERFLOW_LOOKS 512
#define SCRIBE_OVERFLOW_SOME  16

struct scribe_overflow {
	__u64 user_data;
	__u64 node; /* of the ring's list of requests being completed */
	__s32 res;
	__u32 flags;
};

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

/* The request, or 0. */
SCRIBE_GLOBAL __u64 scribe_uring_some(struct scribe_overflow *o)
{
	for (__u32 i = 0; o && o->node && i < SCRIBE_OVERFLOW_SOME; i++) {
		struct io_wq_work_node *node = (struct io_wq_work_node *)o->node;
		__u64 addr = o->node - bpf_core_field_offset(struct io_kiocb, comp_list);

		if (scribe_uring_is(addr, o))
			return addr;
		o->node = (__u64)BPF_CORE_READ(node, next);
	}
	return 0;
}

static __always_inline int scribe_uring_overflow(__u64 ring, struct scribe_overflow *o)
{
	__u64 addr = scribe_uring_of_worker(bpf_get_current_task_btf());
	struct io_ring_ctx *ctx = (struct io_ring_ctx *)ring;

	if (addr && !scribe_uring_is(addr, o))
		addr = 0;
	o->node = (__u64)BPF_CORE_READ(ctx, submit_state.compl_reqs.first);
	for (__u32 i = 0; i < SCRIBE_OVERFLOW_LOOKS / SCRIBE_OVERFLOW_SOME && !addr && o->node; i++)
		addr = scribe_uring_some(o);
	return addr ? scribe_uring_done(addr, o->res, o->flags) : 0;
}

struct bpf_map;

struct scribe_uring_ending {
	__u32 proc_id;
	bool all_types;
	__u32 idle; /* requests without effect on recorded files */
};

/* Pending requests that are not issued or on other files lose nothing. */
static long scribe_uring_pending(struct bpf_map *map, struct scribe_flight_key *key, struct scribe_flight *f,
				 struct scribe_uring_ending *ending)
{
	__u64 addr = key->id, file;

	if (key->proc_id || f->proc_id != ending->proc_id)
		return 0;
	if (!f->skip) {
		file = (__u64)BPF_CORE_READ((struct io_kiocb *)addr, file);
		if (!f->issued || (scribe_uring_has_file(f->kind) && !file))
			ending->idle++;
		else if (scribe_uring_has_file(f->kind) && !scribe_file_of_type(file, ending->all_types))
			ending->idle++;
	}
	bpf_map_delete_elem(map, key);
	return 0;
}

/* At the last thread's exit; the kernel cancels requests that could wait forever. */
static __always_inline void scribe_uring_end(struct scribe_proc *p)
{
	struct scribe_uring_ending ending = {.proc_id = p->proc_id, .all_types = scribe_all_types(p)};
	__u32 pending = p->uring_open;

	if (!pending)
		return;
	bpf_for_each_map_elem(&scribe_flights, scribe_uring_pending, &ending, 0);
	bpf_for_each_map_elem(&scribe_more, scribe_uring_pending, &ending, 0);
	if (ending.idle < pending)
		scribe_count_many(p, SCRIBE_L_URING_UNMATCHED, pending - ending.idle);
}

#endif
