/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HDF5: files by public calls, datasets by the internal functions that every open, read or write passes.
 * Offsets are decoded from the library (uprobes/elf/library_offsets.c); own counters in the ext shard
 * (logfmt/rules/lib_rules.h).
 */
#ifndef UPROBES_KERN_HDF5_BPF_H
#define UPROBES_KERN_HDF5_BPF_H

#include "uprobes/kern/named.bpf.h"

/* One table for files by id, files by structure, and datasets. */
#define SCRIBE_HANDLE_H5_FILE (SCRIBE_LAYER_HDF5 | 0x100)
#define SCRIBE_HANDLE_H5_MADE (SCRIBE_LAYER_HDF5 | 0x200)
#define SCRIBE_HANDLE_H5_SET  SCRIBE_LAYER_HDF5

/* Bit of a dataset handle's note, besides the enclosing enum scribe_fn: `moved[0]` is its record's key. */
#define SCRIBE_H5_NAMELESS (1ull << 32)

#define SCRIBE_H5_CHUNKED 2
/* Datasets of one call, in steps of 16; the rest counts as dropped. */
#define SCRIBE_H5_SOME     16
#define SCRIBE_H5_MANY     (SCRIBE_H5_SOME * SCRIBE_H5_SOME)
#define SCRIBE_H5_RAW_DATA 3 /* H5FD_MEM_DRAW */

/* Fastest dimension first; 0: not chunked. */
static __always_inline void scribe_h5_chunk(const struct scribe_library_offsets *im, __u64 shared, __u64 *to)
{
	__u32 n, size;

	if (im->h5d_chunk_at && scribe_user_u32(shared + im->h5d_layout_at) != SCRIBE_H5_CHUNKED)
		return;
	/* the last dimension is the element size */
	n = im->h5d_chunk_at ? scribe_user_u32(shared + im->h5d_chunk_at) - 1 : 0;
	for (__u32 i = 0; i < 5; i++) {
		size = i < n ? scribe_user_u32(shared + im->h5d_chunk_at + 4 + 4 * (n - 1 - i)) : 0;
		to[i] = im->h5d_chunk_at ? size : ~0ull;
	}
}

/* Handle of an H5F_t; 0: record unknown or gone. */
static __always_inline struct scribe_handle *scribe_h5_made(struct scribe_proc *p, __u64 file)
{
	struct scribe_handle *h = scribe_handle_get(p, SCRIBE_HANDLE_H5_MADE, file);
	struct scribe_slot *s;

	if (!h || h->slot == SCRIBE_SKIP_SLOT)
		return h;
	s = scribe_slot_at(h->slot);
	return s && s->generation == h->generation && *(volatile __u32 *)&s->state == SCRIBE_SLOT_LIVE ? h : 0;
}

SCRIBE_GLOBAL int scribe_h5_describe(const struct scribe_library_offsets *im, __u64 set, __u32 slot)
{
	struct scribe_slot *s = scribe_lib_slot_at(slot);
	__u64 shared, space;

	if (!im || !s)
		return 0;
	shared = scribe_user_u64(set + im->h5d_shared_at);
	space = scribe_user_u64(shared + im->h5d_space_at);
	s->ext.v[SCRIBE_LIB_H5D_NDIMS] = scribe_user_u32(space + im->h5s_rank_at);
	s->ext.v[SCRIBE_LIB_H5D_NPOINTS] = scribe_user_u64(space + im->h5s_nelem_at);
	s->ext.v[SCRIBE_LIB_H5D_TYPE_SIZE] = scribe_user_u64(
		scribe_user_u64(scribe_user_u64(shared + im->h5d_type_at) + im->h5t_shared_at) + im->h5t_size_at);
	scribe_h5_chunk(im, shared, &s->ext.v[SCRIBE_LIB_H5D_CHUNK_D1]);
	return 0;
}

/*
 * The dataset's record, named by its path below its file's record; for files that the library opened itself
 * "file:/path". Uses `own` and `later` of calls->name.
 */
static __always_inline __u32 scribe_h5_set_slot(struct scribe_thread *t, struct scribe_proc *p,
						const struct scribe_library_offsets *im, struct scribe_calls *calls,
						__u64 set)
{
	struct scribe_handle *file = scribe_h5_made(p, scribe_user_u64(set));
	__u32 index;

	calls->name.string = scribe_user_u64(scribe_user_u64(set));
	calls->name.suffix = scribe_user_u64(scribe_user_u64(set + im->h5d_path_at));
	if (!calls->name.string)
		return SCRIBE_NO_SLOT;
	if (file && file->slot == SCRIBE_SKIP_SLOT)
		return SCRIBE_SKIP_SLOT;
	index = file ? scribe_lib_below(t, p, file->slot, calls) : scribe_lib_slot(t, p, calls);
	scribe_h5_describe(im, set, index);
	return index;
}

