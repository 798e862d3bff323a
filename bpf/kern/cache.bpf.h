/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What reads, writes and page faults fetched or made dirty: differences of the task's account (task->ioac), which the
 * kernel changes where it submits requests or marks pages. Where it does not (FUSE), pages that came into the page
 * cache count. Not for io_uring, libaio, splice.
 */
#ifndef BPF_KERN_CACHE_BPF_H
#define BPF_KERN_CACHE_BPF_H

#include "bpf/kern/cost.bpf.h"
#include "bpf/kern/descs.bpf.h"
#include "bpf/kern/syscall_class.h"
#include "logfmt/rules/posix_rules.h"

const volatile __u32 scribe_page_bytes;

#define SCRIBE_HAS_MOVED(task) bpf_core_field_exists((task)->ioac.read_bytes)

static __always_inline __u64 scribe_cache_account(struct task_struct *task, const __u32 write)
{
	return write ? task->ioac.write_bytes : task->ioac.read_bytes;
}

/*
 * Called before the kernel accounts anything in this call: of a read at its first page that comes into the cache, so
 * reads from the cache are not slower; of a read with O_DIRECT and of a write at entry.
 */
static __always_inline void scribe_cache_begin(struct scribe_thread *t, struct task_struct *task, const __u32 write)
{
	if (!SCRIBE_HAS_MOVED(task) || t->moves)
		return;
	t->moves = 1;
	t->pages_added = 0;
	t->moved_before = scribe_cache_account(task, write);
}

/* t->fetched stays 0 in most calls, and is not written in these. */
static __always_inline void scribe_cache_leave(struct scribe_thread *t, struct task_struct *task, const __u32 write)
{
	if (t->moves)
		t->fetched = scribe_cache_account(task, write) - t->moved_before;
}

/* Where both have the bytes, the account counts. */
static __always_inline __u64 scribe_cache_fetched(struct scribe_thread *t, __u64 moved)
{
	return moved > t->pages_added ? moved - t->pages_added : moved;
}

#define SCRIBE_CACHE_ADD(at, id, n) \
	do { \
		__u64 *cell = (id) < SCRIBE_CACHE_OFTEN \
				      ? &(at)->cache_often[(id) < SCRIBE_CACHE_OFTEN ? (id) : 0] \
				      : &(at)->cache_seldom[(id) < SCRIBE_CACHE_OFTEN ? 0 : (id)-SCRIBE_CACHE_OFTEN]; \
		if (atomic) \
			__sync_fetch_and_add(cell, (n)); \
		else \
			*cell += (n); \
	} while (0)

/* `at`: of the shard that is held. */
static __always_inline void scribe_cache_count(struct scribe_thread *t, struct scribe_slot *at,
					       const struct scribe_data_op *op, __u64 moved, const int atomic)
{
	bool direct = scribe_file_flags(t->file) & SCRIBE_O_DIRECT;

	if (op->op & 1) {
		if (direct)
			SCRIBE_CACHE_ADD(at, SCRIBE_CACHE_DIRECT_BYTES_WRITTEN, moved);
		else
			SCRIBE_CACHE_ADD(at, SCRIBE_CACHE_BYTES_DIRTIED, moved);
	} else if (direct) {
		SCRIBE_CACHE_ADD(at, SCRIBE_CACHE_DIRECT_BYTES_READ, moved);
	} else {
		moved = scribe_cache_fetched(t, moved);
		SCRIBE_CACHE_ADD(at, SCRIBE_CACHE_BYTES_FETCHED, moved);
		SCRIBE_CACHE_ADD(at, SCRIBE_CACHE_READS_FETCHED, 1);
		SCRIBE_CACHE_ADD(at, SCRIBE_CACHE_COUNT + SCRIBE_CACHE_F_FETCH_TIME, op->end_ns - op->start_ns);
	}
}

/* ---- pages that come into the cache ---- */

/* Since Linux 6.18 the flags are a structure. */
struct folio___memdesc {
	struct {
		unsigned long f;
	} flags;
} __attribute__((preserve_access_index));
struct folio___before {
	unsigned int _folio_nr_pages;
} __attribute__((preserve_access_index));

static __always_inline __u64 scribe_folio_bytes(struct folio *folio)
{
	unsigned long flags = 0;
	__u64 pages = 1;

	if (bpf_core_field_exists(folio->flags))
		flags = BPF_CORE_READ(folio, flags);
	else if (bpf_core_field_exists(((struct folio___memdesc *)folio)->flags.f))
		flags = BPF_CORE_READ((struct folio___memdesc *)folio, flags.f);
	if (flags >> bpf_core_enum_value(enum pageflags, PG_head) & 1) {
		if (bpf_core_field_exists(folio->_nr_pages))
			pages = BPF_CORE_READ(folio, _nr_pages);
		else if (bpf_core_field_exists(((struct folio___before *)folio)->_folio_nr_pages))
			pages = BPF_CORE_READ((struct folio___before *)folio, _folio_nr_pages);
	}
	return pages * scribe_page_bytes;
}

