/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls on paths. There is no struct file to look at: the record is found by
 * (starting directory, string), and the daemon makes the name canonical.
 */
#ifndef BPF_KERN_SYSCALL_PATH_BPF_H
#define BPF_KERN_SYSCALL_PATH_BPF_H

#include "bpf/kern/syscall_fd.bpf.h"

#define SCRIBE_AT_FDCWD (-100)
#define SCRIBE_AT_NOFOLLOW 0x100
#define SCRIBE_AT_REMOVEDIR 0x200
#define SCRIBE_AT_FOLLOW 0x400
#define SCRIBE_AT_EMPTY_PATH 0x1000
#define SCRIBE_CLOSE_RANGE_CLOEXEC 4
#define SCRIBE_CLOSE_RANGE_MOST 4096
#ifdef __TARGET_ARCH_x86
#define SCRIBE_ST_MODE_AT 24
#else
#define SCRIBE_ST_MODE_AT 16
#endif
#define SCRIBE_ST_BLKSIZE_AT 56 /* the same on x86-64 and arm64 */
#define SCRIBE_STX_MODE_AT 28
#define SCRIBE_STX_BLKSIZE_AT 4
#define SCRIBE_NAME_WORDS (SCRIBE_NAME_MAX_BYTES / 8)
#define SCRIBE_HASH_STRETCH 8

/* A stretch of a string (see scribe_chain_hash_on for why): its next `n` words from `word` on. */
SCRIBE_GLOBAL __u64 scribe_string_hash_on(struct scribe_scratch *s, __u32 word, __u32 n, __u64 hash)
{
	if (!s)
		return 0;
	for (__u32 i = 0; i < SCRIBE_HASH_STRETCH && i < n; i++) {
		__u32 at = ((word + i) & (SCRIBE_NAME_WORDS - 1)) * 8;

		hash = (hash ^ *(__u64 *)&s->text[SCRIBE_NAME_MAX_BYTES + at]) * SCRIBE_MIX;
		hash ^= hash >> 29;
	}
	return hash;
}

/* The user string in the upper half of the scratch: hash of its `bytes`. */
static __always_inline __u64 scribe_string_hash(struct scribe_scratch *s, __u32 bytes)
{
	__u32 words = bytes / 8, at = (words & (SCRIBE_NAME_WORDS - 1)) * 8;
	__u64 hash = bytes;

	for (__u32 i = 0; i < SCRIBE_NAME_WORDS && i < words; i += SCRIBE_HASH_STRETCH)
		hash = scribe_string_hash_on(s, i, words - i, hash);
	if (bytes & 7) {
		__u64 last = *(__u64 *)&s->text[SCRIBE_NAME_MAX_BYTES + at];

		hash = (hash ^ (last & ((1ull << ((bytes & 7) * 8)) - 1))) * SCRIBE_MIX;
		hash ^= hash >> 29;
	}
	return hash;
}

/* Is the string absolute and below an excluded top-level name? */
SCRIBE_GLOBAL int scribe_string_excluded(struct scribe_scratch *s)
{
	struct scribe_excl_key key = {};

	if (!s || s->text[SCRIBE_NAME_MAX_BYTES] != '/')
		return 0;
	for (int i = 0; i < (int)sizeof(key.name) - 1; i++) {
		char c = s->text[SCRIBE_NAME_MAX_BYTES + 1 + i];

		if (c == '/' || c == 0)
			break;
		key.name[i] = c;
	}
	return bpf_map_lookup_elem(&scribe_excl, &key) != 0;
}

/* Where the path starts, as a walk's beginning; 0: the descriptor is none. */
static __always_inline __u64 scribe_path_start(struct scribe_scratch *s, __s64 dir)
{
	if (s->text[SCRIBE_NAME_MAX_BYTES] == '/')
		return SCRIBE_FROM_ROOT;
	if ((__s32)dir == SCRIBE_AT_FDCWD)
		return SCRIBE_FROM_CWD;
	return scribe_fd_file(bpf_get_current_task_btf(), (__u32)dir);
}

/* Device and inode of where a path starts into t->key; false: it is below an excluded name. */
static __always_inline bool scribe_start_key(struct scribe_thread *t, __u64 from)
{
	struct dentry *dentry;

	scribe_climb_begin(&t->climb, from);
	dentry = SCRIBE_CAST(dentry, t->climb.dentry);
	t->key.proc_id = t->proc_id;
	t->key.dev = SCRIBE_GET(dentry, d_sb, s_dev);
	t->key.ino = SCRIBE_GET(dentry, d_inode, i_ino);
	if (from == SCRIBE_FROM_ROOT)
		return true;
	scribe_chain_hash(t, from);
	return !scribe_top_excluded(t, t->climb.top);
}