static __always_inline bool scribe_h5_complete(const struct scribe_handle *h)
{
	return h->slot == SCRIBE_SKIP_SLOT || (h->slot != SCRIBE_NO_SLOT && !(h->note & SCRIBE_H5_NAMELESS));
}

/*
 * Gives a dataset's handle its record. A new one is nameless: record and open count at its first use. Used
 * before it is linked (H5Dcreate_anon), its name follows later, "file:" at close at the latest.
 */
SCRIBE_GLOBAL int scribe_h5_set(struct scribe_thread *t, struct scribe_proc *p, const struct scribe_library_offsets *im,
				__u64 set, __u32 closing)
{
	struct scribe_calls *calls = scribe_calls_get();
	struct scribe_handle *h;
	bool named, first;
	struct scribe_slot *s;
	__u32 index;

	if (!t || !p || !im || !calls)
		return 0;
	h = scribe_handle_get(p, SCRIBE_HANDLE_H5_SET, set);
	if (!h || scribe_h5_complete(h))
		return 0;
	first = h->slot == SCRIBE_NO_SLOT;
	named = scribe_user_u64(scribe_user_u64(set + im->h5d_path_at)) != 0;
	if (!first && !named && !closing)
		return 0;
	if (first && !named) {
		h->moved[0] = (set ^ h->opened_ns) | 1;
		h->note |= SCRIBE_H5_NAMELESS;
	}
	scribe_name_begin(&calls->name, SCRIBE_KIND_H5D, 0, 1);
	calls->name.own = h->moved[0];
	calls->name.later = !named && !closing;
	index = scribe_h5_set_slot(t, p, im, calls, set);
	s = scribe_lib_slot_at(index);
	if (s && s->flags & SCRIBE_SF_NAME_SENT)
		h->note &= ~SCRIBE_H5_NAMELESS;
	if (!first)
		return 0;
	h->slot = s || index == SCRIBE_SKIP_SLOT ? index : SCRIBE_NO_SLOT;
	if (!s)
		return 0;
	scribe_op_begin(&calls->past, h->opened_ns, h->opened_ns + h->generation);
	calls->past.what = SCRIBE_LIB_OPEN;
	calls->past.count_at = SCRIBE_H5D_OPENS;
	h->generation = s->generation;
	if ((h->note & ~SCRIBE_H5_NAMELESS) == SCRIBE_FN_H5_DEPRECATED)
		__sync_fetch_and_or(&s->ext.v[SCRIBE_LIB_H5D_DEPRECATED], 1);
	scribe_lib_on(t, p, h, &calls->past);
	return 0;
}

static __always_inline void scribe_h5_set_opened(struct scribe_thread *t, struct scribe_proc *p,
						 const struct scribe_library_offsets *im, struct scribe_calls *calls,
						 __u64 set)
{
	struct scribe_handle *h = &calls->fresh;
	__u64 ns = calls->op.end_ns - calls->op.start_ns;

	__builtin_memset(h, 0, sizeof(*h));
	h->slot = SCRIBE_NO_SLOT;
	h->generation = ns > 0xffffffffull ? 0xffffffffu : ns;
	h->opened_ns = calls->op.start_ns;
	h->note = calls->layer[SCRIBE_LAYER_HDF5].around;
	scribe_handle_put(p, SCRIBE_HANDLE_H5_SET, set, h);
	if (scribe_user_u64(scribe_user_u64(set + im->h5d_path_at)))
		scribe_h5_set(t, p, im, set, false);
}

