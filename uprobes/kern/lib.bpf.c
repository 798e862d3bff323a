// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
/*
 * The library programs, one per layer, loaded with the layer's first library. They share maps with
 * bpf/kern/posix.bpf.c and with each other, because layers nest. Run by the task at the probed instruction; a
 * call's state is in task storage. Kernel memory by probe reads.
 */
#define SCRIBE_PROBE_READ
#include "logfmt/counters/built.h"
#include "uprobes/kern/cufile.bpf.h"
#include "uprobes/kern/hdf5.bpf.h"
#include "uprobes/kern/mpiio.bpf.h"
#include "uprobes/kern/pnetcdf.bpf.h"
#include "uprobes/kern/stdio.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

static __always_inline bool scribe_inner_meant(const struct scribe_point *point, const struct scribe_call *c)
{
	switch (point->fn) {
	/* Another function of the library may call it, too: only these results are expected. */
	case SCRIBE_FN_MPI_COMM_SIZE:
		return c->fn == SCRIBE_FN_MPI_OPEN;
	case SCRIBE_FN_MPI_TYPE_SIZE:
		return c->fn == SCRIBE_FN_MPI_DATA;
	case SCRIBE_FN_H5_FILE_MADE:
		return c->fn == SCRIBE_FN_H5_FILE_OPEN;
	case SCRIBE_FN_H5_FILE_MEANT:
		return c->fn == SCRIBE_FN_H5_FILE_FLUSH;
	case SCRIBE_FN_H5_BLOCK_READ:
		return c->fn == SCRIBE_FN_H5_SET_CHUNK;
	case SCRIBE_FN_NC_POST:
		return c->fn == SCRIBE_FN_NC_MANY;
	}
	return true;
}

static __always_inline void scribe_inner_begin(struct scribe_calls *calls, struct scribe_call *c,
					       const struct scribe_point *point)
{
	const struct scribe_regs *regs = &calls->regs;

	/* A call is nested if its stack pointer is lower. One nested call is followed at a time. */
	if (!c->busy || c->inner >= 0 || c->inner_fn || regs->r[SCRIBE_REG_SP] >= c->sp ||
	    !scribe_inner_meant(point, c))
		return;
	if (point->fn == SCRIBE_FN_H5_FILE_MEANT) {
		c->inner = regs->r[point->reg[0] & 15];
		/* The argument itself is the result: no return is needed. */
		return;
	}
	if (point->fn == SCRIBE_FN_H5_BLOCK_READ) {
		/* Reads of metadata have other kinds of memory. */
		if (regs->r[point->reg[0] & 15] == SCRIBE_H5_RAW_DATA)
			c->inner = regs->r[point->reg[1] & 15];
		return;
	}
	if (point->fn == SCRIBE_FN_NC_POST) {
		calls->post[0] = scribe_user_u32(regs->r[point->reg[0] & 15]);
		calls->post[1] = regs->r[point->reg[1] & 15];
		calls->post[2] = regs->r[point->reg[2] & 15];
		calls->post_ns = bpf_ktime_get_ns();
	}
	c->inner_fn = point->fn;
	c->inner_sp = regs->r[SCRIBE_REG_SP];
	c->inner_at = regs->r[point->reg[1] & 15];
}

static __always_inline bool scribe_inner_end(struct scribe_call *c, __u64 sp, __u64 ret)
{
	if (!c->busy || !c->inner_fn || sp != c->inner_sp + 8)
		return false;
	/* Results are in memory of the caller, valid only after success. */
	if (c->inner_fn == SCRIBE_FN_H5_FILE_MADE)
		c->inner = ret;
	else if ((__s32)ret == 0 && c->inner_fn != SCRIBE_FN_NC_POST)
		c->inner = c->inner_fn == SCRIBE_FN_MPI_COMM_SIZE ? (__s64)(__s32)scribe_user_u32(c->inner_at)
								  : (__s64)scribe_user_u64(c->inner_at);
	c->inner_fn = 0;
	return true;
}

static __always_inline void scribe_mark_above(struct scribe_calls *calls, bool collective)
{
	struct scribe_call *upper = &calls->layer[SCRIBE_LAYER_HDF5];

	/* The flags show HDF5 that it used MPI-IO, and whether collectively. */
	if (!upper->busy)
		return;
	upper->lower_layers |= 1u << SCRIBE_LAYER_MPIIO;
	if (collective)
		upper->lower_layers |= 1u << SCRIBE_BENEATH_COLLECTIVE;
}

