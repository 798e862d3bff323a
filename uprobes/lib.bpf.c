// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
/*
 * The library program: one for entries and returns of all layers, because the
 * kernel checks what they have in common once a program, at some hundred
 * milliseconds. The order is filter, look up, update. It shares the maps of the
 * system call programs (bpf/posix.bpf.c) and is loaded beside them.
 */
#include "logfmt/built.h"
#include "uprobes/hdf5.bpf.h"
#include "uprobes/mpiio.bpf.h"
#include "uprobes/pnetcdf.bpf.h"
#include "uprobes/stdio.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Bits of the layers that are attached to: what the others would do is not even checked. */
const volatile __u32 scribe_layers;

/* Those that this build has: of the others nothing is compiled. */
#define SCRIBE_LAYERS_BUILT                                                                                  \
	(IOSCRIBE_MODULE_STDIO << SCRIBE_LAYER_STDIO | IOSCRIBE_MODULE_MPIIO << SCRIBE_LAYER_MPIIO |         \
	 IOSCRIBE_MODULE_HDF5 << SCRIBE_LAYER_HDF5 | IOSCRIBE_MODULE_PNETCDF << SCRIBE_LAYER_PNETCDF)

static __always_inline bool scribe_has(__u32 layer)
{
	return SCRIBE_LAYERS_BUILT & (1u << layer) && scribe_layers & (1u << layer);
}

/* A call that only tells the one around it something. */
static __always_inline void scribe_inner_begin(const struct scribe_regs *regs, const struct scribe_site *site)
{
	struct scribe_calls *calls = bpf_task_storage_get(&scribe_calls, bpf_get_current_task_btf(), 0, 0);
	struct scribe_call *c;

	if (!calls)
		return;
	c = scribe_layer_at(calls, site->layer);
	if (!c || !c->busy || c->inner >= 0 || c->inner_fn || regs->r[SCRIBE_REG_SP] >= c->sp)
		return;
	if (site->fn == SCRIBE_FN_MPI_COMM_SIZE && c->fn != SCRIBE_FN_MPI_OPEN)
		return;
	if (site->fn == SCRIBE_FN_MPI_TYPE_SIZE && c->fn != SCRIBE_FN_MPI_DATA)
		return;
	if (site->fn == SCRIBE_FN_H5_FILE_MADE && c->fn != SCRIBE_FN_H5_FILE_OPEN)
		return;
	if (site->fn == SCRIBE_FN_H5_FILE_MEANT) {
		if (c->fn == SCRIBE_FN_H5_FILE_FLUSH)
			c->inner = regs->r[site->reg[0] & 15];
		return;
	}
	if (site->fn == SCRIBE_FN_H5_BLOCK_READ) {
		if (c->fn == SCRIBE_FN_H5_SET_CHUNK && regs->r[site->reg[0] & 15] == SCRIBE_H5_RAW_DATA)
			c->inner = regs->r[site->reg[1] & 15];
		return;
	}
	if (site->fn == SCRIBE_FN_NC_POST) {
		if (c->fn != SCRIBE_FN_NC_MANY)
			return;
		calls->post[0] = scribe_user_u32(regs->r[site->reg[0] & 15]);
		calls->post[1] = regs->r[site->reg[1] & 15];
		calls->post[2] = regs->r[site->reg[2] & 15];
		calls->post_ns = bpf_ktime_get_ns();
	}
	c->inner_fn = site->fn;
	c->inner_sp = regs->r[SCRIBE_REG_SP];
	c->inner_at = regs->r[site->reg[1] & 15];
}

static __always_inline bool scribe_inner_end(struct pt_regs *ctx, __u32 layer)
{
	struct scribe_calls *calls = bpf_task_storage_get(&scribe_calls, bpf_get_current_task_btf(), 0, 0);
	struct scribe_call *c;

	if (!calls)
		return true;
	c = scribe_layer_at(calls, layer);
	if (!c || !c->busy || !c->inner_fn || ctx->sp != c->inner_sp + 8)
		return false;
	if (c->inner_fn == SCRIBE_FN_H5_FILE_MADE)
		c->inner = ctx->ax;
	else if ((__s32)ctx->ax == 0 && c->inner_fn != SCRIBE_FN_NC_POST)
		c->inner = c->inner_fn == SCRIBE_FN_MPI_COMM_SIZE ? (__s64)(__s32)scribe_user_u32(c->inner_at)
								  : (__s64)scribe_user_u64(c->inner_at);
	c->inner_fn = 0;
	return true;
}

/* HDF5 calls around an MPI-IO call learn of it. */
static __always_inline void scribe_tell_above(struct scribe_calls *calls, bool collective)
{
	struct scribe_call *above = &calls->layer[SCRIBE_LAYER_HDF5];

	if (!above->busy)
		return;
	above->beneath |= 1u << SCRIBE_LAYER_MPIIO;
	if (collective)
		above->beneath |= 1u << SCRIBE_BENEATH_COLLECTIVE;
}

