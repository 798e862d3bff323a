/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps open file descriptions to records: by caches, checked at each use, otherwise by the file's name. */
#ifndef BPF_KERN_DESCS_BPF_H
#define BPF_KERN_DESCS_BPF_H

#include "bpf/kern/slot.bpf.h"

#define SCRIBE_FMODE_CREATED 0x100000

#define SCRIBE_IDENTITY_MIX 0xd6e8feb86659fd93ull

/* Detects a reused address: mixes inode number and generation, mount and dentry, each small beside 2^64. */
static __always_inline __u64 scribe_identity(const struct file *file, const struct inode *inode)
{
	__u64 path[2], identity; /* as numbers: the verifier forbids arithmetic on addresses */

	SCRIBE_LOAD_TWO(path, (__u64)file + bpf_core_field_offset(struct file, f_path));
	identity = path[0] * SCRIBE_IDENTITY_MIX + path[1];
	identity = identity * SCRIBE_IDENTITY_MIX + SCRIBE_GET(inode, i_ino);
	return identity * SCRIBE_IDENTITY_MIX + SCRIBE_GET(inode, i_generation);
}

/* Not inline: a deep call chain must not pay for its stack. */
SCRIBE_GLOBAL __u64 scribe_identity_at(__u64 addr)
{
	struct file *file = SCRIBE_CAST(file, addr);
	struct inode *inode = SCRIBE_GET(file, f_inode);

	return scribe_identity(file, inode);
}

/*
 * With a shared descriptor table, another process can close a description, and its address can be reused for
 * the same file. Each open gets a number in the identity; earlier opens have none.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, __u64);
} scribe_shared_opens SEC(".maps");

SCRIBE_GLOBAL int scribe_shared_open(__u64 file)
{
	__u64 number = bpf_ktime_get_ns() << 8 | (bpf_get_smp_processor_id() & 255);

	bpf_map_update_elem(&scribe_shared_opens, &file, &number, BPF_ANY);
	return 0;
}

SCRIBE_GLOBAL __u64 scribe_shared_number(__u64 file)
{
	__u64 *number = bpf_map_lookup_elem(&scribe_shared_opens, &file);

	return number ? *number : 0;
}

static __always_inline __u64 scribe_identity_in(const struct scribe_proc *p, __u64 file)
{
	__u64 identity = scribe_identity_at(file);

	return p->flags & SCRIBE_PF_SHARES_FDS ? identity ^ scribe_shared_number(file) : identity;
}

/* For all threads of the process. */
static __always_inline void scribe_desc_put(struct scribe_proc *p, __u64 file, __u64 identity, __u32 slot,
					    __u32 generation)
{
	struct scribe_desc_key key = {.file = file, .proc_id = p->proc_id};
	struct scribe_desc d = {.identity = identity, .slot = slot, .generation = generation};

	if (bpf_map_update_elem(&scribe_descs, &key, &d, BPF_ANY))
		scribe_count(p, SCRIBE_L_CACHE_FULL);
}

static __always_inline bool scribe_all_types(const struct scribe_proc *p)
{
	struct scribe_job_entry *job = scribe_job_at(p->job);

	return job && job->all_types;
}

static __always_inline bool scribe_counts(const struct scribe_proc *p, __u32 mode, bool directory)
{
	if ((mode & S_IFMT) == S_IFREG)
		return true;
	if (directory && ((mode & S_IFMT) == S_IFDIR || (mode & S_IFMT) == S_IFLNK))
		return true;
	return scribe_all_types(p);
}

/*
 * Not memory without a name (memfd, shared memory), and not event descriptors, which have a regular file's
 * inode since Linux 6.16.
 */
static __always_inline bool scribe_file_of_type(__u64 addr, bool all_types)
{
	struct file *file = SCRIBE_CAST(file, addr);
	struct inode *inode = SCRIBE_GET(file, f_inode);

	if (SCRIBE_GET(inode, i_sb, s_flags) & SCRIBE_SB_KERNMOUNT)
		return false;
	return all_types || (SCRIBE_GET(inode, i_mode) & S_IFMT) == S_IFREG;
}

