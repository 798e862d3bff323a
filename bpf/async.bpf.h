/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asynchronous I/O: libaio (submitted and reaped by system calls, the control
 * blocks in user memory) and io_uring (one tracepoint at submission, one at
 * completion, whichever thread runs it). What has no completion is in the
 * ledger, as the difference of submitted and completed.
 */
#ifndef BPF_ASYNC_BPF_H
#define BPF_ASYNC_BPF_H

#include "bpf/fd.bpf.h"

#define SCRIBE_AIO_BATCH 256
#define SCRIBE_IOCB_PREAD 0
#define SCRIBE_IOCB_PWRITE 1
#define SCRIBE_IOCB_FSYNC 2
#define SCRIBE_IOCB_FDSYNC 3
#define SCRIBE_IOCB_PREADV 7
#define SCRIBE_IOCB_PWRITEV 8

/* An operation on its way, by (process, control block) or by request. */
struct scribe_flight_key {
	__u64 serial; /* 0: io_uring */
	__u64 id;
};
struct scribe_flight {
	__u64 start_ns;
	__u64 file;
	__s64 offset;
	__u32 slot, birth;
	__u32 kind; /* SCRIBE_IOCB_* or the io_uring opcode */
	__u32 unaligned;
	__u32 proc, serial; /* io_uring: whose */
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct scribe_flight_key);
	__type(value, struct scribe_flight);
} scribe_flights SEC(".maps");

/* As in linux/aio_abi.h: the layout is the system call's. */
struct scribe_iocb {
	__u64 data;
	__u32 key;
	__s32 rw_flags;
	__u16 opcode;
	__s16 priority;
	__u32 fd;
	__u64 buf;
	__u64 bytes;
	__s64 offset;
	__u64 reserved;
	__u32 flags;
	__u32 resfd;
};
struct scribe_io_event {
	__u64 data;
	__u64 obj;
	__s64 res;
	__s64 res2;
};

struct scribe_aio_walk {
	__u64 array;
	__s64 count;
	__s64 kept; /* submissions the kernel took */
	__u64 now;
	__u32 undo; /* 1: take back what was not taken */
};

static __always_inline bool scribe_aio_self(struct scribe_thread **ret_t, struct scribe_proc **ret_p)
{
	struct scribe_thread *t = bpf_task_storage_get(&scribe_task, bpf_get_current_task_btf(), 0, 0);

	if (!t)
		return false;
	*ret_t = t;
	*ret_p = scribe_proc_at(t->proc);
	return *ret_p != 0;
}

static __always_inline bool scribe_aio_data(__u16 opcode)
{
	return opcode == SCRIBE_IOCB_PREAD || opcode == SCRIBE_IOCB_PWRITE || opcode == SCRIBE_IOCB_PREADV ||
	       opcode == SCRIBE_IOCB_PWRITEV;
}

static long scribe_aio_one(__u32 i, void *ctx)
{
	struct scribe_aio_walk *w = ctx;
	struct scribe_flight f = {.start_ns = w->now};
	struct scribe_flight_key key = {};
	struct scribe_iocb cb;
	struct scribe_thread *t;
	struct scribe_proc *p;

	if (i >= w->count || !scribe_aio_self(&t, &p))
		return 1;
	if (bpf_probe_read_user(&key.id, sizeof(key.id), (void *)(w->array + i * 8)) ||
	    bpf_probe_read_user(&cb, sizeof(cb), (void *)key.id)) {
		scribe_count(p, SCRIBE_L_AIO_LOST);
		return 0;
	}
	key.serial = t->serial;
	if (w->undo) {
		if (i >= w->kept)
			bpf_map_delete_elem(&scribe_flights, &key);
		else
			scribe_count(p, SCRIBE_L_AIO_SUBMITTED);
		return 0;
	}
	f.file = scribe_fd_file(bpf_get_current_task_btf(), cb.fd);
	if (!f.file)
		return 0;
	f.slot = scribe_resolve(t, p, f.file, false, &f.birth);
	f.kind = cb.opcode;
	f.offset = cb.offset;
	if (scribe_aio_data(cb.opcode)) {
		__u64 align = p->mem_align;

		f.unaligned = cb.opcode >= SCRIBE_IOCB_PREADV ?
				      scribe_iov_unaligned(p, cb.buf, cb.bytes, align) :
				      scribe_misaligned(cb.buf, align);
	}
	if (bpf_map_update_elem(&scribe_flights, &key, &f, BPF_ANY))
		scribe_count(p, SCRIBE_L_AIO_LOST);
	return 0;
}

