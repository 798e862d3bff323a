/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls on paths. Without a struct file the record is found by (starting directory, string); the daemon makes
 * the name canonical.
 */
#ifndef BPF_KERN_SYSCALL_PATH_BPF_H
#define BPF_KERN_SYSCALL_PATH_BPF_H

#include "bpf/kern/copies.bpf.h"
#include "bpf/kern/path_record.bpf.h"
#include "bpf/kern/proc_path.bpf.h"

#define SCRIBE_AT_NOFOLLOW     0x100
#define SCRIBE_AT_REMOVEDIR    0x200
#define SCRIBE_AT_FOLLOW       0x400
#define SCRIBE_AT_EMPTY_PATH   0x1000
#define SCRIBE_RENAME_EXCHANGE 2
#ifdef __TARGET_ARCH_x86
#define SCRIBE_ST_MODE_AT 24
#else
#define SCRIBE_ST_MODE_AT 16
#endif
#define SCRIBE_ST_BLKSIZE_AT  56 /* on x86-64 and arm64 */
#define SCRIBE_STX_MODE_AT    28
#define SCRIBE_STX_BLKSIZE_AT 4

/* By thread: paths overwritten by their call (scribe_path_keep). */
struct scribe_kept_path {
	char text[SCRIBE_NAME_MAX_BYTES];
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1024);
	__type(key, __u64);
	__type(value, struct scribe_kept_path);
} scribe_kept SEC(".maps");

/* A path not in memory yet is read at return, as usual. */
SCRIBE_GLOBAL int scribe_path_keep_near(struct scribe_thread *t, struct scribe_proc *p, __u64 path, __u64 buffer)
{
	__u64 key = bpf_get_current_pid_tgid();
	struct scribe_scratch *s;
	long n;

	if (!t || !p || !buffer)
		return 0;
	s = scribe_scratch_take(p);
	if (!s)
		return 0;
	n = bpf_probe_read_user_str(s->text, SCRIBE_NAME_MAX_BYTES, (void *)path);
	if (n > 0 && buffer < path + n) {
		t->path_kept = path;
		bpf_map_update_elem(&scribe_kept, &key, s->text, BPF_ANY);
	}
	scribe_scratch_put(s);
	return 0;
}

static __always_inline void scribe_path_keep(struct scribe_thread *t, struct scribe_proc *p, __u64 path, __u64 buffer,
					     __u64 bytes)
{
	if (buffer < path + SCRIBE_NAME_MAX_BYTES && buffer + bytes > path)
		scribe_path_keep_near(t, p, path, buffer);
}

static __always_inline void scribe_path_forget(struct scribe_thread *t)
{
	__u64 key = bpf_get_current_pid_tgid();

	bpf_map_delete_elem(&scribe_kept, &key);
	t->path_kept = 0;
}

#define SCRIBE_XATTR_MAX_BYTES 65536u
#define SCRIBE_STAT_BYTES      144u /* struct statfs is smaller */
#define SCRIBE_STATX_BYTES     256u

/* Length with the NUL, or an error. */
SCRIBE_GLOBAL int scribe_path_read_kept(struct scribe_scratch *s)
{
	__u64 key = bpf_get_current_pid_tgid();
	struct scribe_kept_path *kept = bpf_map_lookup_elem(&scribe_kept, &key);

	if (!s || !kept)
		return -1;
	return bpf_probe_read_kernel_str(&s->text[SCRIBE_NAME_MAX_BYTES], SCRIBE_NAME_MAX_BYTES, kept->text);
}

/* Instead of the length, when the string is not a complete path. */
enum scribe_path_special {
	SCRIBE_PATH_NONE = 0,     /* not recorded: a link in procfs itself */
	SCRIBE_PATH_FILE = 1,     /* of t->proc_path.from */
	SCRIBE_PATH_UNKNOWN = -1, /* unreadable, or unknown target */
};