static __always_inline bool scribe_file_counts(const struct scribe_proc *p, __u64 addr)
{
	return scribe_file_of_type(addr, scribe_all_types(p));
}

/* Finds or makes the record by name. SCRIBE_SKIP_SLOT: not recorded. `kind`: FILE, or STDIO for a stream. */
SCRIBE_GLOBAL __u32 scribe_lookup_or_create_record(struct scribe_thread *t, struct scribe_proc *p, __u64 addr,
						   __u32 kind)
{
	struct file *file = SCRIBE_CAST(file, addr);
	struct inode *inode = SCRIBE_GET(file, f_inode);
	struct super_block *sb = SCRIBE_GET(inode, i_sb);
	struct scribe_file_key *key;
	struct scribe_slot *s;
	__u32 index;
	bool fresh;

	if (!t || !p)
		return SCRIBE_NO_SLOT;
	/* no name */
	if (SCRIBE_GET(sb, s_flags) & SCRIBE_SB_KERNMOUNT)
		return SCRIBE_SKIP_SLOT;
	scribe_chain_hash(t, addr);
	if (scribe_top_excluded(t, t->climb.top))
		return SCRIBE_SKIP_SLOT;
	key = &t->key;
	key->proc_id = t->proc_id;
	key->dev = SCRIBE_GET(sb, s_dev);
	key->ino = SCRIBE_GET(inode, i_ino);
	key->hash = t->climb.hash ^ ((__u64)SCRIBE_GET(inode, i_generation) << 16);
	if (kind != SCRIBE_KIND_FILE)
		key->hash ^= kind * SCRIBE_MIX;
	key->hash &= ~SCRIBE_INDEX_BY_STRING;
	index = scribe_slot_for(p, t->proc, key, kind, &fresh);
	if (!index)
		return SCRIBE_NO_SLOT;
	s = scribe_slot_at(index);
	if (!s)
		return SCRIBE_NO_SLOT;
	if (fresh) {
		__u32 align = SCRIBE_GET(sb, s_blocksize);

		if (SCRIBE_GET(sb, s_magic) == SCRIBE_MAGIC_LUSTRE)
			align = SCRIBE_LUSTRE_ALIGN;
		s->align = align;
		if (SCRIBE_GET(inode, i_nlink) == 0)
			s->flags |= SCRIBE_SF_UNLINKED;
		if (!scribe_counts(p, SCRIBE_GET(inode, i_mode), false))
			s->flags |= SCRIBE_SF_DIRECTORY;
	}
	if (s->kind != SCRIBE_KIND_CATCHALL) {
		if (!(s->flags & SCRIBE_SF_NAME_SENT))
			scribe_send_file_name(s, index, p, addr);
		if (s->flags & SCRIBE_SF_EXCLUDED)
			index = SCRIBE_SKIP_SLOT;
	}
	return index;
}

static __always_inline __u32 scribe_first_sight(struct scribe_thread *t, struct scribe_proc *p, __u64 addr)
{
	return scribe_lookup_or_create_record(t, p, addr, SCRIBE_KIND_FILE);
}

/* Of this process, or the one it was forked from. */
SCRIBE_GLOBAL __u32 scribe_kind_of_desc(struct scribe_proc *p, __u64 addr)
{
	struct scribe_desc_key key = {.file = addr};
	struct scribe_desc *d;
	struct scribe_slot *s;

	if (!p)
		return SCRIBE_KIND_FILE;
	key.proc_id = p->proc_id;
	d = bpf_map_lookup_elem(&scribe_descs, &key);
	if (!d && !(p->flags & SCRIBE_PF_EXECED)) {
		key.proc_id = p->parent_serial;
		d = bpf_map_lookup_elem(&scribe_descs, &key);
	}
	if (!d || d->slot == SCRIBE_SKIP_SLOT || d->identity != scribe_identity_in(p, addr))
		return SCRIBE_KIND_FILE;
	s = scribe_slot_at(d->slot);
	return s && s->proc_id == (__u32)key.proc_id && s->kind == SCRIBE_KIND_STDIO ? SCRIBE_KIND_STDIO
										     : SCRIBE_KIND_FILE;
}

