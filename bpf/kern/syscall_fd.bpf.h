/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls on descriptors. */
#ifndef BPF_KERN_SYSCALL_FD_BPF_H
#define BPF_KERN_SYSCALL_FD_BPF_H

#include "bpf/kern/account.bpf.h"
#include "bpf/kern/record.bpf.h"
#include "bpf/kern/syscall_class.h"
#include "logfmt/counters/built.h"
#include "logfmt/rules/lib_rules.h"

#define SCRIBE_O_APPEND         02000
#define SCRIBE_O_CREAT          0100
#define SCRIBE_O_TMPFILE        020000000
#define SCRIBE_O_PATH           010000000
#define SCRIBE_RWF_APPEND       0x10
#define SCRIBE_RWF_NOAPPEND     0x20
#define SCRIBE_F_DUPFD          0
#define SCRIBE_F_DUPFD_CLOEXEC  1030
#define SCRIBE_MAP_ANONYMOUS    0x20
#define SCRIBE_IOVECS_LOOKED_AT 128

#define SCRIBE_MAGIC_ANON_INODES 0x09041934
#define S_IFIFO                  0010000
#define S_IFSOCK                 0140000

static __always_inline __u32 scribe_why_left(__u64 addr)
{
	struct file *file = SCRIBE_CAST(file, addr);
	__u32 mode = SCRIBE_GET(file, f_inode, i_mode);

	switch (mode & S_IFMT) {
	case S_IFREG: /* since Linux 6.16 also event descriptors */
		return SCRIBE_GET(file, f_inode, i_sb, s_magic) == SCRIBE_MAGIC_ANON_INODES ? SCRIBE_LEFT_OTHER
											    : SCRIBE_LEFT_EXCLUDED;
	case S_IFIFO:
		return SCRIBE_LEFT_PIPE;
	case S_IFSOCK:
		return SCRIBE_LEFT_SOCKET;
	default:
		return SCRIBE_LEFT_OTHER;
	}
}

/* False: not recorded, t->left has the cause. */
static __always_inline bool scribe_data_enter(struct scribe_thread *t, struct scribe_proc *p, struct task_struct *task,
					      __u32 class, __u64 fd)
{
	struct file *file;
	__u32 slot;

	if (p->ignored_tid && p->ignored_tid == (__u32)task->pid) {
		t->left = SCRIBE_LEFT_EXCLUDED;
		return false;
	}
	file = scribe_fd_typed(task, fd);
	if (!file) {
		t->left = SCRIBE_LEFT_LOST;
		return false;
	}
	t->file = (__u64)file;
	if (scribe_is_cached(t, p, file, SCRIBE_GET(file, f_inode))) {
		slot = t->c_slot;
	} else {
		slot = scribe_resolve(t, p, *(volatile __u64 *)&t->file, false);
		if ((class & 1) && t->c_direct)
			scribe_cache_begin(t, task, SCRIBE_OP_READ);
	}
	if (slot == SCRIBE_SKIP_SLOT) {
		t->left = scribe_why_left(t->file);
		return false;
	}
	if (slot == SCRIBE_NO_SLOT) {
		t->left = SCRIBE_LEFT_LOST;
		t->events++;
		scribe_count(p, SCRIBE_L_DROP_NO_SLOT);
		return false;
	}
	/* Not for explicit offsets: other threads' references write to this cache line. */
	if (class <= SCRIBE_CLASS_PWRITEV2)
		t->pos = scribe_file_pos(t->file);
	t->op.start_ns = bpf_ktime_get_ns();
	return true;
}

static __always_inline void scribe_desc_gone(struct scribe_thread *t, __u64 file)
{
	struct scribe_desc_key key = {.file = file, .proc_id = t->proc_id};

	if (t->c_file != file || t->c_kept)
		bpf_map_delete_elem(&scribe_descs, &key);
	if (t->c_file == file)
		t->c_file = 0;
}

/* dup2 and dup3 close argument 2 without a close call. */
static __always_inline void scribe_dup_over(struct scribe_thread *t, struct task_struct *task, __u64 from, __u64 to)
{
	__u64 ended = scribe_fd_file(task, to);

	if (ended && from != to && scribe_fd_file(task, from) && scribe_file_last_ref(ended))
		scribe_desc_gone(t, ended);
}

