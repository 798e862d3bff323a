/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names: dentry chains within the process's root, hashed at every open, sent as text once per record. Last
 * component first, as the kernel links it.
 */
#ifndef BPF_KERN_DENTRY_PATH_BPF_H
#define BPF_KERN_DENTRY_PATH_BPF_H

#include "bpf/kern/maps.bpf.h"

#define SCRIBE_WALK_DEPTH 64
#define SCRIBE_STRETCH    4
#define SCRIBE_ROUND      16u
#define SCRIBE_MIX        0x9e3779b97f4a7c15ull

/* Start of a walk: the address of a struct file, or one of these. */
#define SCRIBE_FROM_ROOT 1
#define SCRIBE_FROM_CWD  2

SCRIBE_GLOBAL int scribe_climb_begin(struct scribe_climb *c, __u64 from)
{
	struct fs_struct *fs = bpf_get_current_task_btf()->fs;

	if (!c)
		return 0;
	c->root = (__u64)fs->root.dentry;
	c->root_mnt = (__u64)fs->root.mnt;
	if (from == SCRIBE_FROM_ROOT) {
		c->dentry = c->root;
		c->mnt = c->root_mnt;
	} else if (from == SCRIBE_FROM_CWD) {
		c->dentry = (__u64)fs->pwd.dentry;
		c->mnt = (__u64)fs->pwd.mnt;
	} else {
		struct file *file = SCRIBE_CAST(file, from);

		c->dentry = (__u64)SCRIBE_GET(file, f_path.dentry);
		c->mnt = (__u64)SCRIBE_GET(file, f_path.mnt);
	}
	c->hash = 0;
	c->top = 0;
	return 0;
}

enum scribe_step { SCRIBE_STEP_NAME, SCRIBE_STEP_AGAIN, SCRIBE_STEP_END, SCRIBE_STEP_LOST, SCRIBE_STEP_FULL };

/*
 * NAME: *at is a component; the caller reads it and continues at *ret_parent. AGAIN: *at was a mount's root and
 * is now its mount point.
 */
static __always_inline enum scribe_step scribe_climb_step(const struct scribe_climb *c, __u64 *at, __u64 *mnt,
							  __u64 *ret_parent)
{
	struct vfsmount *vfs = SCRIBE_CAST(vfsmount, *mnt);
	struct dentry *dentry;

	if (*at == c->root && *mnt == c->root_mnt)
		return SCRIBE_STEP_END;
	if (*at == (__u64)SCRIBE_GET(vfs, mnt_root)) {
		__u64 base = *mnt - bpf_core_field_offset(struct mount, mnt);
		struct mount *m = SCRIBE_CAST(mount, base);
		__u64 up = (__u64)SCRIBE_GET(m, mnt_parent);

		if (up == base)
			return SCRIBE_STEP_LOST;
		*at = (__u64)SCRIBE_GET(m, mnt_mountpoint);
		*mnt = up + bpf_core_field_offset(struct mount, mnt);
		return SCRIBE_STEP_AGAIN;
	}
	dentry = SCRIBE_CAST(dentry, *at);
	*ret_parent = (__u64)SCRIBE_GET(dentry, d_parent);
	return *ret_parent == *at ? SCRIBE_STEP_LOST : SCRIBE_STEP_NAME;
}

/*
 * Short loops in separate functions load many times faster: the verifier checks each iteration anew.
 * SCRIBE_STEP_AGAIN: not finished.
 */
SCRIBE_GLOBAL int scribe_chain_hash_on(struct scribe_climb *c)
{
	__u64 at, mnt;

	if (!c)
		return SCRIBE_STEP_LOST;
	at = c->dentry;
	mnt = c->mnt;
	for (int i = 0; i < SCRIBE_STRETCH; i++) {
		__u64 parent = 0, hash, here = at;
		enum scribe_step step = scribe_climb_step(c, &at, &mnt, &parent);
		struct dentry *dentry;

		if (step == SCRIBE_STEP_END || step == SCRIBE_STEP_LOST)
			return step;
		if (step == SCRIBE_STEP_AGAIN)
			continue;
		dentry = SCRIBE_CAST(dentry, here);
		hash = (*(volatile __u64 *)&c->hash ^ SCRIBE_GET(dentry, d_name.hash_len)) * SCRIBE_MIX;
		*(volatile __u64 *)&c->hash = hash ^ hash >> 32;
		*(volatile __u64 *)&c->top = here;
		at = parent;
	}
	c->dentry = at;
	c->mnt = mnt;
	return SCRIBE_STEP_AGAIN;
}

/* Into t->climb. Equal names have equal hashes while their dentries live. Not below the root: no top. */
static __always_inline void scribe_chain_hash(struct scribe_thread *t, __u64 from)
{
	int step = SCRIBE_STEP_AGAIN;

	scribe_climb_begin(&t->climb, from);
	for (int i = 0; i < SCRIBE_WALK_DEPTH / SCRIBE_STRETCH && step == SCRIBE_STEP_AGAIN; i++)
		step = scribe_chain_hash_on(&t->climb);
	if (step != SCRIBE_STEP_END)
		t->climb.top = 0;
}

