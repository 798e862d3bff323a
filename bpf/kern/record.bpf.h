/* SPDX-License-Identifier: BSD-3-Clause */
/* Applies operations to records by the rules of logfmt. */
#ifndef BPF_KERN_RECORD_BPF_H
#define BPF_KERN_RECORD_BPF_H

#include "bpf/kern/account.bpf.h"
#include "bpf/kern/descs.bpf.h"
#include "bpf/kern/heat.bpf.h"
#include "bpf/kern/segment.bpf.h"
#include "logfmt/rules/posix_rules.h"

SCRIBE_GLOBAL __u32 scribe_table_pop(void)
{
	struct scribe_ctl *ctl = scribe_ctl_get();
	__u32 index = 0;

	if (!ctl)
		return 0;
	SCRIBE_POP(scribe_tab_free, &ctl->tables, scribe_tab_mask, 0, index);
	if (ctl->tables.tail - ctl->tables.head == ctl->tables.low || !index)
		scribe_ask();
	return index;
}

/* The table of a shard, made at the fifth distinct value; `at` is 1-based. */
static __noinline struct scribe_value_table *scribe_table_get(struct scribe_proc *p, __u32 *at)
{
	__u32 index = *(volatile __u32 *)at;
	__u32 chunk, in_chunk;
	void *inner;

	if (!index) {
		index = scribe_table_pop();
		if (!index)
			return 0;
		*(volatile __u32 *)at = index;
	}
	index--;
	chunk = index / SCRIBE_TABLES_CHUNK;
	in_chunk = index % SCRIBE_TABLES_CHUNK;
	inner = bpf_map_lookup_elem(&scribe_tables, &chunk);
	if (!inner)
		return 0;
	return bpf_map_lookup_elem(inner, &in_chunk);
}

/* One of the others, or in the table. */
SCRIBE_GLOBAL int scribe_value_far(struct scribe_proc *p, struct scribe_posix_shard *shard, __u32 stride, __s64 value)
{
	struct scribe_value_table *t;

	if (!p || !shard)
		return 0;
	if (!scribe_top_count(stride ? shard->stride : shard->access, value, 0))
		return 0;
	t = scribe_table_get(p, stride ? &shard->stride_table : &shard->access_table);
	if (!t) {
		scribe_count(p, SCRIBE_L_APPROX_VALUES);
		return 0;
	}
	scribe_table_count(t, value);
	return 0;
}

static __always_inline void scribe_value(struct scribe_thread *t, struct scribe_posix_shard *shard, __u32 stride,
					 __s64 value)
{
	struct scribe_value *first = stride ? shard->stride : shard->access;

	if (value == 0)
		return;
	if (first->value == value)
		first->count++;
	else
		scribe_value_far(scribe_proc_at(t->proc), shard, stride, value);
}

static __always_inline void scribe_shard_apply(struct scribe_thread *t, struct scribe_posix_shard *shard,
					       const struct scribe_data_op *op,
					       const struct scribe_op_class_result *op_result)
{
	scribe_shard_data(shard, op, op_result, 0);
	scribe_value(t, shard, 0, (__s64)op->bytes);
	scribe_value(t, shard, 1, op_result->stride);
}

/* t->op on a shard without a lock: the same rules, atomically. */
SCRIBE_GLOBAL int scribe_data_atomic(struct scribe_thread *t, struct scribe_proc *p, struct scribe_slot *at)
{
	if (!t || !p || !at)
		return 0;
	scribe_shard_data(&at->shard, &t->op, &t->op_result, 1);
	if (scribe_top_count(at->shard.access, (__s64)t->op.bytes, 1))
		scribe_count(p, SCRIBE_L_APPROX_VALUES);
	if (scribe_top_count(at->shard.stride, t->op_result.stride, 1))
		scribe_count(p, SCRIBE_L_APPROX_VALUES);
	scribe_count(p, SCRIBE_L_ATOMIC);
	return 0;
}

/* False after an exec: the program that counted is gone. */
static __always_inline bool scribe_calls_counted(const struct scribe_proc *p, const struct scribe_slot *s)
{
	return s->calls_of == (__u32)p->exec_ns;
}

/*
 * Called before the operation counts as seen: excluded paths; directories (`posix`: not for our module's
 * calls); data (else NULL) of streams counted in the program.
 */
static __always_inline bool scribe_is_excluded(struct scribe_proc *p, struct scribe_slot *s, bool posix,
					       const struct scribe_data_op *data)
{
	__u32 flags = s->flags;

	if (!(flags & (SCRIBE_SF_EXCLUDED | SCRIBE_SF_DIRECTORY | SCRIBE_SF_CALLS)))
		return false;
	if (flags & SCRIBE_SF_EXCLUDED) {
		scribe_count(p, SCRIBE_L_EXCLUDED);
		if (data)
			scribe_io_count(p, SCRIBE_L_LEFT_EXCLUDED_CALLS, 1, data->bytes);
		return true;
	}
	if ((flags & SCRIBE_SF_DIRECTORY) && posix) {
		scribe_count(p, SCRIBE_L_NOT_REGULAR);
		if (data)
			scribe_io_count(p, SCRIBE_L_LEFT_OTHER_CALLS, 1, data->bytes);
		return true;
	}
	if ((flags & SCRIBE_SF_CALLS) && data && scribe_calls_counted(p, s)) {
		scribe_count(p, SCRIBE_L_STREAM_CALLS);
		return true;
	}
	return false;
}

