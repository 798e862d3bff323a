/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of libraries: what is kept at entry, whether a return belongs to it,
 * and recording. A call is known by its stack pointer: deeper ones are inside
 * it; one that never returned is forgotten when the stack is back above it.
 */
#ifndef UPROBES_CALL_BPF_H
#define UPROBES_CALL_BPF_H

#include "bpf/path.bpf.h"
#include "logfmt/counters_hdf5.h"
#include "logfmt/counters_mpiio.h"
#include "logfmt/rules/lib_rules.h"
#include "uprobes/wire.h"

/* One layer of a thread. */
struct scribe_call {
	__u32 busy; /* 1: in a call */
	__u32 at;   /* index of its site */
	__u32 fn;   /* enum scribe_fn */
	__u32 pad;
	__u64 sp; /* stack pointer at entry: the return address is there */
	__u64 start_ns;
	__u64 base; /* load address of the library */
	__u64 arg[SCRIBE_SITE_ARGS];
	__s64 inner;    /* what a call inside told; -1 nothing yet */
	__u64 inner_sp; /* that call */
	__u64 inner_at; /* where its answer will be */
	__u32 inner_fn;
	__u32 beneath; /* layers called from inside, bits */
	__u32 around;  /* enum scribe_fn of the function around it that says what it is, 0 none */
	__u32 pad2;
	__u64 moved[2]; /* what the thread had moved before it */
	__u64 moved_ns;
};

struct scribe_calls {
	struct scribe_call layer[SCRIBE_LAYERS];
	struct scribe_shape shape; /* of the access that is being recorded */
	__u64 around_sp;           /* a function that says what the call inside it is */
	__u32 around;              /* its enum scribe_fn, 0 none */
	__u32 pad;
	__u64 post[3]; /* PnetCDF: variable, count, stride of the request that is being posted */
	__u64 post_ns;
};

static __always_inline struct scribe_call *scribe_layer_at(struct scribe_calls *calls, __u32 layer)
{
	switch (layer) {
	case SCRIBE_LAYER_STDIO:
		return &calls->layer[SCRIBE_LAYER_STDIO];
	case SCRIBE_LAYER_MPIIO:
		return &calls->layer[SCRIBE_LAYER_MPIIO];
	case SCRIBE_LAYER_HDF5:
		return &calls->layer[SCRIBE_LAYER_HDF5];
	case SCRIBE_LAYER_PNETCDF:
		return &calls->layer[SCRIBE_LAYER_PNETCDF];
	}
	return 0;
}

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct scribe_calls);
} scribe_calls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SCRIBE_SITES_MAX);
	__type(key, __u32);
	__type(value, struct scribe_site);
} scribe_sites SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SCRIBE_IMAGES_MAX);
	__type(key, __u32);
	__type(value, struct scribe_image);
} scribe_images SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SCRIBE_HANDLES_MAX);
	__type(key, struct scribe_handle_key);
	__type(value, struct scribe_handle);
} scribe_handles SEC(".maps");

/* What belongs to the keys of shapes in the records, once for all processes. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SCRIBE_SHAPES_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __s64);
	__type(value, struct scribe_shape);
} scribe_shapes SEC(".maps");

/* The registers in the order of enum scribe_reg: ctx itself takes no variable offset. */
struct scribe_regs {
	__u64 r[16];
};

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

/* The enrolled thread, 0 when nothing is to be recorded. The filter of every probe. */
static __always_inline struct scribe_thread *scribe_caller(struct scribe_proc **ret_p)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct scribe_thread *t = bpf_task_storage_get(&scribe_task, task, 0, 0);
	struct scribe_proc *p;

	if (!t)
		return 0;
	p = scribe_proc_at(t->proc);
	if (!p || p->serial != t->serial || (p->flags & SCRIBE_PF_SILENT))
		return 0;
	if (p->muted_tid && p->muted_tid == (__u32)task->pid)
		return 0;
	*ret_p = p;
	return t;
}

