/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI-IO. Size: count times the datatype's size, from the handle (MPICH's builtin types), its structure (Open
 * MPI), or ROMIO's nested MPI_Type_size_x (other MPICH types). If the program counts
 * (runtime/client/wrap/mpiio_files.c), our own library's functions are probed, with sizes as arguments.
 */
#ifndef UPROBES_KERN_MPIIO_BPF_H
#define UPROBES_KERN_MPIIO_BPF_H

#include "uprobes/kern/named.bpf.h"

#define SCRIBE_MPICH_INFO_NULL 0x1c000000u
#define SCRIBE_MPICH_COMM_SELF 0x44000001u
#define SCRIBE_MPICH_BUILTIN   0x4c000000u
#define SCRIBE_MPI_SEQUENTIAL  256u /* amode */

/* For other libraries' functions; negative: not known. */
static __always_inline __s64 scribe_mpi_size_of(const struct scribe_library_offsets *im, __u64 datatype)
{
	struct scribe_library_offsets *mpi;

	if (im->flavour == SCRIBE_FLAVOUR_MPICH && ((__u32)datatype & 0xff000000u) == SCRIBE_MPICH_BUILTIN)
		return ((__u32)datatype >> 8) & 0xff;
	mpi = im->flavour == SCRIBE_FLAVOUR_OPENMPI ? scribe_library_offsets_at(SCRIBE_LIBRARY_OFFSETS_OPENMPI) : 0;
	return mpi && mpi->type_size_at ? (__s64)scribe_user_u64(datatype + mpi->type_size_at) : -1;
}

/* Negative: not known. */
static __always_inline __s64 scribe_mpi_type_size(const struct scribe_library_offsets *im, const struct scribe_call *c,
						  __u64 datatype)
{
	if (im->flavour == SCRIBE_FLAVOUR_MPICH) {
		__u32 h = datatype;

		if ((h & 0xff000000u) == SCRIBE_MPICH_BUILTIN)
			return (h >> 8) & 0xff;
		return c->inner;
	}
	if (im->flavour == SCRIBE_FLAVOUR_OPENMPI && im->type_size_at)
		return scribe_user_u64(datatype + im->type_size_at);
	return -1;
}

static __always_inline bool scribe_mpi_has_info(const struct scribe_library_offsets *im, const struct scribe_call *c,
						__u64 info)
{
	if (im->flavour == SCRIBE_FLAVOUR_INSIDE)
		return info & 1;
	if (im->flavour == SCRIBE_FLAVOUR_MPICH)
		return (__u32)info != SCRIBE_MPICH_INFO_NULL;
	return im->info_null_at && info != scribe_user_u64(c->base + im->info_null_at);
}

/* 0: not known. */
static __always_inline __s64 scribe_mpi_comm_size(const struct scribe_library_offsets *im, const struct scribe_call *c,
						  __u64 comm)
{
	if (im->flavour == SCRIBE_FLAVOUR_INSIDE)
		return scribe_user_u32(comm);
	if (im->flavour == SCRIBE_FLAVOUR_MPICH) {
		if ((__u32)comm == SCRIBE_MPICH_COMM_SELF)
			return 1;
		return c->inner > 0 ? c->inner : 0;
	}
	if (im->group_at && im->group_size_at)
		return scribe_user_u32(scribe_user_u64(comm + im->group_at) + im->group_size_at);
	return 0;
}

SCRIBE_GLOBAL int scribe_mpi_open(struct scribe_thread *t, struct scribe_proc *p,
				  const struct scribe_library_offsets *im)
{
	struct scribe_calls *calls = scribe_calls_get();
	struct scribe_handle *h;
	struct scribe_call *c;
	struct scribe_slot *s;
	__u32 index;

	if (!t || !p || !im || !calls)
		return 0;
	c = &calls->layer[SCRIBE_LAYER_MPIIO];
	h = &calls->fresh;
	scribe_name_begin(&calls->name, SCRIBE_KIND_MPIIO, c->arg[1], 1);
	index = scribe_lib_slot(t, p, calls);
	s = scribe_lib_slot_at(index);
	__builtin_memset(h, 0, sizeof(*h));
	h->generation = s ? s->generation : 0;
	h->slot = s ? index : SCRIBE_SKIP_SLOT;
	h->moved[SCRIBE_VIEW_ELEMENT] = !(c->arg[2] & SCRIBE_MPI_SEQUENTIAL);
	if (im->flavour != SCRIBE_FLAVOUR_NONE)
		scribe_handle_put(p, SCRIBE_LAYER_MPIIO, scribe_user_u64(c->arg[4]), h);
	if (!s)
		return 0;
	if (c->arg[2])
		s->mode = c->arg[2];
	scribe_attribute_to_layer(t, c, index, SCRIBE_LIB_MPIIO_BELOW);
	calls->op.what = SCRIBE_LIB_OPEN;
	calls->op.count_at =
		scribe_mpi_comm_size(im, c, c->arg[0]) == 1 ? SCRIBE_MPIIO_INDEP_OPENS : SCRIBE_MPIIO_COLL_OPENS;
	scribe_lib_on(t, p, h, &calls->op);
	if (scribe_mpi_has_info(im, c, c->arg[3]))
		__sync_fetch_and_add(&s->ext.v[SCRIBE_MPIIO_HINTS], 1);
	return 0;
}