/* Keeps only what follows a magic link, from t->proc_path.from on; "." if nothing follows a directory. */
SCRIBE_GLOBAL int scribe_path_rest(struct scribe_thread *t, struct scribe_scratch *s, const struct scribe_path_arg *a,
				   int bytes)
{
	__u32 at, kind;

	if (!t || !s || !a || bytes <= 1)
		return SCRIBE_PATH_UNKNOWN;
	kind = scribe_proc_path(t, s);
	if (kind == SCRIBE_PROC_NONE) {
		t->proc_path.from = scribe_path_start(s, a->dir);
		return bytes;
	}
	at = t->proc_path.at & (SCRIBE_NAME_MAX_BYTES - 1);
	if (a->nofollow && !s->text[SCRIBE_NAME_MAX_BYTES + at])
		return SCRIBE_PATH_NONE;
	if (kind == SCRIBE_PROC_UNKNOWN)
		return SCRIBE_PATH_UNKNOWN;
	for (__u32 i = 0; i < SCRIBE_PROC_SLASHES; i++)
		at += s->text[SCRIBE_NAME_MAX_BYTES + (at & (SCRIBE_NAME_MAX_BYTES - 1))] == '/';
	bpf_probe_read_kernel_str(s->text, SCRIBE_NAME_MAX_BYTES,
				  &s->text[SCRIBE_NAME_MAX_BYTES + (at & (SCRIBE_NAME_MAX_BYTES - 1))]);
	if (!s->text[0] && kind == SCRIBE_PROC_FOLDER) {
		s->text[0] = '.';
		s->text[1] = 0;
	}
	return bpf_probe_read_kernel_str(&s->text[SCRIBE_NAME_MAX_BYTES], SCRIBE_NAME_MAX_BYTES, s->text);
}

static __always_inline __u32 scribe_path_file(struct scribe_thread *t, struct scribe_proc *p, __u64 addr)
{
	struct file *file = SCRIBE_CAST(file, addr);

	if (!scribe_counts(p, SCRIBE_GET(file, f_inode, i_mode), true))
		return SCRIBE_SKIP_SLOT;
	return scribe_first_sight(t, p, addr);
}

SCRIBE_GLOBAL __u32 scribe_path_slot(struct scribe_thread *t, struct scribe_proc *p, const struct scribe_path_arg *a)
{
	__u32 index = SCRIBE_SKIP_SLOT;
	struct scribe_scratch *s;
	__u64 from;
	int bytes;

	if (!t || !p || !a)
		return SCRIBE_NO_SLOT;
	s = scribe_scratch_take(p);
	if (!s)
		return scribe_catchall(p, t->proc);
	if (t->path_kept == a->string)
		bytes = scribe_path_read_kept(s);
	else
		bytes = bpf_probe_read_user_str(&s->text[SCRIBE_NAME_MAX_BYTES], SCRIBE_NAME_MAX_BYTES,
						(void *)a->string);
	if (bytes > 1 && !scribe_may_be_proc_path(s)) {
		from = scribe_path_start(s, a->dir);
		barrier_var(from); /* otherwise one load serves a table of files and a map */
	} else {
		bytes = scribe_path_rest(t, s, a, bytes);
		from = t->proc_path.from;
	}
	if (from && bytes > 1)
		index = scribe_path_find(t, p, s, a, from, (bytes - 1) & 0xffff);
	scribe_scratch_put(s);
	if (bytes > 1 || bytes == SCRIBE_PATH_NONE)
		return index;
	if (bytes == SCRIBE_PATH_FILE)
		return scribe_path_file(t, p, from);
	scribe_count(p, SCRIBE_L_NAME_UNREADABLE);
	return scribe_catchall(p, t->proc);
}

SCRIBE_GLOBAL __u32 scribe_path_meta(struct scribe_thread *t, struct scribe_proc *p, const struct scribe_path_arg *a)
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

/* The target's record gets the source. */
static __always_inline int scribe_rename(struct scribe_thread *t, struct scribe_proc *p, __u32 class)
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
	if (class == SCRIBE_CLASS_RENAMEAT2 && SCRIBE_ARG(5) & SCRIBE_RENAME_EXCHANGE && t->link_change)
		t->link_change = SCRIBE_LINK_SWAPPED | (t->link_change & SCRIBE_LINK_KNOWN);
	if (t->link_change)
		scribe_send_link(t, p, b, a);
	return 0;
}

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