/* These also count on directories and links. */
static __always_inline bool scribe_class_of_folders(__u32 class)
{
	return class == SCRIBE_CLASS_GETDENTS || class == SCRIBE_CLASS_FSTATFS || class == SCRIBE_CLASS_FACCESSAT2 ||
	       class == SCRIBE_CLASS_READLINKAT || class == SCRIBE_CLASS_XATTRAT_READ ||
	       class == SCRIBE_CLASS_XATTRAT_WRITE;
}

SCRIBE_GLOBAL int scribe_fd_enter(struct scribe_thread *t, struct scribe_proc *p, __u32 class, __u64 fd)
{
	__u64 file = scribe_fd_file(bpf_get_current_task_btf(), fd);
	__u32 slot;

	if (!t || !p || !file)
		return 0;
	slot = scribe_resolve(t, p, file, scribe_class_of_folders(class));
	if (slot == SCRIBE_NO_SLOT) {
		t->events++;
		scribe_count(p, SCRIBE_L_DROP_NO_SLOT);
	}
	if (slot == SCRIBE_SKIP_SLOT || slot == SCRIBE_NO_SLOT)
		return 0;
	t->slot = slot;
	t->generation = t->c_generation;
	t->file = file;
	return 1;
}

/* After the daemon retired the record. SCRIBE_NO_SLOT: nothing to record on. */
static __always_inline __u32 scribe_revalidate_slot(struct scribe_thread *t, struct scribe_proc *p, __u64 file)
{
	struct scribe_desc_key key = {.file = file};
	struct scribe_slot *s;
	__u32 index, kind;

	if (!file)
		return SCRIBE_NO_SLOT;
	kind = scribe_kind_of_desc(p, file);
	key.proc_id = t->proc_id;
	bpf_map_delete_elem(&scribe_descs, &key);
	t->c_file = 0;
	index = scribe_lookup_or_create_record(t, p, file, kind);
	if (index == SCRIBE_SKIP_SLOT || index == SCRIBE_NO_SLOT)
		return SCRIBE_NO_SLOT;
	s = scribe_slot_at(index);
	if (!s)
		return SCRIBE_NO_SLOT;
	t->again_generation = s->generation;
	if (kind == SCRIBE_KIND_STDIO)
		scribe_desc_put(p, file, scribe_identity_in(p, file), index, s->generation);
	return index;
}

/*
 * Calls without a counter in a stream's record: stat, which the C library makes itself, only counts in the
 * ledger; others go to POSIX, or without a POSIX counter to the stream's ext shard.
 */
static __always_inline bool scribe_not_streams(const struct scribe_thread *t, const struct scribe_proc *p,
					       const struct scribe_slot *s, const struct scribe_meta_op *op)
{
	if (s->kind != SCRIBE_KIND_STDIO)
		return false;
	if (op->what == SCRIBE_META_SEEK)
		return ((s->flags & SCRIBE_SF_CALLS) && scribe_calls_counted(p, s)) || t->stream_open == 2;
	return op->what != SCRIBE_META_OPEN && op->what != SCRIBE_META_CLOSE && op->what != SCRIBE_META_EXT;
}

static __always_inline int scribe_meta_beside(struct scribe_thread *t, struct scribe_proc *p, __u64 file,
					      const struct scribe_meta_op *op)
{
	struct scribe_slot *s;
	__u32 index;

	/* not dup in freopen either */
	if (op->what == SCRIBE_META_STAT || op->what == SCRIBE_META_SEEK || t->stream_open || !file) {
		scribe_count(p, op->what == SCRIBE_META_SEEK ? SCRIBE_L_STREAM_CALLS : SCRIBE_L_STREAM_STATS);
		return 0;
	}
	index = scribe_first_sight(t, p, file);
	s = index == SCRIBE_SKIP_SLOT ? 0 : scribe_slot_at(index);
	if (!s || !s->kind)
		return 0;
	t->events++;
	if (!scribe_record_meta(p, s, s->generation, op))
		scribe_count(p, SCRIBE_L_DROP_NO_SLOT);
	return 0;
}