static __always_inline void scribe_mpi_outside(const struct scribe_proc *p, __u64 file)
{
	struct scribe_handle_key key = {.handle = file, .proc_id = p->proc_id};

	bpf_map_delete_elem(&scribe_above, &key);
}

/*
 * The program counts a file's data calls itself from now on, at an index of its memory; the thread's word holds
 * the file of its current call. Without both a collective call follows.
 */
static __always_inline void scribe_mpi_inside(struct scribe_thread *t, struct scribe_proc *p,
					      struct scribe_calls *calls, const struct scribe_point *point)
{
	struct scribe_handle_key key = {.handle = calls->regs.r[point->reg[0] & 15], .proc_id = p->proc_id};
	__u64 word = calls->regs.r[point->reg[4] & 15];
	struct scribe_event *ev = &calls->ev;
	struct scribe_above at = {};
	struct scribe_handle *h;
	struct scribe_slot *s;

	if (word) {
		t->wrapped_word = word;
		t->watched = 1;
	}
	if (!key.handle)
		return;
	h = scribe_handle_get(p, SCRIBE_LAYER_MPIIO, key.handle);
	if (!h) {
		scribe_count(p, SCRIBE_L_LIB_UNKNOWN);
		return;
	}
	if (h->slot == SCRIBE_SKIP_SLOT)
		return;
	s = scribe_slot_at(h->slot);
	if (!s || s->generation != h->generation || *(volatile __u32 *)&s->state != SCRIBE_SLOT_LIVE) {
		at.slot = scribe_lib_again(t, p, h->slot);
		s = at.slot ? scribe_slot_at(at.slot) : 0;
		if (!s) {
			scribe_count(p, SCRIBE_L_LIB_DROPPED);
			return;
		}
		h->slot = at.slot;
		h->generation = s->generation;
	}
	at.slot = h->slot;
	at.generation = h->generation;
	scribe_event_init(ev, SCRIBE_EV_STREAM, p, t->proc);
	ev->stream.slot = at.slot;
	ev->stream.generation = at.generation;
	ev->stream.memory = (__u32)calls->regs.r[point->reg[1] & 15];
	ev->stream.index = (__u32)calls->regs.r[point->reg[2] & 15];
	ev->stream.use = (__u32)calls->regs.r[point->reg[3] & 15];
	ev->stream.is_file = 1;
	if (bpf_ringbuf_output(&scribe_events, ev, sizeof(*ev), 0)) {
		/* otherwise the counts belong to nothing */
		scribe_count(p, SCRIBE_L_EVENT_LOST);
		scribe_count(p, SCRIBE_L_LIB_DROPPED);
		return;
	}
	h->note = 1; /* remove from `scribe_above` at close */
	if (bpf_map_update_elem(&scribe_above, &key, &at, BPF_ANY))
		scribe_count(p, SCRIBE_L_LIB_HANDLES_FULL);
}

static __always_inline void scribe_mpi_meaning(struct scribe_proc *p, struct scribe_calls *calls,
					       const struct scribe_point *point,
					       const struct scribe_library_offsets *im)
{
	struct scribe_call *c = &calls->layer[SCRIBE_LAYER_MPIIO];
	struct scribe_lib_op *op = &calls->op;

	op->count_at = point->count_at;
	if (point->fn == SCRIBE_FN_MPI_DATA) {
		__s64 size;

		op->what = SCRIBE_LIB_DATA;
		if (im->flavour == SCRIBE_FLAVOUR_INSIDE) {
			size = scribe_user_u64(c->arg[1]);
			op->op_class = c->arg[2] & 1;
			op->count_at = c->arg[2] >> 8 & 0xff;
			op->bytes = size < 0 ? 0 : size;
		} else {
			size = scribe_mpi_type_size(im, c, c->arg[2]);
			op->op_class = point->op & 1;
			/* large-count forms have 64 bits */
			op->bytes = size < 0 ? 0
					     : size * (point->flags & SCRIBE_POINT_WIDE ? (__s64)c->arg[1]
											: (__s64)(__s32)c->arg[1]);
		}
		op->unsized = size < 0;
		if (op->unsized)
			scribe_count(p, SCRIBE_L_LIB_SIZE_UNKNOWN);
	} else if (point->fn == SCRIBE_FN_MPI_CLOSE) {
		op->what = SCRIBE_LIB_CLOSE;
	} else if (point->fn == SCRIBE_FN_MPI_SYNC) {
		op->op_class = SCRIBE_OP_WRITE;
	}
}