static __noinline int scribe_lib_in(struct pt_regs *ctx, __u32 index)
{
	struct scribe_site *site;
	struct scribe_calls *calls;
	struct scribe_thread *t;
	struct scribe_proc *p = 0;
	struct scribe_image *im;
	struct scribe_regs regs;
	struct scribe_call *c;

	t = scribe_caller(&p);
	site = scribe_site_at(index);
	if (!site)
		return 0;
	if (site->flags & SCRIBE_SITE_COUNTS)
		scribe_guard_count();
	if (!t)
		return 0;
	scribe_regs_copy(ctx, &regs);
	if (site->flags & SCRIBE_SITE_INNER) {
		scribe_inner_begin(&regs, site);
		return 0;
	}
	if (scribe_has(SCRIBE_LAYER_STDIO) && site->fn == SCRIBE_FN_STREAM_INSIDE) {
		scribe_stream_inside(t, p, &regs, site);
		return 0;
	}
	if (site->fn == SCRIBE_FN_MPI_INSIDE) {
		calls = bpf_task_storage_get(&scribe_calls, bpf_get_current_task_btf(), 0, 0);
		scribe_mpi_inside(t, p, &regs, site);
		if (calls && !regs.r[site->reg[0] & 15] && !regs.r[site->reg[4] & 15])
			scribe_tell_above(calls, true);
		return 0;
	}
	im = scribe_image_at(site->image);
	calls = bpf_task_storage_get(&scribe_calls, bpf_get_current_task_btf(), 0,
				     BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!calls || !im)
		return 0;
	if (site->flags & SCRIBE_SITE_AROUND) {
		calls->around = site->fn;
		calls->around_sp = ctx->sp;
		return 0;
	}
	c = scribe_layer_at(calls, site->layer);
	if (!c)
		return 0;
	if (c->busy && ctx->sp < c->sp) {
		/* inside another call of the layer: that one counts */
		if (scribe_has(SCRIBE_LAYER_HDF5) && site->fn == SCRIBE_FN_H5_SET_CLOSE &&
		    c->fn == SCRIBE_FN_H5_FILE_CLOSE)
			scribe_h5_set_closed(t, p, im, regs.r[site->reg[0] & 15]);
		return 0;
	}
	if (scribe_has(SCRIBE_LAYER_HDF5) && site->fn == SCRIBE_FN_H5_FILE_CLOSE &&
	    !scribe_handle_get(p, SCRIBE_HANDLE_H5_FILE, regs.r[site->reg[0] & 15]))
		return 0; /* of something else: what is inside counts */
	c->busy = 1;
	c->at = index;
	c->fn = site->fn;
	c->sp = ctx->sp;
	c->base = ctx->ip - site->vaddr;
	c->inner = -1;
	c->inner_fn = 0;
	c->beneath = 0;
	c->moved[0] = t->moved[0];
	c->moved[1] = t->moved[1];
	c->moved_ns = t->moved_ns;
	c->around = calls->around && ctx->sp < calls->around_sp ? calls->around : 0;
	for (int i = 0; i < SCRIBE_SITE_ARGS; i++) {
		c->arg[i] = site->reg[i] == SCRIBE_REG_NONE ? 0 : regs.r[site->reg[i] & 15];
		if (site->deref & (1 << i))
			c->arg[i] = scribe_user_u64(c->arg[i]);
	}
	if (scribe_has(SCRIBE_LAYER_STDIO) && site->layer == SCRIBE_LAYER_STDIO)
		scribe_stdio_begin(t, p, c, site, im);
	else if (site->layer == SCRIBE_LAYER_MPIIO)
		scribe_tell_above(calls, site->count_at == SCRIBE_MPIIO_COLL_READS ||
						 site->count_at == SCRIBE_MPIIO_COLL_WRITES);
	else if (scribe_has(SCRIBE_LAYER_PNETCDF) && site->layer == SCRIBE_LAYER_PNETCDF)
		scribe_nc_begin(p, c, im);
	else if (scribe_has(SCRIBE_LAYER_HDF5) && site->fn == SCRIBE_FN_H5_SET_CLOSE)
		scribe_h5_set(t, p, im, c->arg[0], true); /* its structure is gone at return */
	c->start_ns = bpf_ktime_get_ns();
	return 0;
}

static __noinline int scribe_stdio_out(struct pt_regs *ctx)
{
	return scribe_stdio_end(ctx);
}

static __noinline int scribe_mpiio_out(struct pt_regs *ctx)
{
	if (scribe_inner_end(ctx, SCRIBE_LAYER_MPIIO))
		return 0;
	return scribe_mpi_end(ctx);
}

static __noinline int scribe_hdf5_out(struct pt_regs *ctx)
{
	if (scribe_around_end(ctx) || scribe_inner_end(ctx, SCRIBE_LAYER_HDF5))
		return 0;
	return scribe_h5_end(ctx);
}

static __noinline int scribe_pnetcdf_out(struct pt_regs *ctx)
{
	struct scribe_calls *calls = bpf_task_storage_get(&scribe_calls, bpf_get_current_task_btf(), 0, 0);
	struct scribe_proc *p = 0;
	struct scribe_thread *t;

	if (!calls)
		return 0;
	if (!scribe_inner_end(ctx, SCRIBE_LAYER_PNETCDF))
		return scribe_nc_end(ctx);
	t = scribe_caller(&p);
	if (t && p && (__s32)ctx->ax == 0)
		scribe_nc_posted(t, p, calls, &calls->layer[SCRIBE_LAYER_PNETCDF]);
	return 0;
}

SEC("uprobe")
int scribe_lib(struct pt_regs *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);

	if (!(cookie & SCRIBE_COOKIE_RETURN))
		return scribe_lib_in(ctx, (__u32)cookie);
	switch ((__u32)cookie) {
	case SCRIBE_LAYER_STDIO:
		return scribe_has(SCRIBE_LAYER_STDIO) ? scribe_stdio_out(ctx) : 0;
	case SCRIBE_LAYER_MPIIO:
		return scribe_has(SCRIBE_LAYER_MPIIO) ? scribe_mpiio_out(ctx) : 0;
	case SCRIBE_LAYER_HDF5:
		return scribe_has(SCRIBE_LAYER_HDF5) ? scribe_hdf5_out(ctx) : 0;
	case SCRIBE_LAYER_PNETCDF:
		return scribe_has(SCRIBE_LAYER_PNETCDF) ? scribe_pnetcdf_out(ctx) : 0;
	}
	return 0;
}
