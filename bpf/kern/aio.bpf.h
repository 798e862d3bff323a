/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libaio: programs can take completions from a ring in user memory without a system call, so it is read at each
 * io_submit, before it can wrap; while its memory is untouched, io_getevents shows completions. The rest is
 * counted at process end (process.bpf.h).
 */
#ifndef BPF_KERN_AIO_BPF_H
#define BPF_KERN_AIO_BPF_H

#include "bpf/kern/syscall_fd.bpf.h"

#define SCRIBE_AIO_ROUND    128
#define SCRIBE_AIO_MOST     16384u /* per call */
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

/* When that is full: allocated on demand. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, SCRIBE_FLIGHTS_MORE);
	__type(key, struct scribe_flight_key);
	__type(value, struct scribe_flight);
} scribe_more SEC(".maps");

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

/* 0: this caller has removed it. */
static __always_inline long scribe_flight_drop(const struct scribe_flight_key *key)
{
	return bpf_map_delete_elem(&scribe_flights, key) ? bpf_map_delete_elem(&scribe_more, key) : 0;
}

/* (process, context) to completions consumed. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct scribe_flight_key);
	__type(value, __u32);
} scribe_rings SEC(".maps");

#define SCRIBE_AIO_MAGIC 0xa10a10a1u
struct scribe_aio_ring {
	__u32 id, nr, head, tail, magic, compat, incompat, header;
};

/* (process, open file) to the end of one io_submit's appending writes: at completion the position is lost. */
struct scribe_aio_end {
	__u64 submit_ns;
	__s64 end;
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct scribe_flight_key);
	__type(value, struct scribe_aio_end);
} scribe_aio_ends SEC(".maps");

static __always_inline bool scribe_aio_data(__u16 opcode)
{
	return opcode == SCRIBE_IOCB_PREAD || opcode == SCRIBE_IOCB_PWRITE || opcode == SCRIBE_IOCB_PREADV ||
	       opcode == SCRIBE_IOCB_PWRITEV;
}

static __always_inline bool scribe_aio_appends(const struct scribe_iocb *cb, __u64 file)
{
	if (cb->opcode != SCRIBE_IOCB_PWRITE && cb->opcode != SCRIBE_IOCB_PWRITEV)
		return false;
	if (cb->rw_flags & SCRIBE_RWF_APPEND)
		return true;
	return (scribe_file_flags(file) & SCRIBE_O_APPEND) && !(cb->rw_flags & SCRIBE_RWF_NOAPPEND);
}

#define SCRIBE_IOVECS_AT_ONCE 8u
#define SCRIBE_IOVECS_MOST    1024u /* UIO_MAXIOV */

SCRIBE_GLOBAL __s64 scribe_iov_bytes_some(__u64 iov, __u64 count)
{
	struct iovec v[SCRIBE_IOVECS_AT_ONCE] = {};
	__u32 size = sizeof(v);
	__s64 bytes = 0;

	if (count < SCRIBE_IOVECS_AT_ONCE)
		size = count * sizeof(*v);
	barrier_var(size); /* otherwise the verifier does not know its bound */
	if (size > sizeof(v) || bpf_probe_read_user(v, size, (void *)iov))
		return -1;
	for (__u32 i = 0; i < SCRIBE_IOVECS_AT_ONCE; i++)
		bytes += v[i].iov_len;
	return bytes;
}

SCRIBE_GLOBAL __s64 scribe_iov_bytes(__u64 iov, __u64 count)
{
	__s64 bytes = 0;

	for (__u32 i = 0; i < SCRIBE_IOVECS_MOST && i < count; i += SCRIBE_IOVECS_AT_ONCE) {
		__s64 some = scribe_iov_bytes_some(iov + i * sizeof(struct iovec), count - i);

		if (some < 0)
			return -1;
		bytes += some;
	}
	return bytes;
}