/* True: only a message of our library or a nested call. */
static __always_inline bool scribe_announced(struct scribe_thread *t, struct scribe_proc *p, struct scribe_calls *calls,
					     const struct scribe_point *point, const __u32 layer)
{
	if (point->flags & SCRIBE_POINT_INNER) {
		scribe_inner_begin(calls, &calls->layer[layer], point);
		return true;
	}
	if (layer == SCRIBE_LAYER_MPIIO && point->fn == SCRIBE_FN_MPI_INSIDE) {
		scribe_mpi_inside(t, p, calls, point);
		/* Without a file and a word: the program is about to make a collective call. */
		if (!calls->regs.r[point->reg[0] & 15] && !calls->regs.r[point->reg[4] & 15])
			scribe_mark_above(calls, true);
		return true;
	}
	if (layer == SCRIBE_LAYER_HDF5 && point->flags & SCRIBE_POINT_AROUND) {
		calls->around = point->fn;
		calls->around_sp = calls->regs.r[SCRIBE_REG_SP];
		return true;
	}
	return false;
}

static __always_inline void scribe_call_begin(struct scribe_thread *t, struct scribe_calls *calls,
					      struct scribe_call *c, const struct scribe_point *point, __u64 ip)
{
	c->busy = 1;
	c->fn = point->fn;
	c->sp = calls->regs.r[SCRIBE_REG_SP];
	c->base = ip - point->vaddr;
	c->inner = -1;
	c->inner_fn = 0;
	c->lower_layers = 0;
	t->watched = 1;
	/*
	 * The fast path of system calls does not sum up moved[], so the thread takes the slow one from now on.
	 */
	c->moved[0] = t->moved[0];
	c->moved[1] = t->moved[1];
	c->moved_ns = t->moved_ns;
	c->around = calls->around && c->sp < calls->around_sp ? calls->around : 0;
	/* Only an enclosing function that is still active counts. */
	for (int i = 0; i < SCRIBE_POINT_ARGS; i++) {
		__u32 reg = point->reg[i];

		/* Copied, because registers change before the return. */
		c->arg[i] = reg == SCRIBE_REG_NONE ? 0 : calls->regs.r[reg & 15];
		if (point->deref & (1 << i))
			c->arg[i] = scribe_user_u64(c->arg[i]);
	}
}

static __always_inline void scribe_layer_begin(struct scribe_thread *t, struct scribe_proc *p,
					       struct scribe_calls *calls, const struct scribe_point *point,
					       const struct scribe_library_offsets *im, const __u32 layer)
{
	struct scribe_call *c = &calls->layer[layer];

	if (layer == SCRIBE_LAYER_STDIO)
		scribe_stdio_begin(t, c, point, im);
	else if (layer == SCRIBE_LAYER_MPIIO)
		scribe_mark_above(calls, point->count_at == SCRIBE_MPIIO_COLL_READS ||
						 point->count_at == SCRIBE_MPIIO_COLL_WRITES);
	else if (layer == SCRIBE_LAYER_PNETCDF)
		scribe_nc_begin(p, c, im);
	else if (layer == SCRIBE_LAYER_HDF5 && point->fn == SCRIBE_FN_H5_SET_CLOSE)
		scribe_h5_set(t, p, im, c->arg[0], true); /* its structure is gone at return */
	else if (layer == SCRIBE_LAYER_CUFILE && point->fn == SCRIBE_FN_CUFILE_DROP)
		scribe_handle_drop(p, layer, c->arg[0]); /* another thread may get the same handle before the return */
}

static __always_inline __attribute__((unused)) int scribe_lib_in(struct pt_regs *ctx, __u64 cookie, const __u32 layer)
{
	__u32 index = scribe_point_of(cookie, SCRIBE_REGS_IP(ctx));
	struct scribe_point *point = scribe_point_at(index);
	struct scribe_proc *p = 0;
	struct scribe_thread *t = scribe_caller(&p);
	struct scribe_calls *calls;
	struct scribe_library_offsets *im;
	struct scribe_call *c;

	if (!point || !t || !p)
		return 0;
	/* only output of the C library itself */
	if (layer == SCRIBE_LAYER_STDIO && p->flags & SCRIBE_PF_STREAMS && point->fn != SCRIBE_FN_STREAM_MESSAGE)
		return 0;
	calls = bpf_task_storage_get(&scribe_calls, bpf_get_current_task_btf(), 0,
				     /* Created here: most threads never call a probed library. */
				     BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!calls)
		return 0;
	scribe_regs_copy(ctx, &calls->regs);
	if (scribe_announced(t, p, calls, point, layer))
		return 0;
	im = scribe_library_offsets_at(point->image);
	if (!im)
		return 0;
	c = &calls->layer[layer];
	if (c->busy && ctx->sp < c->sp) {
		/* nested in a call of the same layer, which counts */
		if (layer == SCRIBE_LAYER_HDF5 && point->fn == SCRIBE_FN_H5_SET_CLOSE &&
		    c->fn == SCRIBE_FN_H5_FILE_CLOSE) {
			__u64 set = calls->regs.r[point->reg[0] & 15];

			scribe_h5_set(t, p, im, set, true);
			/* H5Fclose closes open datasets: their records end here. */
			scribe_h5_set_closed(t, p, set);
		}
		return 0;
	}
	if (layer == SCRIBE_LAYER_HDF5 && !scribe_h5_ours(p, calls, point))
		return 0;
	c->at = index;
	scribe_call_begin(t, calls, c, point, SCRIBE_REGS_IP(ctx));
	scribe_layer_begin(t, p, calls, point, im, layer);
	c->start_ns = bpf_ktime_get_ns();
	/* Last, so that the probe's own work is not counted. */
	return 0;
}