static __always_inline struct scribe_site *scribe_site_at(__u32 index)
{
	return bpf_map_lookup_elem(&scribe_sites, &index);
}

static __always_inline struct scribe_image *scribe_image_at(__u32 index)
{
	return bpf_map_lookup_elem(&scribe_images, &index);
}

/* The call whose return this is, closed; 0: another's. */
static __always_inline struct scribe_call *scribe_returning(struct pt_regs *ctx, __u32 layer)
{
	struct scribe_calls *calls = bpf_task_storage_get(&scribe_calls, bpf_get_current_task_btf(), 0, 0);
	struct scribe_call *c;

	if (!calls)
		return 0;
	c = scribe_layer_at(calls, layer);
	if (!c || !c->busy || ctx->sp != c->sp + 8)
		return 0;
	c->busy = 0;
	return c;
}

/* Is this the return of the function around? Then what it said is over. */
static __always_inline bool scribe_around_end(struct pt_regs *ctx)
{
	struct scribe_calls *calls = bpf_task_storage_get(&scribe_calls, bpf_get_current_task_btf(), 0, 0);

	if (!calls || !calls->around || ctx->sp != calls->around_sp + 8)
		return false;
	calls->around = 0;
	return true;
}

/* ---- recording ---- */

/* What the thread's system calls have moved inside a call goes to places `at` to `at` + 2. */
static __always_inline void scribe_lib_beneath(const struct scribe_thread *t, const struct scribe_call *c,
					       __u32 slot, __u32 at)
{
	struct scribe_slot *s = slot == SCRIBE_SKIP_SLOT || slot == SCRIBE_NO_SLOT ? 0 : scribe_slot_at(slot);

	if (!s || t->moved_ns == c->moved_ns)
		return;
	__sync_fetch_and_add(&s->ext.v[at], t->moved[0] - c->moved[0]);
	__sync_fetch_and_add(&s->ext.v[at + 1], t->moved[1] - c->moved[1]);
	__sync_fetch_and_add(&s->ext.v[at + 2], t->moved_ns - c->moved_ns);
}

/* The key of a shape that can be looked up from now on. */
SCRIBE_GLOBAL __s64 scribe_shape_keep(struct scribe_proc *p, const struct scribe_shape *shape)
{
	__s64 key;

	if (!p || !shape)
		return 0;
	key = scribe_shape_key(shape);
	if (!bpf_map_lookup_elem(&scribe_shapes, &key) &&
	    bpf_map_update_elem(&scribe_shapes, &key, shape, BPF_ANY))
		scribe_count(p, SCRIBE_L_APPROX_VALUES);
	return key;
}

/* A call on a part that nobody could lock. */
SCRIBE_GLOBAL int scribe_lib_atomic(struct scribe_proc *p, struct scribe_slot *at,
				    const struct scribe_lib_op *op, const struct scribe_lib_place *place)
{
	if (!p || !at || !op || !place)
		return 0;
	scribe_lib_apply(&at->part, &at->ext, op, place, 1);
	if (scribe_top_count(at->part.access, scribe_lib_value(op), 1))
		scribe_count(p, SCRIBE_L_APPROX_VALUES);
	scribe_count(p, SCRIBE_L_ATOMIC);
	return 0;
}

/* One call on a slot. 0: the slot went away. */
SCRIBE_GLOBAL int scribe_lib_record(struct scribe_proc *p, struct scribe_slot *s, __u32 birth,
				    const struct scribe_lib_op *op)
{
	struct scribe_lib_place place;
	struct scribe_hold h;

	if (!p || !s || !op)
		return 1;
	if (s->flags & SCRIBE_SF_EXCLUDED) {
		scribe_count(p, SCRIBE_L_EXCLUDED);
		return 1;
	}
	if (!scribe_part_hold(s, birth, &h))
		return 0;
	scribe_lib_cursor(&s->cursor, op, &place);
	if (h.atomic) {
		scribe_lib_atomic(p, h.at, op, &place);
	} else {
		struct scribe_posix_part *part = &h.at->part;
		__s64 value = s->kind == SCRIBE_KIND_STDIO ? 0 : scribe_lib_value(op);

		scribe_lib_apply(part, &h.at->ext, op, &place, 0);
		if (scribe_top_count(part->access, value, 0))
			scribe_value_far(p, part, 0, value);
		scribe_part_unlock(h.at, h.lock);
	}
	if (place.approx)
		scribe_count(p, SCRIBE_L_APPROX_TIME);
	return 1;
}

