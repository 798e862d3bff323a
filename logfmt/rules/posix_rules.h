/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Effects of one operation on a file's cursor (atomic) and shard (under its lock), docs/counters.md. For kernel
 * programs, runtime and unit tests.
 */
#ifndef LOGFMT_RULES_POSIX_RULES_H
#define LOGFMT_RULES_POSIX_RULES_H

#include "logfmt/rules/posix_shard.h"

#define SCRIBE_CAS_TRIES 4

struct scribe_data_op {
	scribe_s64 offset;
	scribe_u64 bytes; /* 0 at end of file */
	scribe_u64 start_ns;
	scribe_u64 end_ns;
	scribe_u32 op;        /* SCRIBE_OP_READ or SCRIBE_OP_WRITE */
	scribe_u32 unaligned; /* 1: in memory */
	scribe_u32 align;     /* of the file; 0: unknown */
};

struct scribe_op_class_result {
	scribe_s64 stride;
	scribe_u64 busy_ns; /* not covered by an earlier operation */
	scribe_u32 seq, consec, switched;
	scribe_u32 approx; /* 1: contended, busy_ns may overlap */
};

/* As in Darshan: upper limits inclusive, 0 bytes in the first. */
SCRIBE_INLINE scribe_u32 scribe_size_bucket(scribe_u64 bytes)
{
	if (bytes <= 100)
		return 0;
	if (bytes <= 1024)
		return 1;
	if (bytes <= 10240)
		return 2;
	if (bytes <= 102400)
		return 3;
	if (bytes <= 1048576)
		return 4;
	if (bytes <= 4194304)
		return 5;
	if (bytes <= 10485760)
		return 6;
	if (bytes <= 104857600)
		return 7;
	if (bytes <= 1073741824)
		return 8;
	return 9;
}

/* `align` 0: unknown, never misaligned. */
SCRIBE_INLINE int scribe_misaligned(scribe_u64 value, scribe_u64 align)
{
	if (((value | align) & (align - 1)) == 0)
		return 0; /* the usual case */
	if ((align & (align - 1)) == 0)
		return align && (value & (align - 1)) != 0;
	return value % align != 0;
}

/* Overlapping threads are counted once. */
SCRIBE_INLINE scribe_u64 scribe_busy_time(scribe_u64 *last_end, scribe_u64 start, scribe_u64 end, scribe_u32 *approx)
{
	scribe_u64 last = *(volatile scribe_u64 *)last_end;

	for (int i = 0; i < SCRIBE_CAS_TRIES; i++) {
		scribe_u64 seen;

		if (end <= last)
			return 0;
		seen = __sync_val_compare_and_swap(last_end, last, end);
		if (seen == last)
			return end - (start > last ? start : last);
		last = seen;
	}
	*approx = 1;
	if (end <= last)
		return 0;
	return end - (start > last ? start : last);
}

SCRIBE_INLINE scribe_u64 scribe_busy_alone(scribe_u64 *last_end, scribe_u64 start, scribe_u64 end)
{
	scribe_u64 last = *last_end;

	if (end <= last)
		return 0;
	*last_end = end;
	return end - (start > last ? start : last);
}

/* The next access is not compared with an earlier one, as in Darshan. */
SCRIBE_INLINE void scribe_cursor_open(struct scribe_cursor *c)
{
	*(volatile scribe_s64 *)&c->last_byte[SCRIBE_OP_READ] = 0;
	*(volatile scribe_s64 *)&c->last_byte[SCRIBE_OP_WRITE] = 0;
}

/* `alone`, a constant: no other thread uses the cursor. */
SCRIBE_INLINE void scribe_cursor_data(struct scribe_cursor *c, const struct scribe_data_op *op, int alone,
				      struct scribe_op_class_result *ret_place)
{
	scribe_u32 which = op->op & 1;
	scribe_u32 other = 2 - which; /* 1 + the opposite class */
	scribe_s64 end = op->offset + (scribe_s64)op->bytes - 1, last;

	if (alone) {
		last = c->last_byte[which];
		c->last_byte[which] = end;
	} else {
		last = __sync_lock_test_and_set(&c->last_byte[which], end);
	}

	ret_place->seq = op->offset > last;
	ret_place->consec = op->offset == last + 1;
	ret_place->stride = op->offset > last && last != 0 ? op->offset - last - 1 : 0;
	ret_place->switched = 0;
	ret_place->approx = 0;
	if (alone) {
		ret_place->switched = c->last_op == other;
		c->last_op = which + 1;
		ret_place->busy_ns = scribe_busy_alone(&c->last_end[which], op->start_ns, op->end_ns);
		return;
	}
	if (*(volatile scribe_u32 *)&c->last_op != which + 1)
		ret_place->switched = __sync_lock_test_and_set(&c->last_op, which + 1) == other;
	ret_place->busy_ns = scribe_busy_time(&c->last_end[which], op->start_ns, op->end_ns, &ret_place->approx);
}