static __always_inline __attribute__((unused)) int scribe_lib_out(struct pt_regs *ctx, const __u32 layer)
{
	struct scribe_calls *calls = scribe_calls_get();
	__u64 ret = SCRIBE_REGS_RET(ctx), sp = ctx->sp;
	struct scribe_call *c;

	if (!calls)
		return 0;
	c = &calls->layer[layer];
	if (layer == SCRIBE_LAYER_HDF5 && scribe_outer_call_end(sp, calls))
		return 0;
	/* The enclosing function itself is not a call of its layer. */
	if (layer != SCRIBE_LAYER_STDIO && scribe_inner_end(c, sp, ret))
		return layer == SCRIBE_LAYER_PNETCDF && (__s32)ret == 0 ? scribe_nc_posted(calls) : 0;
	/* Without a matching entry, as after attaching in the middle of a call, it is ignored. */
	if (!scribe_returning(sp, c))
		return 0;
	switch (layer) {
	case SCRIBE_LAYER_STDIO:
		return scribe_stdio_end(calls, ret);
	case SCRIBE_LAYER_MPIIO:
		return scribe_mpi_end(calls, ret);
	case SCRIBE_LAYER_HDF5:
		return scribe_h5_end(calls, ret);
	case SCRIBE_LAYER_PNETCDF:
		return scribe_nc_end(calls, ret);
	case SCRIBE_LAYER_CUFILE:
		return scribe_cufile_end(calls, ret);
	}
	return 0;
}

/*
 * Since Linux 6.13 (e00931c02568) such programs share a stack per CPU. With kernel preemption uprobe
 * programs interrupt each other and destroy it. The kernel gives programs with a tail call no such stack, so each
 * has one that is never made.
 */
const volatile __u32 scribe_never;
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} scribe_nowhere SEC(".maps");

/* Separate functions, so that entry and return share stack space. */
#define SCRIBE_LIB(name, layer) \
	static __noinline int name##_in(struct pt_regs *ctx, __u64 cookie) \
	{ \
		return scribe_lib_in(ctx, cookie, layer); \
	} \
	static __noinline int name##_out(struct pt_regs *ctx) \
	{ \
		return scribe_lib_out(ctx, layer); \
	} \
	SEC("uprobe") \
	int name(struct pt_regs *ctx) \
	{ \
		__u64 cookie = bpf_get_attach_cookie(ctx); \
\
		if (scribe_never) \
			bpf_tail_call(ctx, &scribe_nowhere, 0); \
		return cookie & SCRIBE_COOKIE_RETURN ? name##_out(ctx) : name##_in(ctx, cookie); \
	}

/* A layer that is not built has no program. */
#if IOSCRIBE_MODULE_STDIO
SCRIBE_LIB(scribe_lib_stdio, SCRIBE_LAYER_STDIO)
#endif
#if IOSCRIBE_MODULE_MPIIO
SCRIBE_LIB(scribe_lib_mpiio, SCRIBE_LAYER_MPIIO)
#endif
#if IOSCRIBE_MODULE_HDF5
SCRIBE_LIB(scribe_lib_hdf5, SCRIBE_LAYER_HDF5)
#endif
#if IOSCRIBE_MODULE_PNETCDF
SCRIBE_LIB(scribe_lib_pnetcdf, SCRIBE_LAYER_PNETCDF)
#endif
#if IOSCRIBE_MODULE_CUFILE
SCRIBE_LIB(scribe_lib_cufile, SCRIBE_LAYER_CUFILE)
#endif
