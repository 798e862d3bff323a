/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names: the dentry chain of a file as its process sees it, hashed to find the
 * record (every open) and sent as text (once a record). Leaf first, because
 * that is the way the kernel links it; the daemon turns it around.
 */
#ifndef BPF_NAME_BPF_H
#define BPF_NAME_BPF_H

#include "bpf/maps.bpf.h"

#define SCRIBE_WALK_DEPTH 64
#define SCRIBE_STRETCH 8
#define SCRIBE_MIX 0x9e3779b97f4a7c15ull

struct scribe_chain {
	__u64 hash;
	__u64 top; /* dentry of the top-level component, 0: none */
	bool detached;
};

/* One step up; false at the end of the chain. */
struct scribe_walk {
	struct dentry *dentry;
	struct vfsmount *mnt;
	struct dentry *root;
	struct vfsmount *root_mnt;
};

/* Where a walk begins: the address of a struct file, or one of these. */
#define SCRIBE_FROM_ROOT 1
#define SCRIBE_FROM_CWD 2

static __always_inline void scribe_walk_begin(struct scribe_walk *w, struct task_struct *task, __u64 from)
{
	if (from == SCRIBE_FROM_ROOT) {
		w->dentry = SCRIBE_GET(task, fs, root.dentry);
		w->mnt = SCRIBE_GET(task, fs, root.mnt);
	} else if (from == SCRIBE_FROM_CWD) {
		w->dentry = SCRIBE_GET(task, fs, pwd.dentry);
		w->mnt = SCRIBE_GET(task, fs, pwd.mnt);
	} else {
		struct file *file = SCRIBE_CAST(file, from);

		w->dentry = SCRIBE_GET(file, f_path.dentry);
		w->mnt = SCRIBE_GET(file, f_path.mnt);
	}
	w->root = SCRIBE_GET(task, fs, root.dentry);
	w->root_mnt = SCRIBE_GET(task, fs, root.mnt);
}

enum scribe_step { SCRIBE_STEP_NAME, SCRIBE_STEP_AGAIN, SCRIBE_STEP_END, SCRIBE_STEP_LOST, SCRIBE_STEP_FULL };

/* NAME: w->dentry's name is a component (caller reads it, then goes up). */
static __always_inline enum scribe_step scribe_walk_step(struct scribe_walk *w, struct dentry **ret_parent)
{
	struct dentry *dentry = w->dentry, *parent;
	struct vfsmount *mnt = w->mnt;

	if (dentry == w->root && mnt == w->root_mnt)
		return SCRIBE_STEP_END;
	if (dentry == SCRIBE_GET(mnt, mnt_root)) {
		__u64 base = (__u64)mnt - bpf_core_field_offset(struct mount, mnt);
		struct mount *m = SCRIBE_CAST(mount, base);
		__u64 up = (__u64)SCRIBE_GET(m, mnt_parent);

		if (up == base)
			return SCRIBE_STEP_LOST;
		w->dentry = SCRIBE_CAST(dentry, SCRIBE_GET(m, mnt_mountpoint));
		w->mnt = SCRIBE_CAST(vfsmount, up + bpf_core_field_offset(struct mount, mnt));
		return SCRIBE_STEP_AGAIN;
	}
	parent = SCRIBE_GET(dentry, d_parent);
	if (parent == dentry)
		return SCRIBE_STEP_LOST;
	*ret_parent = parent;
	return SCRIBE_STEP_NAME;
}

/*
 * A walk between two stretches. The kernel checks every round of a loop anew, and
 * more for each round before it: short loops in functions of their own load many
 * times faster than one long loop.
 */
struct scribe_climb {
	__u64 dentry, mnt;
	__u64 hash, top;
};

static __always_inline void scribe_climb_begin(struct scribe_climb *c, __u64 from)
{
	struct scribe_walk w;

	scribe_walk_begin(&w, bpf_get_current_task_btf(), from);
	c->dentry = (__u64)w.dentry;
	c->mnt = (__u64)w.mnt;
	c->hash = 0;
	c->top = 0;
}