/* A record in place of one that the daemon has taken: same name, named by the old one. */
SCRIBE_GLOBAL __u32 scribe_lib_again(struct scribe_thread *t, struct scribe_proc *p, __u32 old)
{
	struct scribe_file_key key = {};
	struct scribe_slot *s, *was;
	bool fresh = false;
	__u32 index;

	if (!t || !p)
		return SCRIBE_NO_SLOT;
	was = scribe_slot_at(old);
	if (!was || was->serial != p->serial || was->kind < SCRIBE_KIND_STDIO)
		return SCRIBE_NO_SLOT;
	key.serial = p->serial;
	key.dev = was->dev;
	key.ino = was->ino;
	key.hash = was->hash;
	index = scribe_slot_for(p, t->proc, &key, was->kind, &fresh);
	s = index ? scribe_slot_at(index) : 0;
	if (!s || s->kind != was->kind)
		return SCRIBE_NO_SLOT;
	if (fresh) {
		s->renamed_from = was->renamed_from ? was->renamed_from : old;
		s->renamed_from_birth = was->renamed_from ? was->renamed_from_birth : was->birth;
		s->mode = was->mode;
		s->calls_of = was->calls_of;
		__sync_fetch_and_or(&s->flags, SCRIBE_SF_NAME_SENT | (was->flags & SCRIBE_SF_CALLS));
	}
	return index;
}

/* A call on the record a handle names; the handle is told when it had to be replaced. */
SCRIBE_GLOBAL int scribe_lib_on(struct scribe_thread *t, struct scribe_proc *p, struct scribe_handle *h,
				const struct scribe_lib_op *op)
{
	struct scribe_slot *s;
	__u32 again;

	if (!t || !p || !h || !op)
		return 0;
	t->events++;
	s = scribe_slot_at(h->slot);
	if (s && scribe_lib_record(p, s, h->birth, op))
		return 0;
	again = scribe_lib_again(t, p, h->slot);
	s = again ? scribe_slot_at(again) : 0;
	if (!s || !scribe_lib_record(p, s, s->birth, op)) {
		scribe_count(p, SCRIBE_L_LIB_DROPPED);
		return 0;
	}
	h->slot = again;
	h->birth = s->birth;
	return 0;
}

static __always_inline struct scribe_handle *scribe_handle_get(struct scribe_proc *p, __u32 layer,
							       __u64 handle)
{
	struct scribe_handle_key key = {.handle = handle, .serial = p->serial, .layer = layer};

	return bpf_map_lookup_elem(&scribe_handles, &key);
}

static __always_inline void scribe_handle_put(struct scribe_proc *p, __u32 layer, __u64 handle,
					      const struct scribe_handle *h)
{
	struct scribe_handle_key key = {.handle = handle, .serial = p->serial, .layer = layer};

	if (bpf_map_update_elem(&scribe_handles, &key, h, BPF_ANY))
		scribe_count(p, SCRIBE_L_LIB_HANDLES_FULL);
}

static __always_inline void scribe_handle_drop(struct scribe_proc *p, __u32 layer, __u64 handle)
{
	struct scribe_handle_key key = {.handle = handle, .serial = p->serial, .layer = layer};

	bpf_map_delete_elem(&scribe_handles, &key);
}

/* ---- records named by a string of the program ---- */

