/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of libraries. A call is identified by its stack pointer: deeper ones are nested; one without a return
 * is dropped when the stack is above it again.
 */
#ifndef UPROBES_KERN_CALL_BPF_H
#define UPROBES_KERN_CALL_BPF_H

#include "bpf/kern/heat.bpf.h"
#include "bpf/kern/syscall_path.bpf.h"
#include "logfmt/counters/counters_hdf5.h"
#include "logfmt/counters/counters_mpiio.h"
#include "logfmt/rules/lib_rules.h"
#include "uprobes/wire.h"

struct scribe_call {
	__u32 busy;
	__u32 at; /* point */
	__u32 fn; /* enum scribe_fn */
	__u32 pad;
	__u64 sp; /* at entry, points to the return address */
	__u64 start_ns;
	__u64 base; /* load address of the library */
	__u64 arg[SCRIBE_POINT_ARGS];
	__s64 inner; /* result of a nested call; -1 none yet */
	__u64 inner_sp;
	__u64 inner_at; /* address of its result */
	__u32 inner_fn;
	__u32 lower_layers; /* bits */
	__u32 around;       /* enum scribe_fn of the enclosing function, 0 none */
	__u32 pad2;
	__u64 moved[2]; /* by the thread before the call */
	__u64 moved_ns;
};

/* As enum scribe_reg. A copy, because ctx allows no variable offset. */
struct scribe_regs {
	__u64 r[16];
};

struct scribe_lib_name {
	__u64 string; /* path */
	__u64 suffix; /* text after ":", 0 none */
	__u32 kind;   /* enum scribe_slot_kind */
	__u32 prefix; /* 1: may start with a file system prefix */
	__u64 own;    /* key of a nameless one, 0: keyed by name */
	__u64 later;  /* 1: no name yet; otherwise without a suffix it ends in ":" */
};

/* PnetCDF's variable, from `nc_type_at` - 8 on. */
struct scribe_nc_var {
	__s32 dims;
	__s32 record_dim; /* -1 none */
	__u32 type;
	__u32 pad;
	__u64 lengths; /* MPI_Offset per dimension */
};

/* An access of a variable; `count` and `stride` as in the library. */
struct scribe_nc_access {
	__u32 varid, form, op, count_at;
	__u32 indep, number;
	__u64 count, stride, filetype;
};

#define SCRIBE_NUMBERS 32

struct scribe_calls {
	struct scribe_call layer[SCRIBE_LAYERS];
	struct scribe_access_pattern pattern; /* of the current access */
	__u64 around_sp;                      /* enclosing function */
	__u32 around;                         /* enum scribe_fn, 0 none */
	__u32 pad;
	__u64 post[3]; /* PnetCDF: variable, count, stride of the posted request */
	__u64 post_ns;
	/* Work memory of the running handler; the stack is 512 bytes for all of its functions. */
	struct scribe_regs regs;
	struct scribe_lib_op op;   /* the returning call */
	struct scribe_lib_op past; /* an open recorded before it */
	struct scribe_lib_name name;
	struct scribe_handle fresh;
	struct scribe_event ev;
	struct scribe_nc_var var;
	struct scribe_nc_access access;
	__u64 number[SCRIBE_NUMBERS];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct scribe_calls);
} scribe_calls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SCRIBE_POINTS_MAX);
	__type(key, __u32);
	__type(value, struct scribe_point);
} scribe_points SEC(".maps");