/* Offsets in a view are known for one builtin type of MPICH, without gaps; others may contain gaps. */
static __always_inline void scribe_mpi_view(const struct scribe_library_offsets *im, const struct scribe_call *c,
					    struct scribe_handle *h)
{
	const __u8 representation = scribe_user_u64(c->arg[5]);
	const __u32 etype = c->arg[3];

	h->moved[SCRIBE_VIEW_BEGIN] = c->arg[2];
	h->moved[SCRIBE_VIEW_ELEMENT] = 0;
	/* "native" or "internal" */
	if (im->flavour == SCRIBE_FLAVOUR_MPICH && (etype & 0xff000000u) == SCRIBE_MPICH_BUILTIN &&
	    etype == (__u32)c->arg[4] && (representation == 'n' || representation == 'i'))
		h->moved[SCRIBE_VIEW_ELEMENT] = (etype >> 8) & 0xff;
}

static __always_inline void scribe_mpi_segment(struct scribe_thread *t, const struct scribe_call *c,
					       const struct scribe_point *point, const struct scribe_handle *h,
					       const struct scribe_lib_op *op)
{
	struct scribe_slot *s = scribe_slot_at(h->slot);

	if (!s || !(s->flags & SCRIBE_SF_TRACED))
		return;
	t->op.offset = -1;
	if (point->reg[3] != SCRIBE_REG_NONE && (__s64)c->arg[3] >= 0 && h->moved[SCRIBE_VIEW_ELEMENT])
		t->op.offset = h->moved[SCRIBE_VIEW_BEGIN] + c->arg[3] * h->moved[SCRIBE_VIEW_ELEMENT];
	t->op.bytes = op->bytes;
	t->op.start_ns = op->start_ns;
	t->op.end_ns = op->end_ns;
	t->op.op = op->op_class & 1;
	scribe_segment(t, h->slot, h->generation, &t->op);
}

static __always_inline int scribe_mpi_end(struct scribe_calls *calls, __u32 ret)
{
	struct scribe_call *c = &calls->layer[SCRIBE_LAYER_MPIIO];
	struct scribe_point *point = scribe_point_at(c->at);
	struct scribe_proc *p = 0;
	struct scribe_thread *t = scribe_caller(&p);
	struct scribe_library_offsets *im = point ? scribe_library_offsets_at(point->image) : 0;
	struct scribe_handle *h;

	if (!t || !p || !im || ret != 0)
		return 0;
	scribe_op_begin(&calls->op, c->start_ns, bpf_ktime_get_ns());
	if (point->fn == SCRIBE_FN_MPI_OPEN)
		return scribe_mpi_open(t, p, im);
	h = scribe_handle_get(p, SCRIBE_LAYER_MPIIO, c->arg[0]);
	if (!h) {
		scribe_count(p, SCRIBE_L_LIB_UNKNOWN);
		return 0;
	}
	if (h->slot != SCRIBE_SKIP_SLOT) {
		scribe_mpi_meaning(p, calls, point, im);
		scribe_lib_on(t, p, h, &calls->op);
		scribe_attribute_to_layer(t, c, h->slot, SCRIBE_LIB_MPIIO_BELOW);
		if (point->fn == SCRIBE_FN_MPI_DATA)
			scribe_mpi_segment(t, c, point, h, &calls->op);
		if (point->fn == SCRIBE_FN_MPI_VIEW)
			scribe_mpi_view(im, c, h);
		if (point->fn == SCRIBE_FN_MPI_VIEW && scribe_mpi_has_info(im, c, c->arg[1])) {
			struct scribe_slot *s = scribe_slot_at(h->slot);

			if (s)
				__sync_fetch_and_add(&s->ext.v[SCRIBE_MPIIO_HINTS], 1);
		}
	}
	if (point->fn == SCRIBE_FN_MPI_CLOSE) {
		if (h->note)
			scribe_mpi_outside(p, c->arg[0]);
		scribe_handle_drop(p, SCRIBE_LAYER_MPIIO, c->arg[0]);
	}
	return 0;
}

#endif