/* io_submit(context, count, array): before the kernel may complete any of it. */
SCRIBE_GLOBAL int scribe_aio_submit(__s64 count, __u64 array)
{
	struct scribe_aio_walk w = {.array = array, .count = count, .now = bpf_ktime_get_ns()};

	bpf_loop(SCRIBE_AIO_BATCH, scribe_aio_one, &w, 0);
	return 1;
}

/* How many were taken: the rest is forgotten again. */
SCRIBE_GLOBAL int scribe_aio_submitted(__u64 array, __s64 taken)
{
	struct scribe_aio_walk w = {.array = array, .count = SCRIBE_AIO_BATCH, .kept = taken < 0 ? 0 : taken};

	w.undo = 1;
	w.count = w.kept;
	bpf_loop(SCRIBE_AIO_BATCH, scribe_aio_one, &w, 0);
	return 0;
}

/* A finished operation, whoever reports it. */
static __always_inline int scribe_flight_done(struct scribe_thread *t, struct scribe_proc *p,
					      struct scribe_flight *f, __s64 res, __u32 write, __u32 ext)
{
	struct scribe_meta_op m = {.what = SCRIBE_META_EXT, .ext = ext};
	struct scribe_data_op op = {.op = write & 1, .bytes = res};

	m.start_ns = m.end_ns = op.start_ns = f->start_ns;
	op.end_ns = t->end_ns;
	op.offset = f->offset;
	op.unaligned = f->unaligned;
	if (f->slot == SCRIBE_SKIP_SLOT || f->slot == SCRIBE_NO_SLOT)
		return 0;
	if (res < 0)
		m.ext = SCRIBE_EXT_FAILED_DATA;
	else
		scribe_data_on(t, p, f->slot, f->birth, f->file, &op);
	scribe_meta_on(t, p, SCRIBE_AT(f->slot, f->birth), 0, &m);
	return 0;
}

static long scribe_aio_event(__u32 i, void *ctx)
{
	struct scribe_aio_walk *w = ctx;
	struct scribe_flight_key key = {};
	struct scribe_io_event ev;
	struct scribe_flight *found, f;
	struct scribe_thread *t;
	struct scribe_proc *p;

	if (i >= w->count || !scribe_aio_self(&t, &p))
		return 1;
	if (bpf_probe_read_user(&ev, sizeof(ev), (void *)(w->array + i * sizeof(ev)))) {
		scribe_count(p, SCRIBE_L_AIO_UNMATCHED);
		return 0;
	}
	key.serial = t->serial;
	key.id = ev.obj;
	found = bpf_map_lookup_elem(&scribe_flights, &key);
	if (!found) {
		scribe_count(p, SCRIBE_L_AIO_UNMATCHED);
		return 0;
	}
	f = *found;
	bpf_map_delete_elem(&scribe_flights, &key);
	scribe_count(p, SCRIBE_L_AIO_COMPLETED);
	if (scribe_aio_data(f.kind)) {
		scribe_flight_done(t, p, &f, ev.res,
				   f.kind == SCRIBE_IOCB_PWRITE || f.kind == SCRIBE_IOCB_PWRITEV,
				   SCRIBE_EXT_AIO_OPS);
	} else if (ev.res >= 0 && f.slot != SCRIBE_SKIP_SLOT && f.slot != SCRIBE_NO_SLOT) {
		struct scribe_meta_op m = {.start_ns = f.start_ns, .end_ns = t->end_ns,
					   .what = f.kind == SCRIBE_IOCB_FSYNC ? SCRIBE_META_FSYNC :
										SCRIBE_META_FDSYNC,
					   .ext = SCRIBE_EXT_COUNT};

		if (f.kind == SCRIBE_IOCB_FSYNC || f.kind == SCRIBE_IOCB_FDSYNC)
			scribe_meta_on(t, p, SCRIBE_AT(f.slot, f.birth), f.file, &m);
	}
	return 0;
}

/* io_getevents(context, min, max, events, …) returned `count` events. */
SCRIBE_GLOBAL int scribe_aio_reap(__u64 events, __s64 count)
{
	struct scribe_aio_walk w = {.array = events, .count = count};

	bpf_loop(SCRIBE_AIO_BATCH * 4, scribe_aio_event, &w, 0);
	return 0;
}

#endif