/* ---- mapped files ---- */

/* Detects a reused address. */
static __always_inline __u64 scribe_inode_identity(__u64 addr)
{
	struct inode *inode = SCRIBE_CAST(inode, addr);

	return SCRIBE_GET(inode, i_ino) * SCRIBE_IDENTITY_MIX + SCRIBE_GET(inode, i_generation);
}

static long scribe_vma_file(struct task_struct *task, struct vm_area_struct *vma, void *ctx)
{
	/* as a number, which is what the callers pass */
	bpf_probe_read_kernel(ctx, sizeof(__u64), &vma->vm_file);
	return 0;
}

/* 0: drained, reused or excluded since. */
static __always_inline struct scribe_slot *scribe_cache_slot(__u32 slot, __u32 generation)
{
	struct scribe_slot *s = slot ? scribe_slot_at(slot) : 0;

	return s && s->generation == generation && *(volatile __u32 *)&s->state == SCRIBE_SLOT_LIVE &&
			       !(s->flags & SCRIBE_SF_EXCLUDED)
		       ? s
		       : 0;
}

/* After mmap returned `addr` for t->file and its record t->slot. With overlayfs the mapping is of another inode. */
SCRIBE_GLOBAL int scribe_mapped_put(struct scribe_thread *t, struct scribe_proc *p, __u64 addr)
{
	struct scribe_desc_key key = {};
	struct scribe_desc of = {};
	struct scribe_slot *s;
	__u64 file = 0;

	if (!t || !p)
		return 0;
	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_find_vma) ||
	    bpf_find_vma(bpf_get_current_task_btf(), addr, scribe_vma_file, &file, 0) || !file)
		file = t->file;
	key.file = (__u64)SCRIBE_GET(SCRIBE_CAST(file, file), f_inode);
	key.proc_id = p->proc_id;
	of.identity = scribe_inode_identity(key.file);
	of.slot = t->slot;
	of.generation = t->generation;
	if (bpf_map_update_elem(&scribe_descs, &key, &of, BPF_ANY)) {
		s = scribe_cache_slot(t->slot, t->generation);
		if (s)
			__sync_fetch_and_or(&s->flags, SCRIBE_SF_FAULTS_LOST);
	}
	__sync_fetch_and_add(&p->mapped_gen, 1); /* threads look up again */
	return 0;
}

/* Of this process, or of the one that mapped the file and forked. 1: t->mapped_slot is its record. */
SCRIBE_GLOBAL int scribe_mapped_find(struct scribe_thread *t, struct scribe_proc *p, __u64 inode)
{
	struct scribe_desc_key key = {.file = inode};
	struct scribe_desc *of;

	if (!t || !p)
		return 0;
	t->mapped_inode = inode;
	t->mapped_gen = *(volatile __u32 *)&p->mapped_gen;
	t->mapped_slot = 0;
	key.proc_id = p->proc_id;
	of = bpf_map_lookup_elem(&scribe_descs, &key);
	if (!of && p->parent_serial) {
		key.proc_id = p->parent_serial;
		of = bpf_map_lookup_elem(&scribe_descs, &key);
	}
	if (!of || of->identity != scribe_inode_identity(inode))
		return 0;
	t->mapped_slot = of->slot;
	t->mapped_generation = of->generation;
	return 1;
}

/* 0: the file is not recorded. */
static __always_inline struct scribe_slot *scribe_mapped_slot(struct scribe_thread *t, struct scribe_proc *p,
							      __u64 inode)
{
	if (t->mapped_inode != inode || t->mapped_gen != *(volatile __u32 *)&p->mapped_gen)
		scribe_mapped_find(t, p, inode);
	return scribe_cache_slot(t->mapped_slot, t->mapped_generation);
}

/* ---- page faults ---- */

static __always_inline bool scribe_in_data_call(const struct scribe_thread *t)
{
	return (t->class && t->class <= SCRIBE_CLASS_LAST_DATA) || t->class >= SCRIBE_CLASS_LEFT_READ;
}

/* Grows when a fault ends, so that events of one are not taken for those of the next. */
static __always_inline __u64 scribe_fault_number(struct task_struct *task)
{
	return task->maj_flt + task->min_flt + 1;
}

