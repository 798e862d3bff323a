/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Effects of a call of an I/O library on a record: a POSIX shard, and an ext shard with the module's counters.
 * For kernel programs, runtime and unit tests.
 */

/*
 * Fields by module; data and times are always in the shard:
 *   STDIO         dups: FDOPENS; fsyncs: FLUSHES; ext: as for POSIX (system calls of the stream)
 *   MPI-IO        ext.v[SCRIBE_MPIIO_INDEP_OPENS .. VIEWS]
 *   H5F           ext.v[SCRIBE_H5F_OPENS .. USE_MPIIO]
 *   H5D           ext.v[SCRIBE_H5D_OPENS .. FLUSHES], [.. POINT_SELECTS]; SCRIBE_LIB_H5D_*: properties, set once
 *   PNETCDF_FILE  ext.v[SCRIBE_PNETCDF_FILE_CREATES .. WAIT_FAILURES]; waits: time, start, end of reads
 *   PNETCDF_VAR   SCRIBE_LIB_NC_*: the ext shard, then unused fields of the shard (scribe_lib_place_at)
 *   CUFILE        ext.v[SCRIBE_CUFILE_REGISTERS .. BATCHED]
 */
#ifndef LOGFMT_RULES_LIB_RULES_H
#define LOGFMT_RULES_LIB_RULES_H

#include "logfmt/rules/posix_rules.h"

enum scribe_lib_what {
	SCRIBE_LIB_DATA,
	SCRIBE_LIB_OPEN,
	SCRIBE_LIB_REOPEN, /* fdopen, which is also an open */
	SCRIBE_LIB_CLOSE,
	SCRIBE_LIB_SEEK,
	SCRIBE_LIB_FLUSH, /* STDIO */
	SCRIBE_LIB_WAIT,  /* PnetCDF, class READ */
	SCRIBE_LIB_OTHER, /* only count_at */
};

#define SCRIBE_LIB_NO_COUNT 0xffu

/* A dataset's properties in the ext shard, after its counters. */
#define SCRIBE_LIB_H5D_COLLECTIVE 10
#define SCRIBE_LIB_H5D_DEPRECATED 11 /* opens by deprecated calls */
#define SCRIBE_LIB_H5D_NDIMS      12
#define SCRIBE_LIB_H5D_NPOINTS    13
#define SCRIBE_LIB_H5D_TYPE_SIZE  14
#define SCRIBE_LIB_H5D_CHUNK_D1   15 /* to D5; ~0: unknown */
#define SCRIBE_LIB_H5D_PROPERTIES 8

/* Added to flags (USE_MPIIO, COLLECTIVE), which are sums: not visible. */
#define SCRIBE_LIB_FLAG_UNKNOWN (1ull << 32)

/* First of three fields: bytes read, written, ns of system calls inside the calls. PnetCDF: of the file. */
#define SCRIBE_LIB_MPIIO_BELOW 13
#define SCRIBE_LIB_H5F_BELOW   3
#define SCRIBE_LIB_H5D_BELOW   20
#define SCRIBE_LIB_NC_BELOW    9

/* Fields of a variable: two properties, then counts. */
#define SCRIBE_LIB_NC_SHAPE        0 /* dimensions | bytes of an element << 16 | record variable << 32 */
#define SCRIBE_LIB_NC_NPOINTS      1
#define SCRIBE_LIB_NC_PROPERTIES   2
#define SCRIBE_LIB_NC_FORMS        2 /* PNETCDF_VAR_PUT_VAR to _BPUT_VARN */
#define SCRIBE_LIB_NC_INDEP_READS  34
#define SCRIBE_LIB_NC_INDEP_WRITES 35
#define SCRIBE_LIB_NC_OPENS        36
#define SCRIBE_LIB_PLACES          (SCRIBE_EXT_COUNT + 12)

struct scribe_lib_op {
	scribe_u64 start_ns, end_ns;
	scribe_u64 bytes;
	scribe_s64 offset; /* of the first byte; -1: not counted by the module */
	scribe_u32 what;   /* enum scribe_lib_what */
	scribe_u32 op_class;
	scribe_u32 count_at;    /* incremented, or SCRIBE_LIB_NO_COUNT */
	scribe_u32 unsized;     /* 1: bytes are unknown */
	scribe_u32 also_at;     /* also incremented; 0: none */
	scribe_s64 pattern_key; /* a common value instead of bytes; 0: none */
};