/* What scribe_send_name is to send: bytes of the string, of them what is no path, SCRIBE_NF_NOFOLLOW or 0. */
static __always_inline __u64 scribe_name_string(__u32 bytes, __u32 suffix, __u32 flags)
{
	return bytes | (__u64)suffix << 16 | (__u64)flags << 32;
}

/* Send chain and string of a record that is named by a string of the program. */
SCRIBE_GLOBAL int scribe_send_name(struct scribe_slot *slot, __u32 index, struct scribe_scratch *s, __u64 from,
				   __u64 string)
{
	__u32 bytes = string & 0xffff, suffix = (string >> 16) & 0xffff, off;
	struct scribe_proc *p;

	if (!slot || !s)
		return -1;
	p = scribe_proc_at(slot->proc);
	if (!p)
		return -1;
	*(volatile __u32 *)&s->off = 0;
	scribe_event_head(&s->ev, SCRIBE_EV_NAME, p, slot->proc);
	s->ev.slot = index;
	s->ev.generation = slot->generation;
	s->ev.flags = scribe_chain_text(from, s) | SCRIBE_NF_STRING;
	s->ev.flags |= string >> 32;
	s->ev.status = suffix;
	if (suffix)
		s->ev.flags |= SCRIBE_NF_SUFFIX;
	off = *(volatile __u32 *)&s->off;
	if (off > SCRIBE_NAME_MAX_BYTES)
		off = SCRIBE_NAME_MAX_BYTES;
	if (bytes >= SCRIBE_NAME_MAX_BYTES)
		bytes = SCRIBE_NAME_MAX_BYTES - 1;
	s->ev.chain_bytes = off;
	s->ev.string_bytes = bytes;
	bpf_probe_read_kernel(&s->text[off], bytes, &s->text[SCRIBE_NAME_MAX_BYTES]);
	if (scribe_send_text(s, off + bytes)) {
		scribe_count(p, SCRIBE_L_NAME_RETRY);
		return -1;
	}
	__sync_fetch_and_or(&slot->flags, SCRIBE_SF_NAME_SENT);
	return 0;
}

static __always_inline __u32 scribe_path_find(struct scribe_thread *t, struct scribe_proc *p,
					      struct scribe_scratch *s, const struct scribe_path_arg *a,
					      __u32 bytes)
{
	struct scribe_slot *slot;
	__u32 index;
	__u64 from;
	bool fresh;

	from = scribe_path_start(s, a->dir);
	if (!from || scribe_string_excluded(s))
		return SCRIBE_SKIP_SLOT;
	if (!scribe_start_key(t, from))
		return SCRIBE_SKIP_SLOT;
	/* Bit 1: whether a last link is followed. */
	t->key.hash = (scribe_string_hash(s, bytes) << 2) | (a->nofollow ? 2 : 0) | SCRIBE_INDEX_BY_STRING;
	index = scribe_slot_for(p, t->proc, &t->key, SCRIBE_KIND_PATH, &fresh);
	slot = index ? scribe_slot_at(index) : 0;
	if (slot && slot->kind == SCRIBE_KIND_PATH && !(slot->flags & SCRIBE_SF_NAME_SENT))
		scribe_send_name(slot, index, s, from,
				 scribe_name_string(bytes, 0, a->nofollow ? SCRIBE_NF_NOFOLLOW : 0));
	return index;
}

/* The record of a path argument; SCRIBE_SKIP_SLOT when it does not count. */
SCRIBE_GLOBAL __u32 scribe_path_slot(struct scribe_thread *t, struct scribe_proc *p,
				     const struct scribe_path_arg *a)
{
	__u32 index = SCRIBE_NO_SLOT;
	struct scribe_scratch *s;
	long bytes;

	if (!t || !p || !a)
		return index;
	s = scribe_scratch_take(p);
	if (!s)
		return scribe_catchall(p, t->proc);
	bytes = bpf_probe_read_user_str(&s->text[SCRIBE_NAME_MAX_BYTES], SCRIBE_NAME_MAX_BYTES,
					(void *)a->string);
	if (bytes <= 1) {
		scribe_count(p, SCRIBE_L_NAME_UNREADABLE);
		index = scribe_catchall(p, t->proc);
	} else {
		index = scribe_path_find(t, p, s, a, (bytes - 1) & 0xffff);
	}
	scribe_scratch_put(s);
	return index;
}

