/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asynchronous I/O: libaio (submitted and reaped by system calls, the control
 * blocks in user memory) and io_uring (one tracepoint at submission, one at
 * completion, whichever thread runs it). What has no completion is in the
 * ledger, as the difference of submitted and completed.
 */
#ifndef BPF_KERN_AIO_BPF_H
#define BPF_KERN_AIO_BPF_H

#include "bpf/kern/syscall_fd.bpf.h"

#define SCRIBE_AIO_BATCH    256
#define SCRIBE_IOCB_PREAD   0
#define SCRIBE_IOCB_PWRITE  1
#define SCRIBE_IOCB_FSYNC   2
#define SCRIBE_IOCB_FDSYNC  3
#define SCRIBE_IOCB_PREADV  7
#define SCRIBE_IOCB_PWRITEV 8

struct scribe_flight_key {
	__u64 proc_id; /* 0: io_uring */
	__u64 id;
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SCRIBE_FLIGHTS);
	__type(key, struct scribe_flight_key);
	__type(value, struct scribe_flight);
} scribe_flights SEC(".maps");

/* Those that find no room there: seldom, so that they need not have theirs beforehand. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, SCRIBE_FLIGHTS_MORE);
	__type(key, struct scribe_flight_key);
	__type(value, struct scribe_flight);
} scribe_more SEC(".maps");

/* 0, or what the kernel says when neither has room. */
static __always_inline long scribe_flight_put(const struct scribe_flight_key *key, const struct scribe_flight *f)
{
	return bpf_map_update_elem(&scribe_flights, key, f, BPF_ANY)
		       ? bpf_map_update_elem(&scribe_more, key, f, BPF_ANY)
		       : 0;
}

static __always_inline struct scribe_flight *scribe_flight_find(const struct scribe_flight_key *key)
{
	struct scribe_flight *f = bpf_map_lookup_elem(&scribe_flights, key);

	return f ? f : bpf_map_lookup_elem(&scribe_more, key);
}

static __always_inline void scribe_flight_drop(const struct scribe_flight_key *key)
{
	if (bpf_map_delete_elem(&scribe_flights, key))
		bpf_map_delete_elem(&scribe_more, key);
}

static __always_inline bool scribe_aio_data(__u16 opcode)
{
	return opcode == SCRIBE_IOCB_PREAD || opcode == SCRIBE_IOCB_PWRITE || opcode == SCRIBE_IOCB_PREADV ||
	       opcode == SCRIBE_IOCB_PWRITEV;
}

/* One control block of t->list is about to be submitted, or has been looked at by the kernel. */
SCRIBE_GLOBAL int scribe_aio_one(struct scribe_proc *p, __u32 i)
{
	/* Not a parameter: before Linux 6.2 only memory known as a map's may go into another map. */
	struct scribe_thread *t = scribe_thread_of(bpf_get_current_task_btf());
	struct scribe_flight_key key = {};
	struct scribe_flight *f;
	struct scribe_iocb *cb;

	if (!t || !p || i >= t->list.count)
		return 1;
	f = &t->flight;
	cb = &t->iocb;
	if (bpf_probe_read_user(&key.id, sizeof(key.id), (void *)(t->list.array + i * 8)) ||
	    bpf_probe_read_user(cb, sizeof(*cb), (void *)key.id)) {
		scribe_count(p, SCRIBE_L_AIO_LOST);
		return 0;
	}
	key.proc_id = t->proc_id;
	if (t->list.undo) {
		if (i >= t->list.taken)
			scribe_flight_drop(&key);
		else
			scribe_count(p, SCRIBE_L_AIO_SUBMITTED);
		return 0;
	}
	__builtin_memset(f, 0, sizeof(*f));
	f->start_ns = t->list.now_ns;
	f->file = scribe_fd_file(bpf_get_current_task_btf(), cb->fd);
	if (!f->file)
		return 0;
	f->slot = scribe_resolve(t, p, f->file, false);
	f->generation = t->c_generation;
	f->kind = cb->opcode;
	f->offset = cb->offset;
	if (scribe_aio_data(cb->opcode)) {
		__u64 align = p->mem_align;

		f->unaligned = cb->opcode >= SCRIBE_IOCB_PREADV
				       ? scribe_iov_unaligned(p, cb->buf, cb->bytes, align)
				       : scribe_misaligned(cb->buf, align);
	}
	if (scribe_flight_put(&key, f))
		scribe_count(p, SCRIBE_L_AIO_LOST);
	return 0;
}

SCRIBE_GLOBAL int scribe_aio_some(struct scribe_proc *p, __u32 first)
{
	for (__u32 i = 0; i < SCRIBE_ROUND; i++) {
		if (scribe_aio_one(p, first + i))
			return 1;
	}
	return 0;
}