/* Records hold an access pattern's key (docs/counters.md: ACCESSn). */
#define SCRIBE_ACCESS_PATTERN_DIMS 5

struct scribe_access_pattern {
	scribe_s64 bytes;
	scribe_s64 length[SCRIBE_ACCESS_PATTERN_DIMS]; /* elements, D1 to D5 */
	scribe_s64 stride[SCRIBE_ACCESS_PATTERN_DIMS];
};

/* Never 0. */
SCRIBE_INLINE scribe_s64 scribe_access_pattern_key(const struct scribe_access_pattern *s)
{
	scribe_u64 h = (scribe_u64)s->bytes * 0x9e3779b97f4a7c15ull;

	for (int i = 0; i < SCRIBE_ACCESS_PATTERN_DIMS; i++) {
		h = (h ^ (h >> 29) ^ (scribe_u64)s->length[i]) * 0xbf58476d1ce4e5b9ull;
		h = (h ^ (h >> 32) ^ (scribe_u64)s->stride[i]) * 0x94d049bb133111ebull;
	}
	h ^= h >> 31;
	return (scribe_s64)(h ? h : 1);
}

struct scribe_lib_address {
	scribe_u64 busy_ns;
	scribe_u32 switched, approx;
};

SCRIBE_INLINE void scribe_lib_cursor(struct scribe_cursor *c, const struct scribe_lib_op *op,
				     struct scribe_lib_address *ret)
{
	ret->busy_ns = 0;
	ret->switched = 0;
	ret->approx = 0;
	if (op->op_class == SCRIBE_OP_READ)
		ret->busy_ns = scribe_busy_time(&c->last_end[SCRIBE_OP_READ], op->start_ns, op->end_ns, &ret->approx);
	else if (op->op_class == SCRIBE_OP_WRITE)
		ret->busy_ns = scribe_busy_time(&c->last_end[SCRIBE_OP_WRITE], op->start_ns, op->end_ns, &ret->approx);
	else if (op->op_class == SCRIBE_OP_META)
		ret->busy_ns = scribe_busy_time(&c->last_end[SCRIBE_OP_META], op->start_ns, op->end_ns, &ret->approx);
	if (op->what == SCRIBE_LIB_DATA) {
		scribe_u32 me = 1 + (op->op_class & 1);

		if (*(volatile scribe_u32 *)&c->last_op != me)
			ret->switched = __sync_lock_test_and_set(&c->last_op, me) == 3 - me;
	}
}

/* 0: none. */
SCRIBE_INLINE scribe_s64 scribe_lib_value(const struct scribe_lib_op *op)
{
	if (op->what != SCRIBE_LIB_DATA || op->unsized || !op->bytes)
		return 0;
	return op->pattern_key ? op->pattern_key : (scribe_s64)op->bytes;
}

/* See scribe_heat_at. */
SCRIBE_INLINE scribe_u32 scribe_lib_masked(scribe_u32 n, scribe_u32 mask)
{
	__asm__ volatile("" : "+r"(n)); /* otherwise the compiler removes the mask */
	return n & mask;
}

/* The ext shard, then eight and four fields of the shard. */
SCRIBE_INLINE scribe_u64 *scribe_lib_place_at(struct scribe_posix_shard *p, struct scribe_ext_shard *ext,
					      scribe_u32 field)
{
	scribe_u32 at = field - SCRIBE_EXT_COUNT;

	if (field < SCRIBE_EXT_COUNT)
		return &ext->v[field];
	if (at < 8)
		return &p->dups + scribe_lib_masked(at, 7);
	if (at < 12)
		return &p->consec[0] + scribe_lib_masked(at - 8, 3);
	return 0;
}

SCRIBE_INLINE void scribe_lib_cursor_alone(struct scribe_cursor *c, const struct scribe_lib_op *op,
					   struct scribe_lib_address *ret)
{
	ret->busy_ns = 0;
	ret->switched = 0;
	ret->approx = 0;
	if (op->op_class < SCRIBE_OP_NONE)
		ret->busy_ns = scribe_busy_alone(&c->last_end[op->op_class], op->start_ns, op->end_ns);
	if (op->what == SCRIBE_LIB_DATA) {
		scribe_u32 me = 1 + (op->op_class & 1);

		ret->switched = c->last_op == 3 - me;
		c->last_op = me;
	}
}