/* t->meta on the path's record. */
SCRIBE_GLOBAL __u32 scribe_path_meta(struct scribe_thread *t, struct scribe_proc *p,
				     const struct scribe_path_arg *a)
{
	struct scribe_slot *s;
	__u32 index;

	if (!t || !p || !a)
		return SCRIBE_SKIP_SLOT;
	index = scribe_path_slot(t, p, a);
	if (index == SCRIBE_SKIP_SLOT) {
		scribe_count(p, SCRIBE_L_EXCLUDED);
		return index;
	}
	s = index ? scribe_slot_at(index) : 0;
	if (s && s->align == 0 && t->meta.what == SCRIBE_META_STAT)
		s->align = t->path_align;
	scribe_meta_on(t, p, SCRIBE_AT(index, s ? s->generation : 0), 0);
	return index;
}

/* Two paths; the target's record remembers where the file came from. */
static __always_inline int scribe_rename(struct scribe_thread *t, struct scribe_proc *p)
{
	struct scribe_slot *old_slot, *target;
	__u32 a, b;

	scribe_meta_set(t, SCRIBE_META_RENAME_SOURCE, SCRIBE_EXT_COUNT);
	a = scribe_path_meta(t, p, &t->path.a);
	scribe_meta_set(t, SCRIBE_META_RENAME_TARGET, SCRIBE_EXT_COUNT);
	b = scribe_path_meta(t, p, &t->path.b);
	if (a == SCRIBE_SKIP_SLOT || b == SCRIBE_SKIP_SLOT)
		return 0;
	old_slot = scribe_slot_at(a);
	target = scribe_slot_at(b);
	if (old_slot && target && old_slot->kind == SCRIBE_KIND_PATH && target->kind == SCRIBE_KIND_PATH &&
	    __sync_val_compare_and_swap(&target->renamed_from, 0, a) == 0)
		target->renamed_from_generation = old_slot->generation;
	return 0;
}

/* Was it a regular file that the stat call has described? */
static __always_inline bool scribe_stat_counts(struct scribe_proc *p, __u64 buffer, bool statx)
{
	__u32 mode = 0;
	__u16 mode16 = 0;

	if (statx) {
		if (bpf_probe_read_user(&mode16, sizeof(mode16), (void *)(buffer + SCRIBE_STX_MODE_AT)))
			return false;
		mode = mode16;
	} else if (bpf_probe_read_user(&mode, sizeof(mode), (void *)(buffer + SCRIBE_ST_MODE_AT))) {
		return false;
	}
	return scribe_counts(p, mode, false);
}

#define SCRIBE_ARG(n) (t->arg[(n) - 1])