/* False: the file is not recorded. */
SCRIBE_GLOBAL int scribe_h5_file_opened(struct scribe_thread *t, struct scribe_proc *p,
					const struct scribe_library_offsets *im, __u64 hid)
{
	struct scribe_calls *calls = scribe_calls_get();
	struct scribe_call *c;
	struct scribe_slot *s;
	__u32 index;

	if (!t || !p || !im || !calls)
		return 0;
	c = &calls->layer[SCRIBE_LAYER_HDF5];
	scribe_name_begin(&calls->name, SCRIBE_KIND_H5F, c->arg[0], 1);
	index = scribe_lib_slot(t, p, calls);
	s = scribe_lib_slot_at(index);
	__builtin_memset(&calls->fresh, 0, sizeof(calls->fresh));
	calls->fresh.generation = s ? s->generation : 0;
	calls->fresh.slot = s ? index : SCRIBE_SKIP_SLOT;
	scribe_handle_put(p, SCRIBE_HANDLE_H5_FILE, hid, &calls->fresh);
	if (c->inner > 0)
		scribe_handle_put(p, SCRIBE_HANDLE_H5_MADE, c->inner, &calls->fresh);
	if (!s)
		return 0;
	calls->op.what = SCRIBE_LIB_OPEN;
	calls->op.count_at = SCRIBE_H5F_OPENS;
	if (c->lower_layers & (1u << SCRIBE_LAYER_MPIIO) || im->h5_mpi_unseen)
		__sync_fetch_and_or(&s->ext.v[SCRIBE_H5F_USE_MPIIO], im->h5_mpi_unseen ? SCRIBE_LIB_FLAG_UNKNOWN : 1);
	scribe_lib_on(t, p, &calls->fresh, &calls->op);
	scribe_attribute_to_layer(t, c, index, SCRIBE_LIB_H5F_BELOW);
	return 0;
}

/* Of a regular hyperslab, as in Darshan: D5 is the first dimension; the last five of more. */
static __always_inline void scribe_h5_shape(const struct scribe_library_offsets *im, __u64 space,
					    struct scribe_calls *calls)
{
	__u32 n = scribe_user_u32(space + im->h5s_rank_at),
	      first = n > SCRIBE_ACCESS_PATTERN_DIMS ? n - SCRIBE_ACCESS_PATTERN_DIMS : 0;
	__u64 at = scribe_user_u64(space + im->h5s_hslab_at) + 8;
	/* start, stride, count, block */
	__u64 *d = calls->number;

	for (__u32 i = 0; i < SCRIBE_ACCESS_PATTERN_DIMS && first + i < n; i++) {
		if (bpf_probe_read_user(d, 4 * sizeof(*d), (void *)(at + (first + i) * 4 * sizeof(*d))))
			return;
		calls->pattern.length[SCRIBE_ACCESS_PATTERN_DIMS - 1 - i] = d[2] * d[3];
		calls->pattern.stride[SCRIBE_ACCESS_PATTERN_DIMS - 1 - i] = d[1];
	}
}

static __always_inline __u64 scribe_h5_selected(struct scribe_calls *calls, const struct scribe_library_offsets *im,
						__u64 space)
{
	__u32 kind = scribe_user_u32(scribe_user_u64(space + im->h5s_select_at));

	if (kind == 1) {
		calls->op.also_at = SCRIBE_H5D_POINT_SELECTS;
	} else if (kind == 2) {
		/* 2: regular; 1: not examined yet, mostly irregular */
		__u32 regular = scribe_user_u32(scribe_user_u64(space + im->h5s_hslab_at));

		calls->op.also_at =
			regular == 2 ? SCRIBE_H5D_REGULAR_HYPERSLAB_SELECTS : SCRIBE_H5D_IRREGULAR_HYPERSLAB_SELECTS;
		if (regular == 2)
			scribe_h5_shape(im, space, calls);
	}
	return scribe_user_u64(space + im->h5s_npoints_at);
}

SCRIBE_GLOBAL int scribe_h5_data(struct scribe_proc *p, const struct scribe_library_offsets *im, __u32 slot)
{
	struct scribe_calls *calls = scribe_calls_get();
	struct scribe_slot *s = scribe_slot_at(slot);
	struct scribe_lib_op *op;
	struct scribe_call *c;
	__u64 space;

	if (!p || !im || !s || !calls)
		return 0;
	op = &calls->op;
	c = &calls->layer[SCRIBE_LAYER_HDF5];
	space = c->arg[1];
	op->also_at = 0;
	__builtin_memset(&calls->pattern, 0, sizeof(calls->pattern));
	if (c->fn == SCRIBE_FN_H5_SET_CHUNK) {
		__s64 bytes = op->op_class == SCRIBE_OP_WRITE ? (__s64)(__u32)c->arg[1] : c->inner;

		op->bytes = bytes < 0 ? 0 : bytes;
		op->unsized = bytes < 0;
	} else {
		if (space) {
			op->bytes = scribe_h5_selected(calls, im, space);
		} else {
			/* all of it, at its current size */
			space = scribe_user_u64(scribe_user_u64(c->arg[0] + im->h5d_shared_at) + im->h5d_space_at);
			op->bytes = scribe_user_u64(space + im->h5s_nelem_at);
		}
		op->bytes *= s->ext.v[SCRIBE_LIB_H5D_TYPE_SIZE];
		if (c->lower_layers & (1u << SCRIBE_BENEATH_COLLECTIVE) || im->h5_mpi_unseen)
			__sync_fetch_and_or(&s->ext.v[SCRIBE_LIB_H5D_COLLECTIVE],
					    im->h5_mpi_unseen ? SCRIBE_LIB_FLAG_UNKNOWN : 1);
	}
	calls->pattern.bytes = op->bytes;
	op->pattern_key = scribe_access_pattern_keep(p);
	return 0;
}