static __always_inline void scribe_climb_resume(const struct scribe_climb *c, struct scribe_walk *w)
{
	struct task_struct *task = bpf_get_current_task_btf();

	w->dentry = SCRIBE_CAST(dentry, c->dentry);
	w->mnt = SCRIBE_CAST(vfsmount, c->mnt);
	w->root = SCRIBE_GET(task, fs, root.dentry);
	w->root_mnt = SCRIBE_GET(task, fs, root.mnt);
}

/* SCRIBE_STEP_AGAIN: the chain goes on. */
SCRIBE_GLOBAL int scribe_chain_hash_on(struct scribe_climb *c)
{
	struct scribe_walk w;
	__u64 hash, top;

	if (!c)
		return SCRIBE_STEP_LOST;
	scribe_climb_resume(c, &w);
	hash = c->hash;
	top = c->top;
	for (int i = 0; i < SCRIBE_STRETCH; i++) {
		struct dentry *parent = 0, *dentry_now = w.dentry;
		enum scribe_step step = scribe_walk_step(&w, &parent);

		if (step == SCRIBE_STEP_END || step == SCRIBE_STEP_LOST) {
			c->hash = hash;
			c->top = top;
			return step;
		}
		if (step == SCRIBE_STEP_AGAIN)
			continue;
		hash = (hash ^ SCRIBE_GET(dentry_now, d_name.hash_len)) * SCRIBE_MIX;
		hash ^= hash >> 32;
		top = (__u64)w.dentry;
		w.dentry = parent;
	}
	c->dentry = (__u64)w.dentry;
	c->mnt = (__u64)w.mnt;
	c->hash = hash;
	c->top = top;
	return SCRIBE_STEP_AGAIN;
}

/* Hash of the chain; the same name gives the same hash while its dentries live. */
static __always_inline int scribe_chain_hash(__u64 from, struct scribe_chain *ret)
{
	struct scribe_climb c;
	int step = SCRIBE_STEP_AGAIN;

	if (!ret)
		return 0;
	scribe_climb_begin(&c, from);
	for (int i = 0; i < SCRIBE_WALK_DEPTH / SCRIBE_STRETCH && step == SCRIBE_STEP_AGAIN; i++)
		step = scribe_chain_hash_on(&c);
	ret->detached = step != SCRIBE_STEP_END;
	ret->hash = c.hash;
	ret->top = c.top;
	return 0;
}

/* SCRIBE_STEP_AGAIN: the chain goes on; SCRIBE_STEP_FULL: there is no room for it. */
SCRIBE_GLOBAL int scribe_chain_text_on(struct scribe_climb *c, struct scribe_scratch *s)
{
	struct scribe_walk w;

	if (!c || !s)
		return SCRIBE_STEP_LOST;
	scribe_climb_resume(c, &w);
	for (int i = 0; i < SCRIBE_STRETCH; i++) {
		struct dentry *parent = 0, *dentry_now = w.dentry;
		enum scribe_step step = scribe_walk_step(&w, &parent);
		__u32 off, len;

		if (step == SCRIBE_STEP_END || step == SCRIBE_STEP_LOST)
			return step;
		if (step == SCRIBE_STEP_AGAIN)
			continue;
		off = *(volatile __u32 *)&s->off;
		len = SCRIBE_GET(dentry_now, d_name.len) & 255;
		if (off > SCRIBE_NAME_MAX_BYTES - 256)
			return SCRIBE_STEP_FULL;
		if (off) {
			s->text[off & (SCRIBE_NAME_MAX_BYTES - 1)] = '/';
			off++;
		}
		off &= SCRIBE_NAME_MAX_BYTES - 1;
		bpf_probe_read_kernel(&s->text[off], len, SCRIBE_GET(dentry_now, d_name.name));
		*(volatile __u32 *)&s->off = off + len;
		w.dentry = parent;
	}
	c->dentry = (__u64)w.dentry;
	c->mnt = (__u64)w.mnt;
	return SCRIBE_STEP_AGAIN;
}

/* Text of the chain behind s->text[s->off]; returns name flags. */
static __always_inline int scribe_chain_text(__u64 from, struct scribe_scratch *s)
{
	struct scribe_climb c;
	int step = SCRIBE_STEP_AGAIN;

	if (!s)
		return 0;
	scribe_climb_begin(&c, from);
	for (int i = 0; i < SCRIBE_WALK_DEPTH / SCRIBE_STRETCH && step == SCRIBE_STEP_AGAIN; i++)
		step = scribe_chain_text_on(&c, s);
	if (step == SCRIBE_STEP_END)
		return 0;
	return step == SCRIBE_STEP_LOST ? SCRIBE_NF_DETACHED : SCRIBE_NF_CUT;
}