/* By end of address and number of the trace event (SCRIBE_COOKIE_ADDRESSES). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SCRIBE_POINTS_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, __u32);
} scribe_addrs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SCRIBE_LIBRARY_OFFSETS_MAX);
	__type(key, __u32);
	__type(value, struct scribe_library_offsets);
} scribe_lib_offs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SCRIBE_HANDLES_MAX);
	__type(key, struct scribe_handle_key);
	__type(value, struct scribe_handle);
} scribe_handles SEC(".maps");

/* Shapes by the keys in records, for all processes. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SCRIBE_ACCESS_PATTERNS_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __s64);
	__type(value, struct scribe_access_pattern);
} scribe_access_patterns SEC(".maps");

#ifdef __TARGET_ARCH_x86
#define SCRIBE_REGS_IP(ctx)  ((ctx)->ip)
#define SCRIBE_REGS_RET(ctx) ((ctx)->ax)
static __always_inline void scribe_regs_copy(struct pt_regs *ctx, struct scribe_regs *to)
{
	to->r[SCRIBE_REG_AX] = ctx->ax;
	to->r[SCRIBE_REG_CX] = ctx->cx;
	to->r[SCRIBE_REG_DX] = ctx->dx;
	to->r[SCRIBE_REG_BX] = ctx->bx;
	to->r[SCRIBE_REG_SP] = ctx->sp;
	to->r[SCRIBE_REG_BP] = ctx->bp;
	to->r[SCRIBE_REG_SI] = ctx->si;
	to->r[SCRIBE_REG_DI] = ctx->di;
	to->r[SCRIBE_REG_R8] = ctx->r8;
	to->r[SCRIBE_REG_R9] = ctx->r9;
	to->r[SCRIBE_REG_R10] = ctx->r10;
	to->r[SCRIBE_REG_R11] = ctx->r11;
	to->r[SCRIBE_REG_R12] = ctx->r12;
	to->r[SCRIBE_REG_R13] = ctx->r13;
	to->r[SCRIBE_REG_R14] = ctx->r14;
	to->r[SCRIBE_REG_R15] = ctx->r15;
}
#elif defined(__TARGET_ARCH_arm64)
#define SCRIBE_REGS_IP(ctx)  ((ctx)->pc)
#define SCRIBE_REGS_RET(ctx) ((ctx)->regs[0])
/* Under x86-64's names: arguments 0 to 5, then preserved registers. */
static __always_inline void scribe_regs_copy(struct pt_regs *ctx, struct scribe_regs *to)
{
	to->r[SCRIBE_REG_DI] = ctx->regs[0];
	to->r[SCRIBE_REG_SI] = ctx->regs[1];
	to->r[SCRIBE_REG_DX] = ctx->regs[2];
	to->r[SCRIBE_REG_CX] = ctx->regs[3];
	to->r[SCRIBE_REG_R8] = ctx->regs[4];
	to->r[SCRIBE_REG_R9] = ctx->regs[5];
	to->r[SCRIBE_REG_R10] = ctx->regs[6];
	to->r[SCRIBE_REG_R11] = ctx->regs[7];
	to->r[SCRIBE_REG_AX] = ctx->regs[8];
	to->r[SCRIBE_REG_BX] = ctx->regs[19];
	to->r[SCRIBE_REG_R12] = ctx->regs[20];
	to->r[SCRIBE_REG_R13] = ctx->regs[21];
	to->r[SCRIBE_REG_R14] = ctx->regs[22];
	to->r[SCRIBE_REG_R15] = ctx->regs[23];
	to->r[SCRIBE_REG_BP] = ctx->regs[29];
	to->r[SCRIBE_REG_SP] = ctx->sp;
}
#endif

static __always_inline __u64 scribe_user_u64(__u64 at)
{
	__u64 v = 0;

	bpf_probe_read_user(&v, sizeof(v), (void *)at);
	return v;
}

static __always_inline __u32 scribe_user_u32(__u64 at)
{
	__u32 v = 0;

	bpf_probe_read_user(&v, sizeof(v), (void *)at);
	return v;
}

/* The filter of every probe. 0: not recorded. */
static __always_inline struct scribe_thread *scribe_caller(struct scribe_proc **ret_p)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct scribe_thread *t = scribe_thread_of(task);
	struct scribe_proc *p;

	if (!t)
		return 0;
	p = scribe_proc_at(t->proc);
	if (!p || p->proc_id != t->proc_id || (p->flags & SCRIBE_PF_NOT_RECORDED))
		return 0;
	if (p->ignored_tid && p->ignored_tid == (__u32)task->pid)
		return 0;
	*ret_p = p;
	return t;
}