/* `atomic`, a constant: the shared shard, used when all locked ones are busy. */
#define SCRIBE_ADD(field, n) \
	do { \
		if (atomic) \
			__sync_fetch_and_add(&(field), (n)); \
		else \
			(field) += (n); \
	} while (0)

/* 1: raised. */
SCRIBE_INLINE int scribe_raise(scribe_u64 *at, scribe_u64 value, int atomic)
{
	scribe_u64 seen = *(volatile scribe_u64 *)at;

	if (!atomic) {
		if (value <= seen)
			return 0;
		*at = value;
		return 1;
	}
	for (int i = 0; i < SCRIBE_CAS_TRIES && value > seen; i++) {
		scribe_u64 was = __sync_val_compare_and_swap(at, seen, value);

		if (was == seen)
			return 1;
		seen = was;
	}
	return 0;
}

/* 0 in *at: not set. */
SCRIBE_INLINE void scribe_lower(scribe_u64 *at, scribe_u64 value, int atomic)
{
	scribe_u64 seen = *(volatile scribe_u64 *)at;

	if (!atomic) {
		if (seen == 0 || value < seen)
			*at = value;
		return;
	}
	for (int i = 0; i < SCRIBE_CAS_TRIES && (seen == 0 || value < seen); i++) {
		scribe_u64 was = __sync_val_compare_and_swap(at, seen, value);

		if (was == seen)
			return;
		seen = was;
	}
}

/* 1: not among the shard's four, to be counted in the table. */
SCRIBE_INLINE int scribe_top_count(struct scribe_value *top, scribe_s64 value, int atomic)
{
	if (value == 0)
		return 0;
	for (int i = 0; i < SCRIBE_TOP_VALUES; i++) {
		scribe_s64 held = *(volatile scribe_s64 *)&top[i].value;

		if (held == 0 && atomic) {
			held = __sync_val_compare_and_swap(&top[i].value, 0, value);
			held = held ? held : value;
		} else if (held == 0) {
			top[i].value = value;
			held = value;
		}
		if (held == value) {
			SCRIBE_ADD(top[i].count, 1);
			return 0;
		}
	}
	return 1;
}

/* Values beyond the capacity are ignored, as in Darshan. */
SCRIBE_INLINE void scribe_table_count(struct scribe_value_table *t, scribe_s64 value)
{
	scribe_u32 at = (scribe_u32)(((scribe_u64)value * 0x9e3779b97f4a7c15ull) >> 59);

	for (int i = 0; i < SCRIBE_TABLE_VALUES; i++) {
		struct scribe_value *v = &t->v[(at + i) & (SCRIBE_TABLE_VALUES - 1)];

		if (v->value == value) {
			v->count++;
			return;
		}
		if (v->value != 0)
			continue;
		if (t->used >= SCRIBE_TABLE_LIMIT)
			break;
		v->value = value;
		v->count = 1;
		t->used++;
		return;
	}
	t->dropped++;
}

/* The caller counts op->bytes and at->stride by scribe_top_count. */
SCRIBE_INLINE void scribe_shard_data(struct scribe_posix_shard *p, const struct scribe_data_op *op,
				     const struct scribe_op_class_result *at, int atomic)
{
	scribe_u64 ns = op->end_ns - op->start_ns;
	scribe_s64 last = op->offset + (scribe_s64)op->bytes - 1;
	scribe_u32 w = op->op & 1;

	SCRIBE_ADD(p->events, 1);
	SCRIBE_ADD(p->ops[w], 1);
	SCRIBE_ADD(p->bytes[w], op->bytes);
	if (last > (scribe_s64) * (volatile scribe_u64 *)&p->max_byte[w])
		scribe_raise(&p->max_byte[w], (scribe_u64)last, atomic);
	SCRIBE_ADD(p->size[w][scribe_size_bucket(op->bytes)], 1);
	if (at->seq) {
		SCRIBE_ADD(p->seq[w], 1);
		if (at->consec)
			SCRIBE_ADD(p->consec[w], 1);
	}
	if (at->switched)
		SCRIBE_ADD(p->rw_switches, 1);
	if (op->unaligned)
		SCRIBE_ADD(p->mem_not_aligned, 1);
	if (scribe_misaligned((scribe_u64)op->offset, op->align))
		SCRIBE_ADD(p->file_not_aligned, 1);
	SCRIBE_ADD(p->busy_ns[w], at->busy_ns);
	if (scribe_raise(&p->max_ns[w], ns, atomic))
		p->max_ns_size[w] = op->bytes;
	scribe_lower(&p->start[w], op->start_ns, atomic);
	scribe_raise(&p->end[w], op->end_ns, atomic);
}

SCRIBE_INLINE void scribe_shard_busy(struct scribe_posix_shard *p, scribe_u32 op_class, scribe_u64 busy_ns, int atomic)
{
	if (op_class < SCRIBE_OP_NONE)
		SCRIBE_ADD(p->busy_ns[op_class], busy_ns);
}

#endif