SCRIBE_GLOBAL int scribe_chain_text_on(struct scribe_scratch *s)
{
	__u64 at, mnt;

	if (!s)
		return SCRIBE_STEP_LOST;
	at = s->climb.dentry;
	mnt = s->climb.mnt;
	for (int i = 0; i < SCRIBE_STRETCH; i++) {
		__u64 parent = 0, here = at;
		enum scribe_step step = scribe_climb_step(&s->climb, &at, &mnt, &parent);
		struct dentry *dentry;
		__u32 off, len;

		if (step == SCRIBE_STEP_END || step == SCRIBE_STEP_LOST)
			return step;
		if (step == SCRIBE_STEP_AGAIN)
			continue;
		dentry = SCRIBE_CAST(dentry, here);
		off = *(volatile __u32 *)&s->off;
		len = SCRIBE_GET(dentry, d_name.len) & 255;
		if (off > SCRIBE_NAME_MAX_BYTES - 256)
			return SCRIBE_STEP_FULL;
		if (off) {
			s->text[off & (SCRIBE_NAME_MAX_BYTES - 1)] = '/';
			off++;
		}
		off &= SCRIBE_NAME_MAX_BYTES - 1;
		bpf_probe_read_kernel(&s->text[off], len, SCRIBE_GET(dentry, d_name.name));
		*(volatile __u32 *)&s->off = off + len;
		at = parent;
	}
	s->climb.dentry = at;
	s->climb.mnt = mnt;
	return SCRIBE_STEP_AGAIN;
}

/* Appends to s->text at s->off; returns name flags. */
static __always_inline int scribe_chain_text(__u64 from, struct scribe_scratch *s)
{
	int step = SCRIBE_STEP_AGAIN;

	scribe_climb_begin(&s->climb, from);
	for (int i = 0; i < SCRIBE_WALK_DEPTH / SCRIBE_STRETCH && step == SCRIBE_STEP_AGAIN; i++)
		step = scribe_chain_text_on(s);
	if (step == SCRIBE_STEP_END)
		return 0;
	return step == SCRIBE_STEP_LOST ? SCRIBE_NF_DETACHED : SCRIBE_NF_CUT;
}

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
	/* probe_read_str does not write after the NUL: the key stays zero-filled */
	t->top_excluded = bpf_map_lookup_elem(&scribe_excl, &key) != 0;
	return t->top_excluded;
}

/* Without a time, which names do not need. */
static __always_inline void scribe_event_head(struct scribe_event *ev, __u32 type, const struct scribe_proc *p,
					      __u32 index)
{
	__builtin_memset(ev, 0, sizeof(*ev));
	ev->type = type;
	ev->proc_id = p->proc_id;
	ev->proc = index;
	ev->tgid = p->tgid;
}

static __always_inline void scribe_event_init(struct scribe_event *ev, __u32 type, const struct scribe_proc *p,
					      __u32 index)
{
	scribe_event_head(ev, type, p, index);
	ev->when_ns = bpf_ktime_get_ns();
}

/* The daemon polls the ring, unless it sleeps. */
static __always_inline __u64 scribe_wakes(void)
{
	struct scribe_ctl *ctl = scribe_ctl_get();

	if (!ctl || !ctl->asleep)
		return BPF_RB_NO_WAKEUP;
	ctl->asleep = 0;
	return BPF_RB_FORCE_WAKEUP;
}

/*
 * Names leave part of the ring to events that cannot be sent again (bpf/wire.h), so that a job with endless
 * files costs others no processes. From half of their part on they sometimes wake the daemon.
 */
#define SCRIBE_NAMES_NO_ROOM (-1)
#define SCRIBE_NAMES_WAKE    0x1f00ull /* about one name in thirty */

static __always_inline __s64 scribe_names_flags(void)
{
	__u64 capacity = bpf_ringbuf_query(&scribe_events, BPF_RB_RING_SIZE);
	__u64 used = bpf_ringbuf_query(&scribe_events, BPF_RB_AVAIL_DATA);

	capacity -= capacity > 2 * SCRIBE_RING_OTHERS ? SCRIBE_RING_OTHERS : capacity / 2;
	if (used > capacity)
		return SCRIBE_NAMES_NO_ROOM;
	return used > capacity / 2 && !(used & SCRIBE_NAMES_WAKE) ? BPF_RB_FORCE_WAKEUP : (__s64)scribe_wakes();
}

static __always_inline int scribe_send_text(struct scribe_scratch *s, __u32 bytes)
{
	__s64 flags = s->ev.type == SCRIBE_EV_NAME || s->ev.type == SCRIBE_EV_LINK ? scribe_names_flags()
										   : (__s64)scribe_wakes();

	if (flags < 0)
		return -1;
	if (s->ev.type == SCRIBE_EV_NAME && s->ev.name.flags & SCRIBE_NF_WANTED)
		flags = BPF_RB_FORCE_WAKEUP;
	s->ev.text_bytes = bytes;
	bytes &= 16383;
	if (bytes > sizeof(s->text))
		bytes = sizeof(s->text);
	return bpf_ringbuf_output(&scribe_events, &s->ev, sizeof(s->ev) + bytes, flags);
}

SCRIBE_GLOBAL int scribe_send_file_name(struct scribe_slot *slot, __u32 index, struct scribe_proc *p, __u64 file_addr)
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
	s->ev.name.slot = index;
	s->ev.name.generation = slot->generation;
	s->ev.name.flags = scribe_chain_text(file_addr, s);
	if (s->ev.name.flags & SCRIBE_NF_CUT)
		scribe_count(p, SCRIBE_L_NAME_CUT);
	if (slot->flags & SCRIBE_SF_UNLINKED)
		s->ev.name.flags |= SCRIBE_NF_UNLINKED;
	bytes = *(volatile __u32 *)&s->off;
	s->ev.name.chain_bytes = bytes;
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