/* Or to its successor. */
SCRIBE_GLOBAL int scribe_meta_on(struct scribe_thread *t, struct scribe_proc *p, __u64 slot_and_generation, __u64 file)
{
	const struct scribe_meta_op *op;
	struct scribe_slot *s;
	__u32 index;

	if (!t || !p)
		return 0;
	op = &t->meta;
	s = scribe_slot_at((__u32)slot_and_generation);
	if (s && scribe_not_streams(t, p, s, op))
		return scribe_meta_beside(t, p, file, op);
	if (s && scribe_is_excluded(p, s, op->what != SCRIBE_META_EXT, 0))
		return 0;
	t->events++;
	if (s && scribe_record_meta(p, s, slot_and_generation >> 32, op)) {
		if (s->flags & SCRIBE_SF_OPENS)
			scribe_meta_segment(t, slot_and_generation);
		return 0;
	}
	index = scribe_revalidate_slot(t, p, file);
	s = scribe_slot_at(index);
	if (!s || s->kind == 0 || !scribe_record_meta(p, s, t->again_generation, op))
		scribe_count(p, SCRIBE_L_DROP_NO_SLOT);
	else if (s->flags & SCRIBE_SF_OPENS)
		scribe_meta_segment(t, SCRIBE_AT(index, t->again_generation));
	return 0;
}

static __always_inline void scribe_meta_set(struct scribe_thread *t, __u32 what, __u32 ext)
{
	t->meta.start_ns = t->op.start_ns;
	t->meta.end_ns = t->op.end_ns;
	t->meta.what = what;
	t->meta.ext = ext;
	t->meta.mode = 0;
}

/* To the file of the MPI-IO call that the program counts. */
SCRIBE_GLOBAL int scribe_beneath(struct scribe_thread *t, struct scribe_proc *p, __u32 write, __u64 bytes, __u64 ns)
{
	struct scribe_handle_key key = {};
	struct scribe_above *a;
	struct scribe_slot *s;

	if (!t || !p)
		return 0;
	if (bpf_probe_read_user(&key.handle, sizeof(key.handle), (void *)t->wrapped_word) || !key.handle)
		return 0;
	key.proc_id = p->proc_id;
	a = bpf_map_lookup_elem(&scribe_above, &key);
	s = a ? scribe_slot_at(a->slot) : 0;
	if (!s || s->generation != a->generation)
		return 0;
	__sync_fetch_and_add(&s->ext.v[SCRIBE_LIB_MPIIO_BELOW + (write & 1)], bytes);
	__sync_fetch_and_add(&s->ext.v[SCRIBE_LIB_MPIIO_BELOW + 2], ns);
	return 0;
}

/* Whether t->op counts on this record; if so it counts as seen. */
static __always_inline bool scribe_data_seen(struct scribe_thread *t, struct scribe_proc *p, struct scribe_slot *s)
{
	if (s && scribe_is_excluded(p, s, true, &t->op))
		return false;
	t->events++;
	if (IOSCRIBE_MODULE_LAYERS) {
		__u64 ns = t->op.end_ns - t->op.start_ns;

		t->moved[t->op.op & 1] += t->op.bytes;
		t->moved_ns += ns;
		if (t->wrapped_word)
			scribe_beneath(t, p, t->op.op, t->op.bytes, ns);
	}
	return true;
}

static __always_inline void scribe_name_again(struct scribe_slot *s, __u32 slot, struct scribe_proc *p, __u64 file)
{
	if (!(s->flags & SCRIBE_SF_NAME_SENT) && s->kind == SCRIBE_KIND_FILE && file)
		scribe_send_file_name(s, slot, p, file);
}

SCRIBE_GLOBAL int scribe_data_seen_on(struct scribe_thread *t, struct scribe_proc *p, __u64 slot_and_generation,
				      __u64 file)
{
	__u32 slot = (__u32)slot_and_generation, generation = slot_and_generation >> 32;
	struct scribe_slot *s;

	if (!t || !p)
		return 0;
	s = slot ? scribe_slot_at(slot) : 0;
	for (int tries = 0; tries < 2; tries++) {
		if (s && s->kind && scribe_record_data(t, p, s, slot, generation)) {
			scribe_name_again(s, slot, p, file);
			return 0;
		}
		if (tries)
			break;
		slot = scribe_revalidate_slot(t, p, file);
		s = slot ? scribe_slot_at(slot) : 0;
		generation = t->again_generation;
	}
	scribe_count(p, SCRIBE_L_DROP_NO_SLOT);
	return 0;
}