/* At the end of the file, after earlier appending writes of the list. */
SCRIBE_GLOBAL __s64 scribe_aio_append_offset(__u64 file)
{
	/* Found here, not passed: before Linux 6.2 only map memory can be a key. */
	struct scribe_thread *t = scribe_thread_of(bpf_get_current_task_btf());
	struct scribe_flight_key key = {.id = file};
	struct scribe_aio_end next, *last;
	__s64 offset, bytes;

	if (!t)
		return 0;
	key.proc_id = t->proc_id;
	bytes = t->iocb.opcode == SCRIBE_IOCB_PWRITEV ? scribe_iov_bytes(t->iocb.buf, t->iocb.bytes)
						      : (__s64)t->iocb.bytes;
	if (bytes < 0) {
		scribe_count_thread(t, SCRIBE_L_APPROX_OFFSET);
		bytes = 0;
	}
	last = bpf_map_lookup_elem(&scribe_aio_ends, &key);
	offset = scribe_file_size(file);
	barrier_var(offset);
	if (last && last->submit_ns == t->list.now_ns)
		offset = last->end;
	next.submit_ns = t->list.now_ns;
	next.end = offset + bytes;
	bpf_map_update_elem(&scribe_aio_ends, &key, &next, BPF_ANY);
	return offset;
}

/* Control block `i` of t->list, before submission or, with `undo`, after it. */
SCRIBE_GLOBAL int scribe_aio_one(struct scribe_proc *p, __u32 i)
{
	/* As above. */
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
		if (!scribe_flight_drop(&key))
			t->list.followed--;
		return 0;
	}
	if (!scribe_aio_data(cb->opcode) && cb->opcode != SCRIBE_IOCB_FSYNC && cb->opcode != SCRIBE_IOCB_FDSYNC)
		return 0;
	__builtin_memset(f, 0, sizeof(*f));
	f->start_ns = t->list.now_ns;
	f->file = scribe_fd_file(bpf_get_current_task_btf(), cb->fd);
	if (!f->file || !scribe_file_counts(p, f->file))
		return 0;
	f->slot = scribe_resolve(t, p, f->file, false);
	f->generation = t->c_generation;
	f->kind = cb->opcode;
	f->offset = scribe_aio_appends(cb, f->file) ? scribe_aio_append_offset(f->file) : cb->offset;
	if (scribe_aio_data(cb->opcode)) {
		__u64 align = p->mem_align;

		f->unaligned = cb->opcode >= SCRIBE_IOCB_PREADV ? scribe_iov_unaligned(p, cb->buf, cb->bytes, align)
								: scribe_misaligned(cb->buf, align);
	}
	if (scribe_flight_put(&key, f))
		scribe_count(p, SCRIBE_L_AIO_LOST);
	else
		t->list.followed++;
	return 0;
}

SCRIBE_GLOBAL int scribe_aio_some(struct scribe_proc *p, __u32 first)
{
	for (__u32 i = 0; i < SCRIBE_AIO_ROUND; i++) {
		if (scribe_aio_one(p, first + i))
			return 1;
	}
	return 0;
}

static __always_inline void scribe_aio_list(struct scribe_thread *t, struct scribe_proc *p)
{
	for (__u32 i = 0; i < SCRIBE_AIO_MOST / SCRIBE_AIO_ROUND; i++) {
		if (scribe_aio_some(p, t->list.first + i * SCRIBE_AIO_ROUND))
			break;
	}
}

static __always_inline void scribe_flight_done(struct scribe_thread *t, struct scribe_proc *p, __s64 res, __u32 write,
					       __u32 ext)
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