/* For a dataset in argument 0 that has its record. */
SCRIBE_GLOBAL int scribe_h5_on_set(struct scribe_thread *t, struct scribe_proc *p,
				   const struct scribe_library_offsets *im, const struct scribe_point *point)
{
	struct scribe_calls *calls = scribe_calls_get();
	struct scribe_handle *h;
	struct scribe_call *c;

	if (!t || !p || !im || !point || !calls)
		return 0;
	c = &calls->layer[SCRIBE_LAYER_HDF5];
	h = scribe_handle_get(p, SCRIBE_HANDLE_H5_SET, c->arg[0]);
	if (!h) {
		scribe_count(p, SCRIBE_L_LIB_UNKNOWN);
		return 0;
	}
	if (h->slot == SCRIBE_SKIP_SLOT || h->slot == SCRIBE_NO_SLOT)
		return 0;
	if (point->fn == SCRIBE_FN_H5_SET_DATA || point->fn == SCRIBE_FN_H5_SET_CHUNK) {
		calls->op.what = SCRIBE_LIB_DATA;
		calls->op.op_class = point->op & 1;
		calls->op.count_at = point->op & 1 ? SCRIBE_H5D_WRITES : SCRIBE_H5D_READS;
		scribe_h5_data(p, im, h->slot);
	} else {
		calls->op.op_class = SCRIBE_OP_WRITE;
		calls->op.count_at = SCRIBE_H5D_FLUSHES;
	}
	scribe_lib_on(t, p, h, &calls->op);
	scribe_attribute_to_layer(t, c, h->slot, SCRIBE_LIB_H5D_BELOW);
	return 0;
}

/* 1.14: datasets of one call; what moved beneath goes to the first. */
SCRIBE_GLOBAL int scribe_h5_on_some(struct scribe_thread *t, struct scribe_proc *p, const struct scribe_point *point,
				    __u64 at, __u64 n)
{
	struct scribe_calls *calls = scribe_calls_get();
	struct scribe_library_offsets *im = point ? scribe_library_offsets_at(point->image) : 0;
	struct scribe_call *c;

	if (!t || !p || !im || !calls)
		return 0;
	c = &calls->layer[SCRIBE_LAYER_HDF5];
	for (__u32 i = 0; i < SCRIBE_H5_SOME && i < n; i++) {
		c->arg[0] = scribe_user_u64(at);
		c->arg[1] = scribe_user_u64(at + im->h5d_many_space_at);
		scribe_h5_set(t, p, im, c->arg[0], false);
		scribe_h5_on_set(t, p, im, point);
		c->moved_ns = t->moved_ns;
		at += im->h5d_many_bytes;
	}
	return 0;
}

static __always_inline void scribe_h5_on_sets(struct scribe_thread *t, struct scribe_proc *p,
					      const struct scribe_call *c, const struct scribe_library_offsets *im,
					      const struct scribe_point *point)
{
	__u64 n = c->arg[0], at = c->arg[2];

	for (__u32 i = 0; i < SCRIBE_H5_SOME && i * SCRIBE_H5_SOME < n; i++)
		scribe_h5_on_some(t, p, point, at + (__u64)i * SCRIBE_H5_SOME * im->h5d_many_bytes,
				  n - i * SCRIBE_H5_SOME);
	if (n > SCRIBE_H5_MANY)
		scribe_count(p, SCRIBE_L_LIB_DROPPED);
}