static __always_inline void scribe_data_of_call(struct scribe_thread *t, struct scribe_proc *p,
						__u64 slot_and_generation, __u64 file)
{
	if (scribe_data_seen(t, p, scribe_slot_at((__u32)slot_and_generation)))
		scribe_data_seen_on(t, p, slot_and_generation, file);
}

static __always_inline void scribe_data_late(struct scribe_thread *t, struct scribe_proc *p)
{
	__u32 slot = t->c_slot;
	struct scribe_slot *s = scribe_slot_at(slot);

	if (!scribe_data_seen(t, p, s)) {
		/* The program counts the stream, but not what its reads and writes cost the page cache. */
		if (t->fetched && s && (s->flags & (SCRIBE_SF_CALLS | SCRIBE_SF_EXCLUDED)) == SCRIBE_SF_CALLS &&
		    s->generation == t->c_generation)
			scribe_cache_count(t, s, &t->op, t->fetched, 1);
		return;
	}
	if (s && s->kind && scribe_record_data(t, p, s, slot, t->c_generation))
		scribe_name_again(s, slot, p, t->file);
	else
		scribe_data_seen_on(t, p, SCRIBE_AT(slot, t->c_generation), t->file);
}

/* Element of a vector: 1 unaligned, 2 unreadable. */
SCRIBE_GLOBAL int scribe_iov_one(__u64 iov, __u32 align)
{
	struct iovec v;

	if (bpf_probe_read_user(&v, sizeof(v), (void *)iov))
		return 2;
	return scribe_misaligned((__u64)v.iov_base, align);
}

/* The first SCRIBE_ROUND of `count`. */
SCRIBE_GLOBAL int scribe_iov_some(__u64 iov, __u64 count, __u32 align)
{
	int found = 0;

	for (__u32 i = 0; i < SCRIBE_ROUND && i < count && !found; i++)
		found = scribe_iov_one(iov + i * sizeof(struct iovec), align);
	return found;
}

SCRIBE_GLOBAL int scribe_iov_unaligned(struct scribe_proc *p, __u64 iov, __u64 count, __u32 align)
{
	if (!p)
		return 0;
	for (__u32 i = 0; i < SCRIBE_IOVECS_LOOKED_AT; i += SCRIBE_ROUND) {
		int found;

		if (i >= count)
			return 0;
		found = scribe_iov_some(iov + i * sizeof(struct iovec), count - i, align);
		if (found)
			return found == 1;
	}
	if (count > SCRIBE_IOVECS_LOOKED_AT)
		scribe_count(p, SCRIBE_L_IOVEC_CUT);
	return 0;
}

static __always_inline __s64 scribe_implicit_offset(struct scribe_thread *t, __u32 write, __s64 bytes)
{
	__s64 after = scribe_file_pos(t->file);

	/* Unless appending, a moved position means that another task used the description meanwhile. */
	if (after - bytes != t->pos && !(write && (scribe_file_flags(t->file) & SCRIBE_O_APPEND)))
		scribe_count_thread(t, SCRIBE_L_APPROX_OFFSET);
	return after - bytes;
}

static __always_inline __s64 scribe_data_offset(struct scribe_thread *t, struct pt_regs *regs, __u32 class, __u32 write,
						__s64 bytes)
{
	bool v2 = class <= SCRIBE_CLASS_PWRITEV2, append;
	__s64 offset;

	if (class <= SCRIBE_CLASS_LAST_AT_POS)
		return scribe_implicit_offset(t, write, bytes);
	offset = (__s64)scribe_arg(regs, 4);
	if (v2 && offset == -1)
		return scribe_implicit_offset(t, write, bytes);
	if (!write)
		return offset;
	append = scribe_file_flags(t->file) & SCRIBE_O_APPEND;
	if (v2 && (scribe_arg(regs, 6) & SCRIBE_RWF_NOAPPEND))
		append = false;
	if (append || (v2 && (scribe_arg(regs, 6) & SCRIBE_RWF_APPEND)))
		return scribe_file_size(t->file) - bytes;
	return offset;
}

/*
 * `write` is a constant in each caller, so that counter addresses are constant. False: t->op must be recorded
 * (scribe_data_late).
 */