static __always_inline struct scribe_proc *scribe_fault_proc(struct scribe_thread *t)
{
	struct scribe_proc *p = t && !scribe_in_data_call(t) ? scribe_proc_at(t->proc) : 0;

	return p && p->proc_id == t->proc_id && !(p->flags & SCRIBE_PF_NOT_RECORDED) ? p : 0;
}

/* Several events of one fault count once. */
static __always_inline int scribe_cache_fault(struct task_struct *task, __u64 inode)
{
	struct scribe_thread *t = scribe_thread_of(task);
	struct scribe_proc *p = scribe_fault_proc(t);
	const __u64 number = scribe_fault_number(task);
	struct scribe_slot *s;
	const int atomic = 1;

	if (!p || t->class || t->fault_counted == number)
		return 0;
	t->fault_counted = number;
	t->measured = 0; /* of a call that ended without a program */
	scribe_cost_enter(t, p);
	s = scribe_mapped_slot(t, p, inode);
	if (s)
		SCRIBE_CACHE_ADD(s, SCRIBE_CACHE_MINOR_FAULTS, 1);
	scribe_cost_leave(t, t->cost_from_ns);
	return 0;
}

/* As if the task's account had them. */
static __always_inline void scribe_cache_pages(struct scribe_thread *t, __u64 bytes)
{
	t->pages_added += bytes;
	t->moved_before -= bytes;
}

/*
 * In a read call: of file systems with a device the task's account has what was read from it. Elsewhere the page was
 * read by a fault, or by mmap with MAP_POPULATE before its mapping is known.
 */
static __always_inline int scribe_cache_added(struct task_struct *task, struct folio *folio)
{
	struct scribe_thread *t = scribe_thread_of(task);
	struct scribe_proc *p = scribe_fault_proc(t);
	struct scribe_slot *s;
	const int atomic = 1;
	__u64 number;

	if (!t)
		return 0;
	if (scribe_in_data_call(t)) {
		if (!(t->class & 1)) /* even classes write */
			return 0;
		scribe_cache_begin(t, task, SCRIBE_OP_READ);
		if (!BPF_CORE_READ(folio, mapping, host, i_sb, s_bdev))
			scribe_cache_pages(t, scribe_folio_bytes(folio));
		return 0;
	}
	if (!p || (t->class && t->class != SCRIBE_CLASS_MMAP))
		return 0;
	if (t->class)
		s = scribe_cache_slot(t->slot, t->generation);
	else
		s = scribe_mapped_slot(t, p, (__u64)BPF_CORE_READ(folio, mapping, host));
	if (!s)
		return 0;
	SCRIBE_CACHE_ADD(s, SCRIBE_CACHE_BYTES_FAULTED, scribe_folio_bytes(folio));
	number = scribe_fault_number(task);
	if (t->class || t->fault_fetched == number)
		return 0;
	t->fault_fetched = number;
	SCRIBE_CACHE_ADD(s, SCRIBE_CACHE_MAJOR_FAULTS, 1);
	return 0;
}

/* ---- dirty pages ---- */

/* Through a mapping: not in a system call. Pages that writes make dirty are in the task's account. */
static __always_inline int scribe_cache_dirtied(struct task_struct *task, struct folio *folio,
						struct address_space *mapping)
{
	struct scribe_thread *t = scribe_thread_of(task);
	struct scribe_proc *p = scribe_fault_proc(t);
	struct scribe_slot *s;
	const int atomic = 1;

	if (!p || t->class || !mapping) /* the tracepoint's argument may be NULL */
		return 0;
	s = scribe_mapped_slot(t, p, (__u64)BPF_CORE_READ(mapping, host));
	if (s)
		SCRIBE_CACHE_ADD(s, SCRIBE_CACHE_MAPPED_BYTES_DIRTIED, scribe_folio_bytes(folio));
	return 0;
}

/* The task is about to sleep for so many ms. */
static __always_inline int scribe_cache_throttled(struct task_struct *task, long ms)
{
	struct scribe_thread *t = ms > 0 ? scribe_thread_of(task) : 0;
	struct scribe_proc *p = t ? scribe_proc_at(t->proc) : 0;
	const int atomic = 1;
	struct scribe_slot *s;

	if (!p || p->proc_id != t->proc_id || (p->flags & SCRIBE_PF_NOT_RECORDED))
		return 0;
	if (t->class && t->class <= SCRIBE_CLASS_LAST_DATA)
		s = scribe_cache_slot(t->c_slot, t->c_generation);
	else
		s = t->class ? 0 : scribe_cache_slot(t->mapped_slot, t->mapped_generation);
	if (s)
		SCRIBE_CACHE_ADD(s, SCRIBE_CACHE_COUNT + SCRIBE_CACHE_F_THROTTLED_TIME, ms * 1000000ull);
	return 0;
}

#endif