static __always_inline struct scribe_point *scribe_point_at(__u32 index)
{
	return bpf_map_lookup_elem(&scribe_points, &index);
}

/* An index out of range if the point is not known. */
static __always_inline __u32 scribe_point_of(__u64 cookie, __u64 ip)
{
	__u32 key = cookie, *point;

	if (!(cookie & SCRIBE_COOKIE_ADDRESSES))
		return key;
	key = key * SCRIBE_ADDRESS_STEP + (ip & (SCRIBE_ADDRESS_STEP - 1));
	point = bpf_map_lookup_elem(&scribe_addrs, &key);
	return point ? *point : SCRIBE_POINTS_MAX;
}

static __always_inline struct scribe_library_offsets *scribe_library_offsets_at(__u32 index)
{
	return bpf_map_lookup_elem(&scribe_lib_offs, &index);
}

static __always_inline struct scribe_calls *scribe_calls_get(void)
{
	return bpf_task_storage_get(&scribe_calls, bpf_get_current_task_btf(), 0, 0);
}

/* Ends the call of this layer if it returns now. */
static __always_inline bool scribe_returning(__u64 sp, struct scribe_call *c)
{
	/* At return the stack pointer is 8 above that of the entry. */
	if (!c->busy || sp != c->sp + 8)
		return false;
	c->busy = 0;
	return true;
}

static __always_inline bool scribe_outer_call_end(__u64 sp, struct scribe_calls *calls)
{
	if (!calls->around || sp != calls->around_sp + 8)
		return false;
	calls->around = 0;
	return true;
}

static __always_inline void scribe_op_begin(struct scribe_lib_op *op, __u64 start_ns, __u64 end_ns)
{
	op->start_ns = start_ns;
	op->end_ns = end_ns;
	op->bytes = 0;
	op->offset = -1;
	op->what = SCRIBE_LIB_OTHER;
	op->op_class = SCRIBE_OP_META;
	op->count_at = SCRIBE_LIB_NO_COUNT;
	op->unsized = 0;
	op->also_at = 0;
	op->pattern_key = 0;
}

/* 0: not recordable. */
static __always_inline struct scribe_slot *scribe_lib_slot_at(__u32 slot)
{
	return slot == SCRIBE_SKIP_SLOT || slot == SCRIBE_NO_SLOT ? 0 : scribe_slot_at(slot);
}

static __always_inline void scribe_name_begin(struct scribe_lib_name *n, __u32 kind, __u64 string, __u32 prefix)
{
	n->string = string;
	n->suffix = 0;
	n->kind = kind;
	n->prefix = prefix;
	n->own = 0;
	n->later = 0;
}

/* What the thread's system calls moved inside the call, into ext.v[at] to [at + 2]. */
static __always_inline void scribe_attribute_to_layer(const struct scribe_thread *t, const struct scribe_call *c,
						      __u32 slot, __u32 at)
{
	struct scribe_slot *s;

	if (t->moved_ns == c->moved_ns)
		return;
	s = scribe_lib_slot_at(slot);
	if (!s)
		return;
	__sync_fetch_and_add(&s->ext.v[at], t->moved[0] - c->moved[0]);
	__sync_fetch_and_add(&s->ext.v[at + 1], t->moved[1] - c->moved[1]);
	__sync_fetch_and_add(&s->ext.v[at + 2], t->moved_ns - c->moved_ns);
}

SCRIBE_GLOBAL __s64 scribe_access_pattern_keep(struct scribe_proc *p)
{
	struct scribe_calls *calls = scribe_calls_get();
	__s64 key;

	if (!p || !calls)
		return 0;
	key = scribe_access_pattern_key(&calls->pattern);
	if (!bpf_map_lookup_elem(&scribe_access_patterns, &key) &&
	    bpf_map_update_elem(&scribe_access_patterns, &key, &calls->pattern, BPF_ANY))
		scribe_count(p, SCRIBE_L_APPROX_VALUES);
	return key;
}