/* Is everything below this top-level dentry excluded? The last answer is kept. */
SCRIBE_GLOBAL int scribe_top_excluded(struct scribe_thread *t, __u64 top)
{
	struct scribe_excl_key key = {};
	struct dentry *dentry;
	__u64 name;

	if (!t || !top)
		return 0;
	dentry = SCRIBE_CAST(dentry, top);
	name = SCRIBE_GET(dentry, d_name.hash_len);
	if (t->top == top && t->top_name == name)
		return t->top_excluded;
	t->top = top;
	t->top_name = name;
	bpf_probe_read_kernel_str(key.name, sizeof(key.name), SCRIBE_GET(dentry, d_name.name));
	/* probe_read_str leaves what follows the NUL as it was: zero. */
	t->top_excluded = bpf_map_lookup_elem(&scribe_excl, &key) != 0;
	return t->top_excluded;
}

/* Without the time: names need none. */
static __always_inline void scribe_event_head(struct scribe_event *ev, __u32 type,
					      const struct scribe_proc *p, __u32 index)
{
	__builtin_memset(ev, 0, sizeof(*ev));
	ev->type = type;
	ev->serial = p->serial;
	ev->proc = index;
	ev->tgid = p->tgid;
	ev->uid = p->uid;
}

static __always_inline void scribe_event_init(struct scribe_event *ev, __u32 type,
					      const struct scribe_proc *p, __u32 index)
{
	scribe_event_head(ev, type, p, index);
	ev->when_ns = bpf_ktime_get_ns();
}

/*
 * Names leave part of the ring to what cannot be sent again (bpf/wire.h): a job
 * that meets files without end takes no other job's processes away.
 */
static __always_inline bool scribe_names_full(void)
{
	__u64 room = bpf_ringbuf_query(&scribe_events, BPF_RB_RING_SIZE);

	room -= room > 2 * SCRIBE_RING_OTHERS ? SCRIBE_RING_OTHERS : room / 2;
	return bpf_ringbuf_query(&scribe_events, BPF_RB_AVAIL_DATA) > room;
}

/* Send scratch's event with `bytes` of text. Names wake nobody: they are polled. */
static __always_inline int scribe_send_text(struct scribe_scratch *s, __u32 bytes)
{
	if (s->ev.type == SCRIBE_EV_NAME && scribe_names_full())
		return -1;
	s->ev.text_bytes = bytes;
	bytes &= 16383;
	if (bytes > sizeof(s->text))
		bytes = sizeof(s->text);
	return bpf_ringbuf_output(&scribe_events, &s->ev, sizeof(s->ev) + bytes, BPF_RB_NO_WAKEUP);
}

/* The slot's name, from a file's own dentry. Tried again later when it fails. */
SCRIBE_GLOBAL int scribe_send_file_name(struct scribe_slot *slot, __u32 index, struct scribe_proc *p,
					__u64 file_addr)
{
	struct scribe_scratch *s;
	__u32 bytes;
	int ret;

	if (!slot || !p)
		return -1;
	s = scribe_scratch_take(p);
	if (!s)
		return -1;
	*(volatile __u32 *)&s->off = 0;
	scribe_event_head(&s->ev, SCRIBE_EV_NAME, p, slot->proc);
	s->ev.slot = index;
	s->ev.birth = slot->birth;
	s->ev.flags = scribe_chain_text(file_addr, s);
	if (s->ev.flags & SCRIBE_NF_CUT)
		scribe_count(p, SCRIBE_L_NAME_CUT);
	if (slot->flags & SCRIBE_SF_UNLINKED)
		s->ev.flags |= SCRIBE_NF_UNLINKED;
	bytes = *(volatile __u32 *)&s->off;
	s->ev.chain_bytes = bytes;
	ret = scribe_send_text(s, bytes);
	scribe_scratch_put(s);
	if (ret) {
		scribe_count(p, SCRIBE_L_NAME_RETRY);
		return -1;
	}
	__sync_fetch_and_or(&slot->flags, SCRIBE_SF_NAME_SENT);
	return 0;
}

#endif
