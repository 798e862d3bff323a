/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one operation does to a file's cursor and part: the only place where
 * these rules are written. Compiled into the kernel programs, the unit tests
 * and any counting inside a process. A part is changed by whoever holds its
 * lock; the cursor by anyone, atomically. Semantics: docs/counters.md.
 */
#ifndef LOGFMT_RULES_POSIX_RULES_H
#define LOGFMT_RULES_POSIX_RULES_H

#include "logfmt/rules/posix_part.h"

#define SCRIBE_CAS_TRIES 4

/* One read or write that returned `bytes` >= 0. */
struct scribe_data_op {
	scribe_s64 offset;    /* bytes from the start of the file */
	scribe_u64 bytes;     /* bytes moved, 0 at end of file */
	scribe_u64 start_ns;
	scribe_u64 end_ns;
	scribe_u32 op;        /* SCRIBE_OP_READ or SCRIBE_OP_WRITE */
	scribe_u32 unaligned; /* 1: the buffer is not aligned in memory */
	scribe_u32 align;     /* file alignment in bytes, 0 unknown */
};

/* What the cursor says of an operation. */
struct scribe_place {
	scribe_s64 stride; /* bytes skipped since the previous one, 0 none */
	scribe_u64 busy_ns; /* time not yet covered by an earlier operation */
	scribe_u32 seq, consec, switched;
	scribe_u32 approx; /* 1: the time was contended and may overlap */
};

/* Darshan's buckets: upper edges inclusive, 0 bytes in the first. */
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

/*
 * Time of [start, end] that no earlier operation of the class has covered, and
 * the class's latest end moved on. Overlapping threads are not counted twice.
 */
SCRIBE_INLINE scribe_u64 scribe_busy_time(scribe_u64 *last_end, scribe_u64 start, scribe_u64 end,
					  scribe_u32 *approx)
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

/* A file was opened by name: the next access starts afresh, as in Darshan. */
SCRIBE_INLINE void scribe_cursor_open(struct scribe_cursor *c)
{
	*(volatile scribe_s64 *)&c->last_byte[SCRIBE_OP_READ] = 0;
	*(volatile scribe_s64 *)&c->last_byte[SCRIBE_OP_WRITE] = 0;
}

SCRIBE_INLINE void scribe_cursor_data(struct scribe_cursor *c, const struct scribe_data_op *op,
				      struct scribe_place *ret_place)
{
	scribe_u32 which = op->op & 1;
	scribe_s64 last = __sync_lock_test_and_set(&c->last_byte[which],
						   op->offset + (scribe_s64)op->bytes - 1);
	scribe_u32 other = 2 - which; /* 1 + class of the opposite kind */

	ret_place->seq = op->offset > last;
	ret_place->consec = op->offset == last + 1;
	ret_place->stride = op->offset > last && last != 0 ? op->offset - last - 1 : 0;
	ret_place->switched = 0;
	if (*(volatile scribe_u32 *)&c->last_op != which + 1)
		ret_place->switched = __sync_lock_test_and_set(&c->last_op, which + 1) == other;
	ret_place->approx = 0;
	ret_place->busy_ns =
		scribe_busy_time(&c->last_end[which], op->start_ns, op->end_ns, &ret_place->approx);
}

/*
 * Count `value` among the part's own four. Returns 0 when counted (or when the
 * value is 0, which is never kept), 1 when it belongs into the table.
 */
SCRIBE_INLINE int scribe_top_count(struct scribe_value *top, scribe_s64 value)
{
	if (value == 0)
		return 0;
	for (int i = 0; i < SCRIBE_TOP_VALUES; i++) {
		if (top[i].value == value) {
			top[i].count++;
			return 0;
		}
		if (top[i].value == 0) {
			top[i].value = value;
			top[i].count = 1;
			return 0;
		}
	}
	return 1;
}

/* Count `value` in a table of further values. Full: ignored, as in Darshan. */
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

SCRIBE_INLINE void scribe_first(scribe_u64 *at, scribe_u64 ns)
{
	if (*at == 0 || ns < *at)
		*at = ns;
}

SCRIBE_INLINE void scribe_latest(scribe_u64 *at, scribe_u64 ns)
{
	if (ns > *at)
		*at = ns;
}

/* The data operation on a part whose lock the caller holds; values apart. */
SCRIBE_INLINE void scribe_part_data(struct scribe_posix_part *p, const struct scribe_data_op *op,
				    const struct scribe_place *at)
{
	scribe_u64 ns = op->end_ns - op->start_ns;
	scribe_s64 last = op->offset + (scribe_s64)op->bytes - 1;
	scribe_u32 w = op->op & 1;

	if (w) {
		p->writes++;
		p->bytes_written += op->bytes;
		if (last > p->max_byte_written)
			p->max_byte_written = last;
	} else {
		p->reads++;
		p->bytes_read += op->bytes;
		if (last > p->max_byte_read)
			p->max_byte_read = last;
	}
	p->size[w][scribe_size_bucket(op->bytes)]++;
	p->seq[w] += at->seq;
	p->consec[w] += at->consec;
	p->rw_switches += at->switched;
	p->mem_not_aligned += op->unaligned;
	if (op->align && (scribe_u64)op->offset % op->align)
		p->file_not_aligned++;
	p->busy_ns[w] += at->busy_ns;
	if (ns > p->max_ns[w]) {
		p->max_ns[w] = ns;
		p->max_ns_size[w] = op->bytes;
	}
	scribe_first(&p->start[w], op->start_ns);
	scribe_latest(&p->end[w], op->end_ns);
}

#endif