/* 0: the slot is gone. */
SCRIBE_GLOBAL int scribe_record_data(struct scribe_thread *t, struct scribe_proc *p, struct scribe_slot *s, __u32 index,
				     __u32 generation)
{
	struct scribe_hold h;

	if (!t || !p || !s)
		return 1;
	if (!scribe_shard_hold(s, generation, &h))
		return 0;
	t->op.align = s->align;
	scribe_cursor_data(&s->cursor, &t->op, 0, &t->op_result);
	if (h.atomic) {
		scribe_data_atomic(t, p, h.at);
		scribe_heat_far(h.at, t->op.start_ns, t->op.end_ns, t->op.bytes, t->op.op | SCRIBE_HEAT_ATOMIC);
		if (t->fetched)
			scribe_cache_count(t, h.at, &t->op, t->fetched, 1);
	} else {
		scribe_shard_apply(t, &h.at->shard, &t->op, &t->op_result);
		if (t->fetched)
			scribe_cache_count(t, h.at, &t->op, t->fetched, 0);
		scribe_heat_count(h.at, t->op.start_ns, t->op.end_ns, t->op.bytes, t->op.op);
		scribe_shard_unlock(h.at, h.lock);
	}
	if (s->flags & SCRIBE_SF_TRACED)
		scribe_segment(t, index, generation, &t->op);
	if (t->op_result.approx)
		scribe_count(p, SCRIBE_L_APPROX_TIME);
	return 1;
}

/*
 * Inline. Only for a named file with one free shard; the lock also protects the cursor. A shard added meanwhile is
 * counted (APPROX_TIME). False: nothing done.
 */
static __always_inline bool scribe_record_plain(struct scribe_thread *t, struct scribe_slot *s,
						struct scribe_data_op *op)
{
	const __u32 asked = SCRIBE_SF_NAME_SENT | SCRIBE_SF_EXCLUDED | SCRIBE_SF_DIRECTORY | SCRIBE_SF_CALLS;
	__u32 lock = *(volatile __u32 *)&s->shard.lock, was;
	const __u32 flags = s->flags;
	struct scribe_op_class_result op_result;

	if ((flags & asked) != SCRIBE_SF_NAME_SENT || t->watched || (lock & 1))
		return false;
	was = __sync_val_compare_and_swap(&s->shard.lock, lock, lock + 1);
	barrier_var(was); /* otherwise compared three times */
	if (was != lock)
		return false;
	/* The slot may have been reused before the lock was taken: check again under it. */
	if (*(volatile __u32 *)&s->state != SCRIBE_SLOT_LIVE || *(volatile __u32 *)&s->generation != t->c_generation ||
	    *(volatile __u32 *)&s->kind != SCRIBE_KIND_FILE || *(volatile __u32 *)&s->shards[0]) {
		scribe_shard_unlock(s, lock);
		return false;
	}
	t->events++;
	op->align = s->align;
	scribe_cursor_data(&s->cursor, op, 1, &op_result);
	scribe_shard_apply(t, &s->shard, op, &op_result);
	if ((op->op & 1) && t->fetched) {
		scribe_cache_count(t, s, op, t->fetched, 0);
		t->fetched = 0;
	}
	scribe_heat_count(s, op->start_ns, op->end_ns, op->bytes, op->op);
	if (*(volatile __u32 *)&s->shards[0])
		scribe_count_thread(t, SCRIBE_L_APPROX_TIME);
	scribe_shard_unlock(s, lock);
	if (flags & SCRIBE_SF_TRACED)
		scribe_segment(t, t->c_slot, t->c_generation, op);
	return true;
}

#define SCRIBE_BUMP(field, n) \
	do { \
		if (atomic) \
			__sync_fetch_and_add(&(field), (n)); \
		else \
			(field) += (n); \
	} while (0)