static __always_inline void scribe_aio_list(struct scribe_proc *p)
{
	for (__u32 i = 0; i < SCRIBE_AIO_BATCH / SCRIBE_ROUND; i++) {
		if (scribe_aio_some(p, i * SCRIBE_ROUND))
			break;
	}
}

/* io_submit(context, count, array): before the kernel may complete any of it. */
static __always_inline int scribe_aio_submit(struct scribe_thread *t, struct scribe_proc *p, __s64 count,
					     __u64 array)
{
	t->list = (struct scribe_list){
		.array = array, .count = count < 0 ? 0 : count, .now_ns = bpf_ktime_get_ns()};
	scribe_aio_list(p);
	return 1;
}

/* How many were taken: the rest is forgotten again. */
static __always_inline int scribe_aio_submitted(struct scribe_thread *t, struct scribe_proc *p, __u64 array,
						__s64 taken)
{
	t->list.array = array;
	t->list.taken = taken < 0 ? 0 : taken;
	t->list.undo = 1;
	scribe_aio_list(p);
	return 0;
}

/* The finished operation t->flight, whoever reports it. */
static __always_inline void scribe_flight_done(struct scribe_thread *t, struct scribe_proc *p, __s64 res,
					       __u32 write, __u32 ext)
{
	const struct scribe_flight *f = &t->flight;

	if (f->slot == SCRIBE_SKIP_SLOT || f->slot == SCRIBE_NO_SLOT)
		return;
	if (res >= 0) {
		t->op.op = write & 1;
		t->op.bytes = res;
		t->op.start_ns = f->start_ns;
		t->op.offset = f->offset;
		t->op.unaligned = f->unaligned;
		scribe_data_of_call(t, p, SCRIBE_AT(f->slot, f->generation), f->file);
	}
	scribe_meta_set(t, SCRIBE_META_EXT, res < 0 ? SCRIBE_EXT_FAILED_DATA : ext);
	t->meta.start_ns = t->meta.end_ns = f->start_ns;
	scribe_meta_on(t, p, SCRIBE_AT(f->slot, f->generation), 0);
}

SCRIBE_GLOBAL int scribe_aio_event(struct scribe_thread *t, struct scribe_proc *p, __u32 i)
{
	struct scribe_flight_key key = {};
	struct scribe_flight *found, *f;
	__s64 res;

	if (!t || !p || i >= t->list.count)
		return 1;
	if (bpf_probe_read_user(&t->io_event, sizeof(t->io_event),
				(void *)(t->list.array + i * sizeof(t->io_event)))) {
		scribe_count(p, SCRIBE_L_AIO_UNMATCHED);
		return 0;
	}
	key.proc_id = t->proc_id;
	key.id = t->io_event.obj;
	res = t->io_event.res;
	found = scribe_flight_find(&key);
	if (!found) {
		scribe_count(p, SCRIBE_L_AIO_UNMATCHED);
		return 0;
	}
	f = &t->flight;
	*f = *found;
	scribe_flight_drop(&key);
	scribe_count(p, SCRIBE_L_AIO_COMPLETED);
	if (scribe_aio_data(f->kind)) {
		scribe_flight_done(t, p, res, f->kind == SCRIBE_IOCB_PWRITE || f->kind == SCRIBE_IOCB_PWRITEV,
				   SCRIBE_EXT_AIO_OPS);
	} else if ((f->kind == SCRIBE_IOCB_FSYNC || f->kind == SCRIBE_IOCB_FDSYNC) && res >= 0 &&
		   f->slot != SCRIBE_SKIP_SLOT && f->slot != SCRIBE_NO_SLOT) {
		scribe_meta_set(t, f->kind == SCRIBE_IOCB_FSYNC ? SCRIBE_META_FSYNC : SCRIBE_META_FDSYNC,
				SCRIBE_EXT_COUNT);
		t->meta.start_ns = f->start_ns;
		scribe_meta_on(t, p, SCRIBE_AT(f->slot, f->generation), f->file);
	}
	return 0;
}

SCRIBE_GLOBAL int scribe_aio_events(struct scribe_thread *t, struct scribe_proc *p, __u32 first)
{
	for (__u32 i = 0; i < SCRIBE_ROUND; i++) {
		if (scribe_aio_event(t, p, first + i))
			return 1;
	}
	return 0;
}

/* io_getevents(context, min, max, events, …) returned `count` events. */
static __always_inline int scribe_aio_reap(struct scribe_thread *t, struct scribe_proc *p, __u64 events,
					   __s64 count)
{
	t->list = (struct scribe_list){.array = events, .count = count < 0 ? 0 : count};
	for (__u32 i = 0; i < SCRIBE_AIO_BATCH * 4 / SCRIBE_ROUND; i++) {
		if (scribe_aio_events(t, p, i * SCRIBE_ROUND))
			break;
	}
	return 0;
}

#endif