SCRIBE_INLINE void scribe_lib_data(struct scribe_posix_shard *p, const struct scribe_lib_op *op,
				   const struct scribe_lib_address *at, int atomic)
{
	scribe_u64 ns = op->end_ns - op->start_ns;
	scribe_u32 w = op->op_class & 1;

	SCRIBE_ADD(p->ops[w], 1);
	if (!op->unsized) {
		SCRIBE_ADD(p->bytes[w], op->bytes);
		SCRIBE_ADD(p->size[w][scribe_size_bucket(op->bytes)], 1);
		if (op->offset >= 0 && op->bytes && op->offset + (scribe_s64)op->bytes - 1 > 0)
			scribe_raise(&p->max_byte[w], (scribe_u64)op->offset + op->bytes - 1, atomic);
	}
	if (at->switched)
		SCRIBE_ADD(p->rw_switches, 1);
	if (scribe_raise(&p->max_ns[w], ns, atomic))
		p->max_ns_size[w] = op->unsized ? 0 : op->bytes;
	scribe_lower(&p->start[w], op->start_ns, atomic);
	scribe_raise(&p->end[w], op->end_ns, atomic);
}

SCRIBE_INLINE void scribe_lib_apply(struct scribe_posix_shard *p, struct scribe_ext_shard *ext,
				    const struct scribe_lib_op *op, const struct scribe_lib_address *at, int atomic)
{
	scribe_u64 *count = scribe_lib_place_at(p, ext, op->count_at);

	SCRIBE_ADD(p->events, 1);
	if (count)
		SCRIBE_ADD(*count, 1);
	count = op->also_at ? scribe_lib_place_at(p, ext, op->also_at) : 0;
	if (count)
		SCRIBE_ADD(*count, 1);
	if (op->op_class == SCRIBE_OP_READ)
		SCRIBE_ADD(p->busy_ns[SCRIBE_OP_READ], at->busy_ns);
	else if (op->op_class == SCRIBE_OP_WRITE)
		SCRIBE_ADD(p->busy_ns[SCRIBE_OP_WRITE], at->busy_ns);
	else if (op->op_class == SCRIBE_OP_META)
		SCRIBE_ADD(p->busy_ns[SCRIBE_OP_META], at->busy_ns);
	switch (op->what) {
	case SCRIBE_LIB_DATA:
		scribe_lib_data(p, op, at, atomic);
		break;
	case SCRIBE_LIB_OPEN:
		SCRIBE_ADD(p->opens, 1);
		scribe_lower(&p->open_start, op->start_ns, atomic);
		scribe_raise(&p->open_end, op->end_ns, atomic);
		break;
	case SCRIBE_LIB_REOPEN:
		SCRIBE_ADD(p->opens, 1);
		SCRIBE_ADD(p->dups, 1);
		scribe_lower(&p->open_start, op->start_ns, atomic);
		scribe_raise(&p->open_end, op->end_ns, atomic);
		break;
	case SCRIBE_LIB_CLOSE:
		scribe_lower(&p->close_start, op->start_ns, atomic);
		scribe_raise(&p->close_end, op->end_ns, atomic);
		break;
	case SCRIBE_LIB_WAIT:
		scribe_lower(&p->start[SCRIBE_OP_READ], op->start_ns, atomic);
		scribe_raise(&p->end[SCRIBE_OP_READ], op->end_ns, atomic);
		break;
	case SCRIBE_LIB_SEEK:
		SCRIBE_ADD(p->seeks, 1);
		break;
	case SCRIBE_LIB_FLUSH:
		SCRIBE_ADD(p->fsyncs, 1);
		break;
	default:
		break;
	}
}

_Static_assert(__builtin_offsetof(struct scribe_posix_shard, rename_targets) ==
			       __builtin_offsetof(struct scribe_posix_shard, dups) + 7 * 8 &&
		       __builtin_offsetof(struct scribe_posix_shard, seq) ==
			       __builtin_offsetof(struct scribe_posix_shard, consec) + 16,
	       "fields that are places stand together");

#endif