static __always_inline bool scribe_data_exit(struct scribe_thread *t, struct task_struct *task, struct pt_regs *regs,
					     __u32 class, const __u32 write, __s64 bytes)
{
	struct scribe_data_op op = {.op = write, .bytes = bytes, .start_ns = t->op.start_ns};
	struct scribe_slot *s;

	SCRIBE_APART(write);
	scribe_cache_leave(t, task, write);
	op.end_ns = bpf_ktime_get_ns();
	t->io[write].calls++;
	t->io[write].bytes += bytes;
	op.offset = scribe_data_offset(t, regs, class, write, bytes);
	if (class > SCRIBE_CLASS_LAST_VECTOR || class < SCRIBE_CLASS_READV)
		op.unaligned = scribe_misaligned(scribe_arg(regs, 2), t->mem_align);
	else
		op.unaligned = scribe_iov_unaligned(scribe_proc_at(t->proc), scribe_arg(regs, 2), scribe_arg(regs, 3),
						    t->mem_align);
	s = scribe_slot_at(t->c_slot);
	/* A read that fetched has waited: the fast path does without its code. */
	if (s && (write || !t->moves) && scribe_record_plain(t, s, &op)) {
		scribe_cost_leave(t, op.end_ns);
		return true;
	}
	t->op = op;
	return false;
}

static __always_inline void scribe_data_failed(struct scribe_thread *t, struct scribe_proc *p, __u32 write, __s64 ret)
{
	t->op.end_ns = bpf_ktime_get_ns();
	scribe_io_leave(t, write, ret);
	scribe_meta_set(t, SCRIBE_META_EXT, SCRIBE_EXT_FAILED_DATA);
	scribe_meta_on(t, p, SCRIBE_AT(t->c_slot, t->c_generation), t->file);
}

static __always_inline bool scribe_classify_fd_call(__u32 class, __u64 arg2, struct scribe_meta_op *m)
{
	switch (class) {
	case SCRIBE_CLASS_LSEEK:
		m->what = SCRIBE_META_SEEK;
		return true;
	case SCRIBE_CLASS_FSTAT:
	case SCRIBE_CLASS_FSTATAT:
	case SCRIBE_CLASS_STATX:
		m->what = SCRIBE_META_STAT;
		return true;
	case SCRIBE_CLASS_FSYNC:
		m->what = SCRIBE_META_FSYNC;
		return true;
	case SCRIBE_CLASS_FDATASYNC:
		m->what = SCRIBE_META_FDSYNC;
		return true;
	case SCRIBE_CLASS_CLOSE:
		m->what = SCRIBE_META_CLOSE;
		m->ext = SCRIBE_EXT_CLOSES;
		return true;
	case SCRIBE_CLASS_FCNTL:
		if (arg2 != SCRIBE_F_DUPFD && arg2 != SCRIBE_F_DUPFD_CLOEXEC)
			return false;
		m->what = SCRIBE_META_DUP;
		return true;
	case SCRIBE_CLASS_DUP:
	case SCRIBE_CLASS_DUP_TO:
		m->what = SCRIBE_META_DUP;
		return true;
	case SCRIBE_CLASS_MMAP:
		m->what = SCRIBE_META_MMAP;
		m->ext = SCRIBE_EXT_MAPPED_BYTES;
		m->bytes = arg2;
		return true;
	case SCRIBE_CLASS_FTRUNCATE:
		m->ext = SCRIBE_EXT_TRUNCATES;
		return true;
	case SCRIBE_CLASS_FALLOCATE:
		m->ext = SCRIBE_EXT_FALLOCATES;
		return true;
	case SCRIBE_CLASS_FADVISE:
		m->ext = SCRIBE_EXT_FADVISES;
		return true;
	case SCRIBE_CLASS_GETDENTS:
		m->ext = SCRIBE_EXT_GETDENTS;
		return true;
	case SCRIBE_CLASS_FSTATFS:
		m->ext = SCRIBE_EXT_STATFS;
		return true;
	case SCRIBE_CLASS_FACCESSAT2:
		m->ext = SCRIBE_EXT_ACCESSES;
		return true;
	case SCRIBE_CLASS_READLINKAT:
		m->ext = SCRIBE_EXT_READLINKS;
		return true;
	case SCRIBE_CLASS_FXATTR_READ:
	case SCRIBE_CLASS_XATTRAT_READ:
		m->ext = SCRIBE_EXT_XATTR_READS;
		return true;
	case SCRIBE_CLASS_FXATTR_WRITE:
	case SCRIBE_CLASS_XATTRAT_WRITE:
		m->ext = SCRIBE_EXT_XATTR_WRITES;
		return true;
	case SCRIBE_CLASS_SYNC_RANGE:
		m->ext = SCRIBE_EXT_SYNC_RANGES;
		return true;
	}
	return false;
}