/* Before other threads or processes may need the cached description. */
static __always_inline void scribe_cache_share(struct scribe_thread *t, struct scribe_proc *p)
{
	if (!t->c_file || t->c_kept)
		return;
	scribe_desc_put(p, t->c_file, t->c_identity, t->c_slot, t->c_generation);
	t->c_kept = 1;
}

/*
 * Most files are used by one thread and closed before the next open, so the old entry moves to the process's
 * table only now.
 */
static __always_inline void scribe_cache_put(struct scribe_thread *t, struct scribe_proc *p, __u64 file, __u64 identity,
					     __u32 slot, __u32 generation, bool kept)
{
	if (t->c_file != file)
		scribe_cache_share(t, p);
	t->c_file = file;
	t->c_identity = identity;
	t->c_slot = slot;
	t->c_generation = generation;
	t->c_gen = *(volatile __u32 *)&p->open_gen;
	t->c_kept = kept;
	t->c_direct = (scribe_file_flags(file) & SCRIBE_O_DIRECT) != 0;
	/* Never valid: the table has the current identity; reads with O_DIRECT begin with a look at it. */
	if (p->flags & SCRIBE_PF_SHARES_FDS || t->c_direct)
		t->c_gen--;
	if (t->c_direct)
		scribe_cache_share(t, p);
}

SCRIBE_GLOBAL __u32 scribe_resolve_slow(struct scribe_thread *t, struct scribe_proc *p, __u64 addr)
{
	struct scribe_desc_key key = {.file = addr};
	__u32 index, generation = 0;
	struct scribe_desc *d;
	struct scribe_slot *s;
	bool kept = false;
	__u64 identity;

	if (!t || !p)
		return SCRIBE_NO_SLOT;
	identity = scribe_identity_in(p, addr);
	key.proc_id = t->proc_id;
	d = bpf_map_lookup_elem(&scribe_descs, &key);
	if (d && d->identity == identity) {
		index = d->slot;
		generation = d->generation;
		kept = true;
	} else {
		index = scribe_lookup_or_create_record(t, p, addr, scribe_kind_of_desc(p, addr));
		if (index == SCRIBE_NO_SLOT)
			return index;
	}
	if (!kept) {
		/* not opened by this thread: inherited or shared */
		s = index == SCRIBE_SKIP_SLOT ? 0 : scribe_slot_at(index);
		generation = s ? s->generation : 0;
		scribe_desc_put(p, addr, identity, index, generation);
		kept = true;
	}
	scribe_cache_put(t, p, addr, identity, index, generation, kept);
	return index;
}

static __always_inline bool scribe_is_cached(const struct scribe_thread *t, const struct scribe_proc *p,
					     const struct file *file, const struct inode *inode)
{
	return t->c_file == (__u64)file && t->c_gen == *(const volatile __u32 *)&p->open_gen &&
	       t->c_identity == scribe_identity(file, inode);
}

/*
 * Unless it returns SCRIBE_NO_SLOT or SCRIBE_SKIP_SLOT, the file is the cached one and t->c_generation its
 * record's.
 */
static __always_inline __u32 scribe_resolve(struct scribe_thread *t, struct scribe_proc *p, __u64 addr, bool directory)
{
	struct file *file = SCRIBE_CAST(file, addr);
	struct inode *inode = SCRIBE_GET(file, f_inode);

	if (scribe_is_cached(t, p, file, inode))
		return t->c_slot;
	if (!scribe_counts(p, SCRIBE_GET(inode, i_mode), directory))
		return SCRIBE_SKIP_SLOT;
	return scribe_resolve_slow(t, p, addr);
}

#endif