/* False: not a path call. */
static __always_inline bool scribe_path_meaning(struct scribe_thread *t, __u32 class, struct scribe_path_call *c)
{
	c->a.dir = SCRIBE_AT_FDCWD;
	c->a.string = SCRIBE_ARG(1);
	c->ext = SCRIBE_EXT_COUNT;
	if (class == SCRIBE_CLASS_FSTATAT) { /* the most frequent */
		c->a.dir = (__s32)SCRIBE_ARG(1);
		c->a.string = SCRIBE_ARG(2);
		c->a.nofollow = (SCRIBE_ARG(4) & SCRIBE_AT_NOFOLLOW) != 0;
		c->stat_buffer = SCRIBE_ARG(3);
		return true;
	}
	switch (class) {
	case SCRIBE_CLASS_LSTAT:
		c->a.nofollow = 1; /* fallthrough */
	case SCRIBE_CLASS_STAT:
		c->stat_buffer = SCRIBE_ARG(2);
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
	case SCRIBE_CLASS_FACCESSAT2:
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
	case SCRIBE_CLASS_MKNOD:
		c->made_mode = SCRIBE_ARG(2);
		c->ext = SCRIBE_EXT_CREATES;
		break;
	case SCRIBE_CLASS_MKNODAT:
		c->a.dir = (__s32)SCRIBE_ARG(1);
		c->a.string = SCRIBE_ARG(2);
		c->made_mode = SCRIBE_ARG(3);
		c->ext = SCRIBE_EXT_CREATES;
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
	case SCRIBE_CLASS_RENAMEAT2:
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
	case SCRIBE_CLASS_XATTRAT_READ:
	case SCRIBE_CLASS_XATTRAT_WRITE:
		c->a.dir = (__s32)SCRIBE_ARG(1);
		c->a.string = SCRIBE_ARG(2);
		c->a.nofollow = (SCRIBE_ARG(3) & SCRIBE_AT_NOFOLLOW) != 0;
		c->ext = class == SCRIBE_CLASS_XATTRAT_READ ? SCRIBE_EXT_XATTR_READS : SCRIBE_EXT_XATTR_WRITES;
		return true;
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
	__u32 slot;

	if (!t || !p)
		return 0;
	if (ret < 0) {
		scribe_count(p, SCRIBE_L_FAILED_PATHS);
		return 0;
	}
	t->link_change = 0;
	c = &t->path;
	__builtin_memset(c, 0, sizeof(*c));
	if (!scribe_path_meaning(t, class, c))
		return 0;
	/* mode without a type means a regular file */
	if (c->made_mode & S_IFMT && !scribe_counts(p, c->made_mode, false)) {
		scribe_count(p, SCRIBE_L_NOT_REGULAR);
		return 0;
	}
	if (c->two) {
		scribe_rename(t, p, class);
		return 0;
	}
	if (c->stat_buffer)
		bpf_probe_read_user(
			&t->path_align, sizeof(t->path_align),
			(void *)(c->stat_buffer + (c->statx ? SCRIBE_STX_BLKSIZE_AT : SCRIBE_ST_BLKSIZE_AT)));
	if (c->stat_buffer && !scribe_stat_counts(p, c->stat_buffer, c->statx)) {
		scribe_count(p, SCRIBE_L_NOT_REGULAR);
		return 0;
	}
	scribe_meta_set(t, c->stat_buffer ? SCRIBE_META_STAT : SCRIBE_META_EXT, c->ext);
	slot = scribe_path_meta(t, p, &c->a);
	if (t->link_change && slot != SCRIBE_SKIP_SLOT)
		scribe_send_link(t, p, slot, 0);
	return 0;
}

SCRIBE_GLOBAL int scribe_msync(struct scribe_thread *t, struct scribe_proc *p, __u64 addr)
{
	__u32 slot;
	__u64 file = 0;

	if (!t || !p)
		return 0;
	/*
	 * Linux 5.17 (7c7e3d31e785); older kernels cannot find the mapping, nor can any while its lock is
	 * taken.
	 */
	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_find_vma) ||
	    bpf_find_vma(bpf_get_current_task_btf(), addr, scribe_vma_file, &file, 0)) {
		scribe_count(p, SCRIBE_L_NAME_UNREADABLE);
		return 0;
	}
	if (!file) /* anonymous */
		return 0;
	slot = scribe_resolve(t, p, file, false);
	scribe_meta_set(t, SCRIBE_META_EXT, SCRIBE_EXT_MSYNCS);
	if (slot != SCRIBE_SKIP_SLOT && slot != SCRIBE_NO_SLOT)
		scribe_meta_on(t, p, SCRIBE_AT(slot, t->c_generation), file);
	return 0;
}

/*
 * statx(fd, "", AT_EMPTY_PATH) and others act on the descriptor. The string may not be in memory before the
 * kernel has read it.
 */
static __always_inline bool scribe_class_may_be_empty(__u32 class)
{
	return class == SCRIBE_CLASS_FSTATAT || class == SCRIBE_CLASS_STATX || class == SCRIBE_CLASS_FACCESSAT2 ||
	       class == SCRIBE_CLASS_READLINKAT || class == SCRIBE_CLASS_XATTRAT_READ ||
	       class == SCRIBE_CLASS_XATTRAT_WRITE;
}