/* Completion `i` of t->list: of an array, or of a ring with `taken` entries, starting at `first`. */
SCRIBE_GLOBAL int scribe_aio_event(struct scribe_thread *t, struct scribe_proc *p, __u32 i)
{
	struct scribe_flight_key key = {};
	struct scribe_flight *found, *f;
	__u64 at = i;
	__s64 res;

	if (!t || !p || i >= t->list.count)
		return 1;
	if (t->list.taken) {
		at += t->list.first;
		if (at >= t->list.taken)
			at -= t->list.taken;
	}
	if (bpf_probe_read_user(&t->io_event, sizeof(t->io_event), (void *)(t->list.array + at * sizeof(t->io_event))))
		return 0;
	key.proc_id = t->proc_id;
	key.id = t->io_event.obj;
	res = t->io_event.res;
	found = scribe_flight_find(&key);
	if (!found)
		return 0;
	f = &t->flight;
	*f = *found;
	if (scribe_flight_drop(&key))
		return 0;
	scribe_count(p, SCRIBE_L_AIO_COMPLETED);
	__sync_fetch_and_add(&p->aio_open, -1);
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

#define SCRIBE_PAGE 4096ull

/* A byte of each of SCRIBE_ROUND pages. */
SCRIBE_GLOBAL int scribe_pages_readable(__u64 from, __u64 bytes)
{
	char c;

	for (__u32 i = 0; i < SCRIBE_ROUND && i * SCRIBE_PAGE < bytes; i++)
		if (bpf_probe_read_user(&c, 1, (void *)(from + i * SCRIBE_PAGE)))
			return 0;
	return 1;
}

/* The program may not have touched each page yet. */
SCRIBE_GLOBAL int scribe_user_readable(__u64 from, __u64 bytes)
{
	const __u32 most = SCRIBE_AIO_MOST * sizeof(struct scribe_io_event);
	char c;

	if (bytes > most)
		return 0;
	for (__u32 at = 0; at < most && at < bytes; at += SCRIBE_ROUND * SCRIBE_PAGE)
		if (!scribe_pages_readable(from + at, bytes - at))
			return 0;
	return !bytes || !bpf_probe_read_user(&c, 1, (void *)(from + bytes - 1));
}

/* False: unreadable or unknown. */
SCRIBE_GLOBAL int scribe_aio_look(struct scribe_thread *t, __u64 context)
{
	struct scribe_flight_key key = {.id = context};
	struct scribe_aio_ring ring;
	__u32 *taken, was, at;

	if (!t)
		return 0;
	key.proc_id = t->proc_id;
	t->list = (struct scribe_list){.array = context + sizeof(ring)};
	taken = bpf_map_lookup_elem(&scribe_rings, &key);
	if (!taken || bpf_probe_read_user(&ring, sizeof(ring), (void *)context) || ring.magic != SCRIBE_AIO_MAGIC ||
	    ring.header != sizeof(ring) || ring.tail >= ring.nr)
		return 0;
	was = *(volatile __u32 *)taken;
	at = was % ring.nr;
	t->list.taken = ring.nr;
	t->list.first = at;
	t->list.count = ring.tail >= at ? ring.tail - at : ring.tail + ring.nr - at;
	/* It wraps: check all of the ring. */
	if (ring.tail >= at ? !scribe_user_readable(t->list.array + at * sizeof(struct scribe_io_event),
						    t->list.count * sizeof(struct scribe_io_event))
			    : !scribe_user_readable(t->list.array, ring.nr * sizeof(struct scribe_io_event)))
		return 0;
	/* On failure another thread consumes them. */
	if (__sync_val_compare_and_swap(taken, was, was + (__u32)t->list.count) != was)
		t->list.count = 0;
	return 1;
}

/* The ring of the process's next context, from the kernel's table. 1: none. */
SCRIBE_GLOBAL int scribe_aio_next(struct scribe_thread *t)
{
	struct mm_struct *mm = bpf_get_current_task_btf()->mm;
	struct kioctx_table *table = 0;
	struct kioctx *context = 0;
	__u32 next;
	__u64 at;

	if (!t)
		return 1;
	next = t->list.ending;
	if (bpf_core_field_exists(mm->ioctx_table))
		table = BPF_CORE_READ(mm, ioctx_table);
	if (!next || !table || next > BPF_CORE_READ(table, nr))
		return 1;
	at = (__u64)table + bpf_core_field_offset(struct kioctx_table, table) + (next - 1) * 8ull;
	if (bpf_probe_read_kernel(&context, sizeof(context), (void *)at) || !context ||
	    !scribe_aio_look(t, BPF_CORE_READ(context, user_id)))
		t->list.count = 0;
	t->list.ending = next + 1;
	return 0;
}

SCRIBE_GLOBAL int scribe_aio_events(struct scribe_thread *t, struct scribe_proc *p)
{
	__u32 first;

	if (!t || !p)
		return 1;
	first = t->list.done;
	if (first >= t->list.count)
		return scribe_aio_next(t);
	for (__u32 i = 0; i < SCRIBE_AIO_ROUND; i++) {
		if (scribe_aio_event(t, p, first + i))
			break;
	}
	t->list.done = first + SCRIBE_AIO_ROUND;
	return 0;
}

static __always_inline void scribe_aio_take(struct scribe_thread *t, struct scribe_proc *p)
{
	for (__u32 i = 0; i < SCRIBE_AIO_MOST / SCRIBE_AIO_ROUND; i++) {
		if (scribe_aio_events(t, p))
			break;
	}
}

/*
 * Consumes the completions of a context, and of all at exit or exec. A submission's control blocks are read before the
 * kernel can complete any.
 */
static __always_inline void scribe_aio_enter(struct scribe_thread *t, struct scribe_proc *p, __u32 class)
{
	const bool all = class == SCRIBE_CLASS_EXEC || class == SCRIBE_CLASS_EXIT;
	const __s64 count = SCRIBE_ARG(2);

	if (all && !p->aio_open)
		return;
	t->op.end_ns = bpf_ktime_get_ns();
	if (all)
		t->list = (struct scribe_list){.ending = 1};
	if (all || scribe_aio_look(t, SCRIBE_ARG(1)))
		scribe_aio_take(t, p);
	if (class != SCRIBE_CLASS_AIO_SUBMIT)
		return;
	t->list = (struct scribe_list){
		.array = SCRIBE_ARG(3), .count = count < 0 ? 0 : count, .now_ns = bpf_ktime_get_ns()};
	scribe_aio_list(t, p);
}

/* Drops what the kernel did not accept. */
static __always_inline int scribe_aio_submitted(struct scribe_thread *t, struct scribe_proc *p, __s64 count,
						__u64 array, __s64 taken)
{
	if (taken < 0)
		taken = 0;
	if (taken < count) {
		t->list.count = count;
		t->list.first = taken;
		t->list.undo = 1;
		scribe_aio_list(t, p);
	}
	scribe_count_many(p, SCRIBE_L_AIO_SUBMITTED, t->list.followed);
	__sync_fetch_and_add(&p->aio_open, t->list.followed);
	return 0;
}

static __always_inline int scribe_aio_reap(struct scribe_thread *t, struct scribe_proc *p, __u64 context, __u64 events,
					   __s64 count)
{
	struct scribe_flight_key key = {.id = context, .proc_id = t->proc_id};
	__u32 *taken;

	if (!scribe_aio_look(t, context)) {
		taken = bpf_map_lookup_elem(&scribe_rings, &key);
		if (taken)
			__sync_fetch_and_add(taken, (__u32)count);
		t->list = (struct scribe_list){.array = events, .count = count < 0 ? 0 : count};
	}
	scribe_aio_take(t, p);
	return 0;
}

static __always_inline void scribe_aio_begin(struct scribe_thread *t, __u64 at)
{
	struct scribe_flight_key key = {.proc_id = t->proc_id};
	__u32 none = 0;

	if (!bpf_probe_read_user(&key.id, sizeof(key.id), (void *)at))
		bpf_map_update_elem(&scribe_rings, &key, &none, BPF_ANY);
}

#endif