/* Bytes of a file system prefix ("ufs:") that no path begins with. */
static __always_inline __u32 scribe_prefix_bytes(struct scribe_scratch *s)
{
	for (int i = 0; i < 16; i++) {
		char c = s->text[SCRIBE_NAME_MAX_BYTES + i];

		if (c == '/' || c == 0)
			return 0;
		if (c == ':')
			return i + 1;
	}
	return 0;
}

struct scribe_lib_name {
	__u64 string; /* user address of a path */
	__u64 suffix; /* user address of what follows ":", 0 none */
	__u32 kind;   /* enum scribe_slot_kind */
	__u32 prefix; /* 1: a file system prefix may stand before it */
	__u64 own;    /* what the record is known by while it has no name, 0: by its name */
	__u64 later;  /* 1: the name is not known yet; else without a suffix it ends in ":" */
};

/* The strings of a name behind one another in the upper half; path bytes << 16 | all bytes, 0: unreadable. */
static __always_inline __u32 scribe_lib_read(struct scribe_scratch *s, const struct scribe_lib_name *n)
{
	__u32 bytes, more = 0;
	__u64 from = n->string;
	long got;

	got = bpf_probe_read_user_str(&s->text[SCRIBE_NAME_MAX_BYTES], SCRIBE_NAME_MAX_BYTES / 2,
				      (void *)from);
	if (got <= 1)
		return 0;
	if (n->prefix) {
		__u32 skip = scribe_prefix_bytes(s);

		if (skip) {
			from += skip;
			got = bpf_probe_read_user_str(&s->text[SCRIBE_NAME_MAX_BYTES],
						      SCRIBE_NAME_MAX_BYTES / 2, (void *)from);
			if (got <= 1)
				return 0;
		}
	}
	bytes = (got - 1) & (SCRIBE_NAME_MAX_BYTES / 2 - 1);
	if (n->suffix) {
		s->text[SCRIBE_NAME_MAX_BYTES + bytes] = ':';
		got = bpf_probe_read_user_str(&s->text[SCRIBE_NAME_MAX_BYTES + bytes + 1],
					      SCRIBE_NAME_MAX_BYTES / 2 - 1, (void *)n->suffix);
		if (got <= 1)
			return 0;
		more = got & (SCRIBE_NAME_MAX_BYTES / 2 - 1);
	} else if (n->own) {
		s->text[SCRIBE_NAME_MAX_BYTES + bytes] = ':';
		more = 1;
	}
	return bytes << 16 | (bytes + more);
}

/*
 * The record of something in a file: named after the record of the file, which
 * the daemon knows already, and a string of the program, `suffix`.
 */
SCRIBE_GLOBAL __u32 scribe_lib_below(struct scribe_thread *t, struct scribe_proc *p, __u32 file,
				     const struct scribe_lib_name *n)
{
	struct scribe_file_key key = {};
	struct scribe_slot *base, *slot;
	__u32 index = SCRIBE_NO_SLOT;
	struct scribe_scratch *s;
	bool fresh = false;
	long got = 1;

	base = scribe_slot_at(file);
	if (!t || !p || !n || !base)
		return index;
	if (base->flags & SCRIBE_SF_EXCLUDED)
		return SCRIBE_SKIP_SLOT;
	s = scribe_scratch_take(p);
	if (!s)
		return index;
	if (n->suffix)
		got = bpf_probe_read_user_str(&s->text[SCRIBE_NAME_MAX_BYTES], SCRIBE_NAME_MAX_BYTES / 2,
					      (void *)n->suffix);
	if (got > 1 || n->own) {
		__u64 hash = n->own;

		if (!hash)
			hash = scribe_string_hash(s, got - 1);
		key.serial = p->serial;
		key.dev = base->dev;
		key.ino = base->ino;
		key.hash = ((hash + base->hash) * SCRIBE_MIX + n->kind) << 2 | 1;
		index = scribe_slot_for(p, t->proc, &key, n->kind, &fresh);
	}
	slot = index ? scribe_slot_at(index) : 0;
	if (!slot || slot->kind != n->kind) {
		index = SCRIBE_NO_SLOT;
		scribe_count(p, SCRIBE_L_LIB_DROPPED);
	} else if (!n->later && got > 0 && !(slot->flags & SCRIBE_SF_NAME_SENT) &&
		   base->flags & SCRIBE_SF_NAME_SENT) {
		__u32 bytes = (got - 1) & (SCRIBE_NAME_MAX_BYTES / 2 - 1);

		scribe_event_head(&s->ev, SCRIBE_EV_NAME, p, slot->proc);
		s->ev.slot = index;
		s->ev.birth = slot->birth;
		s->ev.flags = SCRIBE_NF_STRING | SCRIBE_NF_BELOW;
		s->ev.status = base->renamed_from ? base->renamed_from : file;
		s->ev.tgid = base->renamed_from ? base->renamed_from_birth : base->birth;
		s->ev.chain_bytes = 0;
		s->ev.string_bytes = bytes;
		bpf_probe_read_kernel(&s->text[0], bytes, &s->text[SCRIBE_NAME_MAX_BYTES]);
		if (scribe_send_text(s, bytes))
			scribe_count(p, SCRIBE_L_NAME_RETRY);
		else
			__sync_fetch_and_or(&slot->flags, SCRIBE_SF_NAME_SENT);
	}
	scribe_scratch_put(s);
	return index;
}