/* Only these add to bytes over time. */
static __always_inline bool scribe_lib_heats(__u32 kind, const struct scribe_lib_op *op)
{
	return op->what == SCRIBE_LIB_DATA && !op->unsized && op->op_class <= SCRIBE_OP_WRITE &&
	       (kind == SCRIBE_KIND_STDIO || kind == SCRIBE_KIND_MPIIO);
}

SCRIBE_GLOBAL int scribe_lib_atomic(struct scribe_proc *p, struct scribe_slot *at, const struct scribe_lib_op *op,
				    const struct scribe_lib_address *op_result)
{
	if (!p || !at || !op || !op_result)
		return 0;
	scribe_lib_apply(&at->shard, &at->ext, op, op_result, 1);
	if (scribe_top_count(at->shard.access, scribe_lib_value(op), 1))
		scribe_count(p, SCRIBE_L_APPROX_VALUES);
	scribe_count(p, SCRIBE_L_ATOMIC);
	return 0;
}

SCRIBE_GLOBAL int scribe_lib_held(struct scribe_slot *at, const struct scribe_lib_op *op,
				  const struct scribe_lib_address *op_result)
{
	if (!at || !op || !op_result)
		return 0;
	scribe_lib_apply(&at->shard, &at->ext, op, op_result, 0);
	return 0;
}

/* 0: the slot is gone. */
static __always_inline int scribe_lib_record(struct scribe_proc *p, struct scribe_slot *s, __u32 generation,
					     const struct scribe_lib_op *op)
{
	struct scribe_lib_address op_result;
	struct scribe_hold h;

	if (s->flags & SCRIBE_SF_EXCLUDED) {
		scribe_count(p, SCRIBE_L_EXCLUDED);
		return 1;
	}
	if (!scribe_shard_hold(s, generation, &h))
		return 0;
	scribe_lib_cursor(&s->cursor, op, &op_result);
	if (h.atomic) {
		scribe_lib_atomic(p, h.at, op, &op_result);
		if (scribe_lib_heats(s->kind, op))
			scribe_heat_far(h.at, op->start_ns, op->end_ns, op->bytes, op->op_class | SCRIBE_HEAT_ATOMIC);
	} else {
		struct scribe_posix_shard *shard = &h.at->shard;
		__s64 value = s->kind == SCRIBE_KIND_STDIO ? 0 : scribe_lib_value(op);

		scribe_lib_held(h.at, op, &op_result);
		if (scribe_lib_heats(s->kind, op))
			scribe_heat_count(h.at, op->start_ns, op->end_ns, op->bytes, op->op_class);
		if (scribe_top_count(shard->access, value, 0))
			scribe_value_far(p, shard, 0, value);
		scribe_shard_unlock(h.at, h.lock);
	}
	if (op_result.approx)
		scribe_count(p, SCRIBE_L_APPROX_TIME);
	return 1;
}

/* A new record for the name of a drained one, to which it refers (renamed_from). */
SCRIBE_GLOBAL __u32 scribe_lib_again(struct scribe_thread *t, struct scribe_proc *p, __u32 old)
{
	struct scribe_slot *s, *was;
	bool fresh = false;
	__u32 index;

	if (!t || !p)
		return SCRIBE_NO_SLOT;
	was = scribe_slot_at(old);
	if (!was || was->proc_id != p->proc_id || was->kind < SCRIBE_KIND_STDIO)
		return SCRIBE_NO_SLOT;
	t->key.proc_id = p->proc_id;
	t->key.dev = was->dev;
	t->key.ino = was->ino;
	t->key.hash = was->hash;
	index = scribe_slot_for(p, t->proc, &t->key, was->kind, &fresh);
	s = index ? scribe_slot_at(index) : 0;
	if (!s || s->kind != was->kind)
		return SCRIBE_NO_SLOT;
	if (fresh) {
		s->renamed_from = was->renamed_from ? was->renamed_from : old;
		s->renamed_from_generation = was->renamed_from ? was->renamed_from_generation : was->generation;
		s->mode = was->mode;
		s->calls_of = was->calls_of;
		__sync_fetch_and_or(&s->flags, SCRIBE_SF_NAME_SENT | (was->flags & SCRIBE_SF_CALLS));
	}
	return index;
}