static __always_inline void scribe_meta_counts(struct scribe_posix_shard *shard, const struct scribe_meta_op *op,
					       int atomic)
{
	switch (op->what) {
	case SCRIBE_META_OPEN:
	case SCRIBE_META_DUP:
		SCRIBE_BUMP(shard->opens, 1);
		if (op->what == SCRIBE_META_DUP)
			SCRIBE_BUMP(shard->dups, 1);
		scribe_lower(&shard->open_start, op->start_ns, atomic);
		scribe_raise(&shard->open_end, op->end_ns, atomic);
		break;
	case SCRIBE_META_SEEK:
		SCRIBE_BUMP(shard->seeks, 1);
		break;
	case SCRIBE_META_STAT:
		SCRIBE_BUMP(shard->stats, 1);
		break;
	case SCRIBE_META_MMAP:
		SCRIBE_BUMP(shard->mmaps, 1);
		break;
	case SCRIBE_META_FSYNC:
		SCRIBE_BUMP(shard->fsyncs, 1);
		break;
	case SCRIBE_META_FDSYNC:
		SCRIBE_BUMP(shard->fdsyncs, 1);
		break;
	case SCRIBE_META_CLOSE:
		scribe_lower(&shard->close_start, op->start_ns, atomic);
		scribe_raise(&shard->close_end, op->end_ns, atomic);
		break;
	case SCRIBE_META_RENAME_SOURCE:
		SCRIBE_BUMP(shard->rename_sources, 1);
		break;
	case SCRIBE_META_RENAME_TARGET:
		SCRIBE_BUMP(shard->rename_targets, 1);
		break;
	}
}

static __always_inline void scribe_meta_apply(struct scribe_slot *at, const struct scribe_meta_op *op, __u32 op_class,
					      __u64 busy_ns, int atomic)
{
	SCRIBE_BUMP(at->shard.events, 1);
	scribe_meta_counts(&at->shard, op, atomic);
	scribe_shard_busy(&at->shard, op_class, busy_ns, atomic);
	if (op->ext >= SCRIBE_EXT_COUNT)
		return;
	SCRIBE_BUMP(at->ext.v[op->ext], op->ext == SCRIBE_EXT_MAPPED_BYTES ? op->bytes : 1);
	if (op->ext == SCRIBE_EXT_CLOSES)
		SCRIBE_BUMP(at->ext.v[SCRIBE_EXT_CLOSE_NS], op->end_ns - op->start_ns);
	else if (op->what == SCRIBE_META_EXT)
		SCRIBE_BUMP(at->ext.v[SCRIBE_EXT_META_NS], op->end_ns - op->start_ns);
}

/* fsync is write time, mmap has none. */
static __always_inline __u32 scribe_meta_class(__u32 what)
{
	if (what == SCRIBE_META_FSYNC || what == SCRIBE_META_FDSYNC)
		return SCRIBE_OP_WRITE;
	if (what == SCRIBE_META_MMAP || what == SCRIBE_META_EXT || what == SCRIBE_META_RENAME_TARGET)
		return SCRIBE_OP_NONE;
	return SCRIBE_OP_META;
}

/* On shard `at` of `s`. 1: contended, its time may overlap. */
SCRIBE_GLOBAL int scribe_meta_count(struct scribe_slot *s, struct scribe_slot *at, const struct scribe_meta_op *op,
				    __u32 atomic)
{
	__u32 op_class, approx = 0;
	__u64 busy_ns = 0;

	if (!s || !at || !op)
		return 0;
	op_class = scribe_meta_class(op->what);
	if (op_class < SCRIBE_OP_NONE)
		busy_ns = scribe_busy_time(&s->cursor.last_end[op_class], op->start_ns, op->end_ns, &approx);
	if (atomic)
		scribe_meta_apply(at, op, op_class, busy_ns, 1);
	else
		scribe_meta_apply(at, op, op_class, busy_ns, 0);
	if (op->what == SCRIBE_META_OPEN)
		scribe_cursor_open(&s->cursor);
	if (op->mode)
		s->mode = op->mode;
	return approx;
}

/* 0: the slot is gone. */
static __always_inline int scribe_record_meta(struct scribe_proc *p, struct scribe_slot *s, __u32 generation,
					      const struct scribe_meta_op *op)
{
	struct scribe_hold h;
	int approx;

	if (!p || !s || !op)
		return 1;
	if (!scribe_shard_hold(s, generation, &h))
		return 0;
	approx = scribe_meta_count(s, h.at, op, h.atomic);
	scribe_shard_release(&h);
	if (approx)
		scribe_count(p, SCRIBE_L_APPROX_TIME);
	return 1;
}

#define SCRIBE_AT(slot, generation) ((__u64)(generation) << 32 | (slot))

SCRIBE_GLOBAL int scribe_meta_segment(struct scribe_thread *t, __u64 slot_and_generation)
{
	struct scribe_data_op op = {};

	if (!t || (t->meta.what != SCRIBE_META_OPEN && t->meta.what != SCRIBE_META_CLOSE))
		return 0;
	op.start_ns = t->meta.start_ns;
	op.end_ns = t->meta.end_ns;
	op.op = t->meta.what == SCRIBE_META_OPEN ? SCRIBE_SEGMENT_OPEN : SCRIBE_SEGMENT_CLOSE;
	scribe_segment(t, (__u32)slot_and_generation, slot_and_generation >> 32, &op);
	return 0;
}

#endif