/* Where each call has its paths, and what it counts. False: no path call. */
static __always_inline bool scribe_path_meaning(struct scribe_thread *t, __u32 class, struct scribe_path_call *c)
{
	c->a.dir = SCRIBE_AT_FDCWD;
	c->a.string = SCRIBE_ARG(1);
	c->ext = SCRIBE_EXT_COUNT;
	switch (class) {
	case SCRIBE_CLASS_LSTAT:
		c->a.nofollow = 1; /* fallthrough */
	case SCRIBE_CLASS_STAT:
		c->stat_buffer = SCRIBE_ARG(2);
		return true;
	case SCRIBE_CLASS_FSTATAT:
		c->a.dir = (__s32)SCRIBE_ARG(1);
		c->a.string = SCRIBE_ARG(2);
		c->a.nofollow = (SCRIBE_ARG(4) & SCRIBE_AT_NOFOLLOW) != 0;
		c->stat_buffer = SCRIBE_ARG(3);
		return true;
	case SCRIBE_CLASS_STATX:
		c->a.dir = (__s32)SCRIBE_ARG(1);
		c->a.string = SCRIBE_ARG(2);
		c->a.nofollow = (SCRIBE_ARG(3) & SCRIBE_AT_NOFOLLOW) != 0;
		c->stat_buffer = SCRIBE_ARG(5);
		c->statx = 1;
		return true;
	case SCRIBE_CLASS_ACCESS:
		c->ext = SCRIBE_EXT_ACCESSES;
		return true;
	case SCRIBE_CLASS_FACCESSAT:
		c->a.dir = (__s32)SCRIBE_ARG(1);
		c->a.string = SCRIBE_ARG(2);
		c->ext = SCRIBE_EXT_ACCESSES;
		return true;
	case SCRIBE_CLASS_READLINK:
		c->ext = SCRIBE_EXT_READLINKS;
		break;
	case SCRIBE_CLASS_READLINKAT:
		c->a.dir = (__s32)SCRIBE_ARG(1);
		c->a.string = SCRIBE_ARG(2);
		c->ext = SCRIBE_EXT_READLINKS;
		break;
	case SCRIBE_CLASS_UNLINK:
		c->ext = SCRIBE_EXT_UNLINKS;
		break;
	case SCRIBE_CLASS_UNLINKAT:
		c->a.dir = (__s32)SCRIBE_ARG(1);
		c->a.string = SCRIBE_ARG(2);
		c->ext = SCRIBE_ARG(3) & SCRIBE_AT_REMOVEDIR ? SCRIBE_EXT_RMDIRS : SCRIBE_EXT_UNLINKS;
		break;
	case SCRIBE_CLASS_MKDIR:
		c->ext = SCRIBE_EXT_MKDIRS;
		break;
	case SCRIBE_CLASS_MKDIRAT:
		c->a.dir = (__s32)SCRIBE_ARG(1);
		c->a.string = SCRIBE_ARG(2);
		c->ext = SCRIBE_EXT_MKDIRS;
		break;
	case SCRIBE_CLASS_RMDIR:
		c->ext = SCRIBE_EXT_RMDIRS;
		break;
	case SCRIBE_CLASS_RENAME:
		c->b.dir = SCRIBE_AT_FDCWD;
		c->b.string = SCRIBE_ARG(2);
		c->two = 1;
		break;
	case SCRIBE_CLASS_RENAMEAT:
		c->a.dir = (__s32)SCRIBE_ARG(1);
		c->a.string = SCRIBE_ARG(2);
		c->b.dir = (__s32)SCRIBE_ARG(3);
		c->b.string = SCRIBE_ARG(4);
		c->two = 1;
		break;
	case SCRIBE_CLASS_LINK:
	case SCRIBE_CLASS_SYMLINK:
		c->a.string = SCRIBE_ARG(2);
		c->ext = class == SCRIBE_CLASS_LINK ? SCRIBE_EXT_LINKS : SCRIBE_EXT_SYMLINKS;
		break;
	case SCRIBE_CLASS_LINKAT:
		c->a.dir = (__s32)SCRIBE_ARG(3);
		c->a.string = SCRIBE_ARG(4);
		c->ext = SCRIBE_EXT_LINKS;
		break;
	case SCRIBE_CLASS_SYMLINKAT:
		c->a.dir = (__s32)SCRIBE_ARG(2);
		c->a.string = SCRIBE_ARG(3);
		c->ext = SCRIBE_EXT_SYMLINKS;
		break;
	case SCRIBE_CLASS_TRUNCATE:
		c->ext = SCRIBE_EXT_TRUNCATES;
		return true;
	case SCRIBE_CLASS_STATFS:
		c->ext = SCRIBE_EXT_STATFS;
		return true;
	case SCRIBE_CLASS_XATTR_READ:
		c->ext = SCRIBE_EXT_XATTR_READS;
		return true;
	case SCRIBE_CLASS_LXATTR_READ:
		c->ext = SCRIBE_EXT_XATTR_READS;
		break;
	case SCRIBE_CLASS_XATTR_WRITE:
		c->ext = SCRIBE_EXT_XATTR_WRITES;
		return true;
	case SCRIBE_CLASS_LXATTR_WRITE:
		c->ext = SCRIBE_EXT_XATTR_WRITES;
		break;
	default:
		return false;
	}
	c->a.nofollow = 1;
	c->b.nofollow = 1;
	return true;
}