/* MPI-IO's data have their own segments (scribe_mpi_segment). */
SCRIBE_GLOBAL int scribe_lib_segment(struct scribe_thread *t, const struct scribe_slot *s,
				     const struct scribe_handle *h, const struct scribe_lib_op *op)
{
	__u32 kind;

	if (!t || !s || !h || !op)
		return 0;
	kind = s->kind;
	if (op->what == SCRIBE_LIB_OPEN || op->what == SCRIBE_LIB_REOPEN)
		t->op.op = SCRIBE_SEGMENT_OPEN;
	else if (op->what == SCRIBE_LIB_CLOSE)
		t->op.op = SCRIBE_SEGMENT_CLOSE;
	else if (op->what == SCRIBE_LIB_DATA && kind != SCRIBE_KIND_MPIIO)
		t->op.op = op->op_class & 1 ? SCRIBE_SEGMENT_LIB_WRITE : SCRIBE_SEGMENT_LIB_READ;
	else if ((kind == SCRIBE_KIND_H5F && op->count_at == SCRIBE_H5F_FLUSHES) ||
		 (kind == SCRIBE_KIND_H5D && op->count_at == SCRIBE_H5D_FLUSHES) ||
		 (kind == SCRIBE_KIND_STDIO && op->what == SCRIBE_LIB_FLUSH))
		t->op.op = SCRIBE_SEGMENT_FLUSH;
	else
		return 0;
	t->op.offset = op->offset;
	t->op.bytes = op->bytes;
	t->op.start_ns = op->start_ns;
	t->op.end_ns = op->end_ns;
	scribe_segment_also(t, h->slot, h->generation, &t->op, op->also_at);
	return 0;
}

/* Updates the handle if its record was replaced. */
SCRIBE_GLOBAL int scribe_lib_on(struct scribe_thread *t, struct scribe_proc *p, struct scribe_handle *h,
				const struct scribe_lib_op *op)
{
	struct scribe_slot *s;
	__u32 again;

	if (!t || !p || !h || !op)
		return 0;
	t->events++;
	s = scribe_slot_at(h->slot);
	if (!s || !scribe_lib_record(p, s, h->generation, op)) {
		again = scribe_lib_again(t, p, h->slot);
		s = again ? scribe_slot_at(again) : 0;
		if (!s || !scribe_lib_record(p, s, s->generation, op)) {
			scribe_count(p, SCRIBE_L_LIB_DROPPED);
			return 0;
		}
		h->slot = again;
		h->generation = s->generation;
	}
	if (s->flags & SCRIBE_SF_OPENS)
		scribe_lib_segment(t, s, h, op);
	return 0;
}

static __always_inline struct scribe_handle *scribe_handle_get(struct scribe_proc *p, __u32 layer, __u64 handle)
{
	struct scribe_handle_key key = {.handle = handle, .proc_id = p->proc_id, .layer = layer};

	return bpf_map_lookup_elem(&scribe_handles, &key);
}

static __always_inline void scribe_handle_put(struct scribe_proc *p, __u32 layer, __u64 handle,
					      const struct scribe_handle *h)
{
	struct scribe_handle_key key = {.handle = handle, .proc_id = p->proc_id, .layer = layer};

	if (bpf_map_update_elem(&scribe_handles, &key, h, BPF_ANY))
		scribe_count(p, SCRIBE_L_LIB_HANDLES_FULL);
}

static __always_inline void scribe_handle_drop(struct scribe_proc *p, __u32 layer, __u64 handle)
{
	struct scribe_handle_key key = {.handle = handle, .proc_id = p->proc_id, .layer = layer};

	bpf_map_delete_elem(&scribe_handles, &key);
}

#endif