SCRIBE_GLOBAL int scribe_fd_exit(struct scribe_thread *t, struct scribe_proc *p, __u32 class, __u64 arg2, __s64 ret)
{
	if (!t || !p)
		return 0;
	scribe_meta_set(t, SCRIBE_META_EXT, SCRIBE_EXT_COUNT);
	if (!scribe_classify_fd_call(class, arg2, &t->meta))
		return 0;
	if (class == SCRIBE_CLASS_MMAP ? (__u64)ret >= -4095ull : ret < 0) {
		t->meta.what = SCRIBE_META_EXT;
		t->meta.ext = SCRIBE_EXT_FAILED_META;
	} else if (class == SCRIBE_CLASS_MMAP)
		scribe_mapped_put(t, p, ret);
	scribe_meta_on(t, p, SCRIBE_AT(t->slot, t->generation), t->file);
	if (class == SCRIBE_CLASS_CLOSE && t->last_ref)
		scribe_desc_gone(t, t->file);
	return 0;
}

SCRIBE_GLOBAL int scribe_open_remember(struct scribe_thread *t, struct scribe_proc *p, __u64 addr, __u32 index)
{
	struct scribe_slot *s = index == SCRIBE_SKIP_SLOT ? 0 : scribe_slot_at(index);
	__u64 identity;
	bool kept;

	if (!t || !p)
		return 0;
	if (p->flags & SCRIBE_PF_SHARES_FDS)
		scribe_shared_open(addr);
	identity = scribe_identity_in(p, addr);
	/*
	 * Otherwise only this thread's cache has it: another thread would look it up by a name that may have
	 * changed.
	 */
	kept = s && (t->stream_open || *(volatile __u32 *)&p->threads > 1 ||
		     p->flags & (SCRIBE_PF_URING | SCRIBE_PF_SHARES_FDS));
	if (kept)
		scribe_desc_put(p, addr, identity, index, s->generation);
	scribe_cache_put(t, p, addr, identity, index, s ? s->generation : 0, kept);
	return 0;
}

/* A library of ours opened this file: never record it. */
static __always_inline void scribe_open_own(struct scribe_thread *t, struct scribe_proc *p, __s64 fd)
{
	__u64 addr = fd < 0 ? 0 : scribe_fd_file(bpf_get_current_task_btf(), fd);

	if (addr)
		scribe_open_remember(t, p, addr, SCRIBE_SKIP_SLOT);
}

/* The name is always looked up. */
SCRIBE_GLOBAL int scribe_open_exit(struct scribe_thread *t, struct scribe_proc *p, __u64 addr, __u32 mode)
{
	struct scribe_slot *s;
	struct file *file;
	__u32 index;

	if (!t || !p || !addr)
		return 0;
	file = SCRIBE_CAST(file, addr);
	if (SCRIBE_GET(file, f_flags) & SCRIBE_O_PATH)
		return 0;
	if (!scribe_counts(p, SCRIBE_GET(file, f_inode, i_mode), false)) {
		scribe_count(p, SCRIBE_L_NOT_REGULAR);
		return 0;
	}
	__sync_fetch_and_add(&p->open_gen, 1);
	index = scribe_lookup_or_create_record(t, p, addr, t->stream_open ? SCRIBE_KIND_STDIO : SCRIBE_KIND_FILE);
	if (index == SCRIBE_NO_SLOT) {
		t->events++;
		scribe_count(p, SCRIBE_L_DROP_NO_SLOT);
		return 0;
	}
	s = index == SCRIBE_SKIP_SLOT ? 0 : scribe_slot_at(index);
	scribe_open_remember(t, p, addr, index);
	if (!s) {
		scribe_count(p, SCRIBE_L_EXCLUDED);
		return 0;
	}
	scribe_meta_set(t, SCRIBE_META_OPEN,
			SCRIBE_GET(file, f_mode) & SCRIBE_FMODE_CREATED ? SCRIBE_EXT_CREATES : SCRIBE_EXT_COUNT);
	t->meta.mode = mode;
	scribe_meta_on(t, p, SCRIBE_AT(index, s->generation), addr);
	return 0;
}

#endif
