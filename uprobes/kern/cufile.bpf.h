/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of cuFile. Layouts: NVIDIA's cufile.h, part of its ABI since 1.0. */
#ifndef UPROBES_KERN_CUFILE_BPF_H
#define UPROBES_KERN_CUFILE_BPF_H

#include "logfmt/counters/counters_cufile.h"
#include "uprobes/kern/call.bpf.h"

/* CUfileDescr_t */
#define SCRIBE_CUFILE_OPAQUE_FD 1u /* type, at 0 */
#define SCRIBE_CUFILE_FD_AT     8
/* CUfileIOParams_t */
#define SCRIBE_CUFILE_REQUEST_BYTES     64
#define SCRIBE_CUFILE_REQUEST_HANDLE_AT 40
#define SCRIBE_CUFILE_REQUESTS          256 /* of a batch, at most */

/* The record of the descriptor's file. SCRIBE_SKIP_SLOT: not recorded. */
SCRIBE_GLOBAL __u32 scribe_cufile_slot(struct scribe_thread *t, struct scribe_proc *p, __u64 descr)
{
	struct scribe_slot *s;
	__u32 index;
	__u64 file;

	if (!t || !p)
		return SCRIBE_SKIP_SLOT;
	file = scribe_fd_file(bpf_get_current_task_btf(), (__s32)scribe_user_u32(descr + SCRIBE_CUFILE_FD_AT));
	if (scribe_user_u32(descr) != SCRIBE_CUFILE_OPAQUE_FD || !file)
		return SCRIBE_SKIP_SLOT;
	index = scribe_lookup_or_create_record(t, p, file, SCRIBE_KIND_CUFILE);
	s = scribe_lib_slot_at(index);
	if (s && s->kind == SCRIBE_KIND_CUFILE)
		return index;
	if (index != SCRIBE_SKIP_SLOT)
		scribe_count(p, SCRIBE_L_LIB_DROPPED);
	return SCRIBE_SKIP_SLOT;
}

static __always_inline void scribe_cufile_register(struct scribe_thread *t, struct scribe_proc *p,
						   struct scribe_calls *calls)
{
	struct scribe_call *c = &calls->layer[SCRIBE_LAYER_CUFILE];
	struct scribe_handle *h = &calls->fresh;
	__u64 handle = scribe_user_u64(c->arg[0]);
	struct scribe_slot *s;

	__builtin_memset(h, 0, sizeof(*h));
	h->slot = scribe_cufile_slot(t, p, c->arg[1]);
	s = scribe_lib_slot_at(h->slot);
	h->generation = s ? s->generation : 0;
	scribe_handle_put(p, SCRIBE_LAYER_CUFILE, handle, h);
	if (!s)
		return;
	calls->op.what = SCRIBE_LIB_OPEN;
	scribe_lib_on(t, p, h, &calls->op);
}

SCRIBE_GLOBAL int scribe_cufile_on(struct scribe_thread *t, struct scribe_proc *p, __u64 handle)
{
	struct scribe_calls *calls = scribe_calls_get();
	struct scribe_handle *h;

	if (!t || !p || !calls)
		return 0;
	h = scribe_handle_get(p, SCRIBE_LAYER_CUFILE, handle);
	if (!h)
		scribe_count(p, SCRIBE_L_LIB_UNKNOWN);
	else if (h->slot != SCRIBE_SKIP_SLOT)
		scribe_lib_on(t, p, h, &calls->op);
	return 0;
}

static __always_inline int scribe_cufile_end(struct scribe_calls *calls, __u64 ret)
{
	struct scribe_call *c = &calls->layer[SCRIBE_LAYER_CUFILE];
	struct scribe_point *point = scribe_point_at(c->at);
	struct scribe_proc *p = 0;
	struct scribe_thread *t = scribe_caller(&p);
	struct scribe_lib_op *op = &calls->op;

	if (!t || !p || !point || point->fn == SCRIBE_FN_CUFILE_DROP)
		return 0;
	/* CUfileError_t: the first half is cuFile's */
	if (point->fn == SCRIBE_FN_CUFILE_DATA ? (__s64)ret < 0 : (__s32)ret != 0)
		return 0;
	scribe_op_begin(op, c->start_ns, bpf_ktime_get_ns());
	op->count_at = point->count_at;
	if (point->fn == SCRIBE_FN_CUFILE_REGISTER) {
		scribe_cufile_register(t, p, calls);
		return 0;
	}
	op->op_class = SCRIBE_OP_NONE;
	if (point->fn == SCRIBE_FN_CUFILE_BATCH) {
		for (__u32 i = 0; i < SCRIBE_CUFILE_REQUESTS && i < (__u32)c->arg[0]; i++)
			scribe_cufile_on(t, p,
					 scribe_user_u64(c->arg[1] + i * SCRIBE_CUFILE_REQUEST_BYTES +
							 SCRIBE_CUFILE_REQUEST_HANDLE_AT));
		if ((__u32)c->arg[0] > SCRIBE_CUFILE_REQUESTS)
			scribe_count(p, SCRIBE_L_LIB_DROPPED);
		return 0;
	}
	if (point->fn == SCRIBE_FN_CUFILE_DATA) {
		op->what = SCRIBE_LIB_DATA;
		op->op_class = point->op & 1;
		op->bytes = ret;
	}
	return scribe_cufile_on(t, p, c->arg[0]);
}

#endif