static __always_inline __u32 scribe_lib_find(struct scribe_thread *t, struct scribe_proc *p,
					     struct scribe_scratch *s, const struct scribe_lib_name *n,
					     __u32 lengths)
{
	struct scribe_file_key key = {.serial = p->serial};
	struct scribe_slot *slot;
	struct scribe_walk w;
	bool fresh = false;
	__u64 from;
	__u32 index;

	from = scribe_path_start(s, SCRIBE_AT_FDCWD);
	if (!from || scribe_string_excluded(s))
		return SCRIBE_SKIP_SLOT;
	scribe_walk_begin(&w, bpf_get_current_task_btf(), from);
	{
		struct dentry *dentry = w.dentry;

		key.dev = SCRIBE_GET(dentry, d_sb, s_dev);
		key.ino = SCRIBE_GET(dentry, d_inode, i_ino);
	}
	key.hash =
		((n->own ? n->own : scribe_string_hash(s, lengths & 0xffff)) * SCRIBE_MIX + n->kind) << 2 | 1;
	if (from != SCRIBE_FROM_ROOT) {
		struct scribe_chain chain;

		scribe_chain_hash(from, &chain);
		if (scribe_top_excluded(t, chain.top))
			return SCRIBE_SKIP_SLOT;
	}
	index = scribe_slot_for(p, t->proc, &key, n->kind, &fresh);
	slot = index ? scribe_slot_at(index) : 0;
	if (!slot || slot->kind != n->kind)
		return SCRIBE_NO_SLOT;
	if (!n->later && !(slot->flags & SCRIBE_SF_NAME_SENT))
		scribe_send_name(
			slot, index, s, from,
			scribe_name_string(lengths & 0xffff, (lengths & 0xffff) - (lengths >> 16), 0));
	return index;
}

/* The record of a module for a name; SCRIBE_SKIP_SLOT when it does not count, SCRIBE_NO_SLOT when lost. */
SCRIBE_GLOBAL __u32 scribe_lib_slot(struct scribe_thread *t, struct scribe_proc *p,
				    const struct scribe_lib_name *n)
{
	__u32 index = SCRIBE_NO_SLOT, lengths;
	struct scribe_scratch *s;

	if (!t || !p || !n)
		return index;
	s = scribe_scratch_take(p);
	if (s) {
		lengths = scribe_lib_read(s, n);
		if (lengths)
			index = scribe_lib_find(t, p, s, n, lengths);
		else
			scribe_count(p, SCRIBE_L_NAME_UNREADABLE);
		scribe_scratch_put(s);
	}
	if (index == SCRIBE_NO_SLOT)
		scribe_count(p, SCRIBE_L_LIB_DROPPED);
	return index;
}

#endif