SCRIBE_GLOBAL int scribe_path_exit(struct scribe_thread *t, struct scribe_proc *p, __u32 class, __s64 ret)
{
	struct scribe_path_call *c;

	if (!t || !p)
		return 0;
	if (ret < 0) {
		scribe_count(p, SCRIBE_L_FAILED_PATHS);
		return 0;
	}
	c = &t->path;
	__builtin_memset(c, 0, sizeof(*c));
	if (!scribe_path_meaning(t, class, c))
		return 0;
	if (c->two) {
		scribe_rename(t, p);
		return 0;
	}
	if (c->stat_buffer)
		bpf_probe_read_user(&t->path_align, sizeof(t->path_align),
				    (void *)(c->stat_buffer +
					     (c->statx ? SCRIBE_STX_BLKSIZE_AT : SCRIBE_ST_BLKSIZE_AT)));
	if (c->stat_buffer && !scribe_stat_counts(p, c->stat_buffer, c->statx)) {
		scribe_count(p, SCRIBE_L_NOT_REGULAR);
		return 0;
	}
	scribe_meta_set(t, c->stat_buffer ? SCRIBE_META_STAT : SCRIBE_META_EXT, c->ext);
	scribe_path_meta(t, p, &c->a);
	return 0;
}

/* ---- close_range: every file in the range is closed ---- */

/* 1: no descriptor comes behind this one. */
SCRIBE_GLOBAL int scribe_close_one(struct scribe_thread *t, struct scribe_proc *p, __u32 fd)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 slot;
	__u64 file;

	if (!t || !p)
		return 1;
	file = scribe_fd_file(task, fd);
	if (!file)
		return fd >= task->files->fdt->max_fds;
	slot = scribe_resolve(t, p, file, false);
	if (slot != SCRIBE_SKIP_SLOT && slot != SCRIBE_NO_SLOT)
		scribe_meta_on(t, p, SCRIBE_AT(slot, t->c_generation), file);
	return 0;
}

SCRIBE_GLOBAL int scribe_close_some(struct scribe_thread *t, struct scribe_proc *p, __u32 first, __u32 last)
{
	for (__u32 i = 0; i < SCRIBE_ROUND; i++) {
		if (first + i > last || first + i < first || scribe_close_one(t, p, first + i))
			return 1;
	}
	return 0;
}

SCRIBE_GLOBAL int scribe_close_range(struct scribe_thread *t, struct scribe_proc *p, __u32 first, __u32 last)
{
	if (!t || !p)
		return 0;
	t->op.start_ns = t->op.end_ns = bpf_ktime_get_ns();
	scribe_meta_set(t, SCRIBE_META_CLOSE, SCRIBE_EXT_CLOSES);
	for (__u32 i = 0; i < SCRIBE_CLOSE_RANGE_MOST / SCRIBE_ROUND; i++) {
		if (scribe_close_some(t, p, first + i * SCRIBE_ROUND, last))
			break;
	}
	return 0;
}

/* ---- msync: the file behind the mapping ---- */
static long scribe_vma_file(struct task_struct *task, struct vm_area_struct *vma, void *ctx)
{
	/* Read as a number: it is passed on as one. */
	bpf_probe_read_kernel(ctx, sizeof(__u64), &vma->vm_file);
	return 0;
}

SCRIBE_GLOBAL int scribe_msync(struct scribe_thread *t, struct scribe_proc *p, __u64 addr)
{
	__u32 slot;
	__u64 file = 0;

	if (!t || !p)
		return 0;
	/* Linux 5.17, 7c7e3d31e785; before that whose mapping it is cannot be told. */
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_find_vma))
		bpf_find_vma(bpf_get_current_task_btf(), addr, scribe_vma_file, &file, 0);
	if (!file) {
		scribe_count(p, SCRIBE_L_NAME_UNREADABLE);
		return 0;
	}
	slot = scribe_resolve(t, p, file, false);
	scribe_meta_set(t, SCRIBE_META_EXT, SCRIBE_EXT_MSYNCS);
	if (slot != SCRIBE_SKIP_SLOT && slot != SCRIBE_NO_SLOT)
		scribe_meta_on(t, p, SCRIBE_AT(slot, t->c_generation), file);
	return 0;
}

/*
 * statx(fd, "", AT_EMPTY_PATH) and the like are calls on the descriptor. The
 * string may not be in memory before the kernel itself has read it.
 */
static __always_inline bool scribe_may_be_empty(struct scribe_thread *t, __u32 class)
{
	return ((class == SCRIBE_CLASS_STATX ? SCRIBE_ARG(3) : SCRIBE_ARG(4)) & SCRIBE_AT_EMPTY_PATH) != 0;
}

static __always_inline bool scribe_is_empty(struct scribe_thread *t)
{
	char c = 0;

	return bpf_probe_read_user(&c, 1, (void *)SCRIBE_ARG(2)) || c == 0;
}

#endif