static __always_inline bool scribe_may_be_empty(struct scribe_thread *t, __u32 class)
{
	__u64 flags = SCRIBE_ARG(3);

	if (class == SCRIBE_CLASS_READLINKAT) /* no flag needed */
		return (__s32)SCRIBE_ARG(1) != SCRIBE_AT_FDCWD;
	if (class == SCRIBE_CLASS_FSTATAT || class == SCRIBE_CLASS_FACCESSAT2)
		flags = SCRIBE_ARG(4);
	return (flags & SCRIBE_AT_EMPTY_PATH) != 0;
}

static __always_inline bool scribe_is_empty(struct scribe_thread *t)
{
	struct scribe_kept_path *kept;
	char c = 0;
	__u64 key;

	if (t->path_kept) {
		key = bpf_get_current_pid_tgid();
		kept = bpf_map_lookup_elem(&scribe_kept, &key);
		return kept && !kept->text[0];
	}
	return bpf_probe_read_user(&c, 1, (void *)SCRIBE_ARG(2)) || c == 0;
}

static __always_inline bool scribe_is_path_class(__u32 class)
{
	return class >= SCRIBE_CLASS_FIRST_PATH && class <= SCRIBE_CLASS_LAST_PATH;
}

static __always_inline void scribe_path_keep_by_class(struct scribe_thread *t, struct scribe_proc *p, __u32 class)
{
	if (class == SCRIBE_CLASS_FSTATAT) { /* the most frequent */
		scribe_path_keep(t, p, SCRIBE_ARG(2), SCRIBE_ARG(3), SCRIBE_STAT_BYTES);
		return;
	}
	switch (class) {
	case SCRIBE_CLASS_STAT:
	case SCRIBE_CLASS_LSTAT:
	case SCRIBE_CLASS_STATFS:
		scribe_path_keep(t, p, SCRIBE_ARG(1), SCRIBE_ARG(2), SCRIBE_STAT_BYTES);
		return;
	case SCRIBE_CLASS_STATX:
		scribe_path_keep(t, p, SCRIBE_ARG(2), SCRIBE_ARG(5), SCRIBE_STATX_BYTES);
		return;
	case SCRIBE_CLASS_READLINK:
		scribe_path_keep(t, p, SCRIBE_ARG(1), SCRIBE_ARG(2), SCRIBE_NAME_MAX_BYTES);
		return;
	case SCRIBE_CLASS_READLINKAT:
		scribe_path_keep(t, p, SCRIBE_ARG(2), SCRIBE_ARG(3), SCRIBE_NAME_MAX_BYTES);
		return;
	case SCRIBE_CLASS_XATTR_READ: /* buffer: argument 3 of getxattr, 2 of listxattr */
	case SCRIBE_CLASS_LXATTR_READ:
		scribe_path_keep(t, p, SCRIBE_ARG(1), SCRIBE_ARG(3), SCRIBE_XATTR_MAX_BYTES);
		scribe_path_keep(t, p, SCRIBE_ARG(1), SCRIBE_ARG(2), SCRIBE_XATTR_MAX_BYTES);
		return;
	case SCRIBE_CLASS_XATTRAT_READ: /* buffer inside a structure */
		scribe_path_keep(t, p, SCRIBE_ARG(2), SCRIBE_ARG(2), 1);
		return;
	}
}

/* Whether the string is empty is checked at return, when it can be read. */
static __always_inline void scribe_path_enter(struct scribe_thread *t, struct scribe_proc *p, __u32 class)
{
	scribe_path_keep_by_class(t, p, class);
	if (!scribe_class_may_be_empty(class))
		return;
	t->slot = SCRIBE_NO_SLOT;
	if (scribe_may_be_empty(t, class) && !scribe_fd_enter(t, p, class, SCRIBE_ARG(1)))
		t->slot = SCRIBE_SKIP_SLOT;
}

static __always_inline void scribe_path_leave(struct scribe_thread *t, struct scribe_proc *p, __u32 class, __s64 ret)
{
	if (!scribe_class_may_be_empty(class) || t->slot == SCRIBE_NO_SLOT || !scribe_is_empty(t))
		scribe_path_exit(t, p, class, ret);
	else if (t->slot != SCRIBE_SKIP_SLOT)
		scribe_fd_exit(t, p, class, 0, ret);
	if (t->path_kept)
		scribe_path_forget(t);
}

#endif