/* A dataset closed with its file: the time is the file's. */
SCRIBE_GLOBAL int scribe_h5_set_closed(struct scribe_thread *t, struct scribe_proc *p, __u64 set)
{
	struct scribe_calls *calls = scribe_calls_get();
	struct scribe_handle *h;
	__u64 now;

	if (!t || !p || !calls)
		return 0;
	h = scribe_handle_get(p, SCRIBE_HANDLE_H5_SET, set);
	if (!h)
		return 0;
	now = bpf_ktime_get_ns();
	scribe_op_begin(&calls->op, now, now);
	calls->op.what = SCRIBE_LIB_CLOSE;
	if (h->slot != SCRIBE_SKIP_SLOT && h->slot != SCRIBE_NO_SLOT)
		scribe_lib_on(t, p, h, &calls->op);
	scribe_handle_drop(p, SCRIBE_HANDLE_H5_SET, set);
	return 0;
}

SCRIBE_GLOBAL int scribe_h5_on_file(struct scribe_thread *t, struct scribe_proc *p, __u32 fn, __s32 ret)
{
	__u32 table = fn == SCRIBE_FN_H5_SET_CLOSE ? SCRIBE_HANDLE_H5_SET : SCRIBE_HANDLE_H5_FILE;
	struct scribe_calls *calls = scribe_calls_get();
	struct scribe_handle *h;
	struct scribe_call *c;

	if (!t || !p || !calls)
		return 0;
	c = &calls->layer[SCRIBE_LAYER_HDF5];
	h = scribe_handle_get(p, table, c->arg[0]);
	if (!h && fn == SCRIBE_FN_H5_FILE_FLUSH && c->inner > 0)
		h = scribe_h5_made(p, c->inner); /* flushed by the id of an object in the file */
	/* H5Idec_ref returns the references left */
	if (!h || ret < 0 || (fn == SCRIBE_FN_H5_FILE_CLOSE && ret > 0))
		return 0;
	if (fn == SCRIBE_FN_H5_FILE_FLUSH)
		calls->op.count_at = SCRIBE_H5F_FLUSHES;
	else
		calls->op.what = SCRIBE_LIB_CLOSE;
	if (h->slot != SCRIBE_SKIP_SLOT && h->slot) {
		scribe_lib_on(t, p, h, &calls->op);
		scribe_attribute_to_layer(t, c, h->slot,
					  table == SCRIBE_HANDLE_H5_SET ? SCRIBE_LIB_H5D_BELOW : SCRIBE_LIB_H5F_BELOW);
	}
	if (fn != SCRIBE_FN_H5_FILE_FLUSH)
		scribe_handle_drop(p, table, c->arg[0]);
	return 0;
}

static __always_inline int scribe_h5_end(struct scribe_calls *calls, __u64 ret)
{
	struct scribe_call *c = &calls->layer[SCRIBE_LAYER_HDF5];
	struct scribe_point *point = scribe_point_at(c->at);
	struct scribe_proc *p = 0;
	struct scribe_thread *t = scribe_caller(&p);
	struct scribe_library_offsets *im = point ? scribe_library_offsets_at(point->image) : 0;

	if (!t || !p || !point || !im)
		return 0;
	scribe_op_begin(&calls->op, c->start_ns, bpf_ktime_get_ns());
	switch (point->fn) {
	case SCRIBE_FN_H5_FILE_OPEN:
		if ((__s64)ret >= 0)
			scribe_h5_file_opened(t, p, im, ret);
		return 0;
	case SCRIBE_FN_H5_SET_OPEN:
		if (ret)
			scribe_h5_set_opened(t, p, im, calls, ret);
		return 0;
	case SCRIBE_FN_H5_SET_DATA:
	case SCRIBE_FN_H5_SET_CHUNK:
	case SCRIBE_FN_H5_SET_FLUSH:
		if ((__s32)ret < 0)
			return 0;
		if (point->fn == SCRIBE_FN_H5_SET_DATA && im->h5d_many_bytes) {
			scribe_h5_on_sets(t, p, c, im, point);
			return 0;
		}
		scribe_h5_set(t, p, im, c->arg[0], false);
		return scribe_h5_on_set(t, p, im, point);
	}
	return scribe_h5_on_file(t, p, point->fn, (__s32)ret);
}

/* Closes of other objects are not ours; calls nested in them count. */
static __always_inline bool scribe_h5_ours(struct scribe_proc *p, struct scribe_calls *calls,
					   const struct scribe_point *point)
{
	return point->fn != SCRIBE_FN_H5_FILE_CLOSE ||
	       scribe_handle_get(p, SCRIBE_HANDLE_H5_FILE, calls->regs.r[point->reg[0] & 15]);
}

#endif
