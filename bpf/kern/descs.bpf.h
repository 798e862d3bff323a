/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which record an open file description has: remembered by thread and process, proved at each use, else found by
 * the name that the file has now.
 */
#ifndef BPF_KERN_DESCS_BPF_H
#define BPF_KERN_DESCS_BPF_H

#include "bpf/kern/slot.bpf.h"

#define SCRIBE_FMODE_CREATED 0x100000

#define SCRIBE_PROOF_MIX 0xd6e8feb86659fd93ull

/*
 * What tells a description from another one that has its address later: the file it is open on, by inode
 * (number and generation; the mount says in which file system) and by name (mount, dentry). Each is small beside
 * 2^64: others give another sum.
 */
static __always_inline __u64 scribe_proof(const struct file *file, const struct inode *inode)
{
	__u64 path[2], proof; /* mount and dentry as numbers: the verifier lets nobody multiply addresses */

	SCRIBE_LOAD_TWO(path, (__u64)file + bpf_core_field_offset(struct file, f_path));
	proof = path[0] * SCRIBE_PROOF_MIX + path[1];
	proof = proof * SCRIBE_PROOF_MIX + SCRIBE_GET(inode, i_ino);
	return proof * SCRIBE_PROOF_MIX + SCRIBE_GET(inode, i_generation);
}

/* The same by a function of its own, for what is deep in a chain of them: its reads take none of their stack. */
SCRIBE_GLOBAL __u64 scribe_proof_at(__u64 addr)
{
	struct file *file = SCRIBE_CAST(file, addr);
	struct inode *inode = SCRIBE_GET(file, f_inode);

	return scribe_proof(file, inode);
}

/*
 * Processes that share a table of descriptors close each other's: a description may be gone, and its address
 * that of another one of the same file, without a call of this process. Each open of theirs gets a number,
 * which is part of the proof; what has been opened before has none.
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

/* The proof of a description in this process. */
static __always_inline __u64 scribe_proof_in(const struct scribe_proc *p, __u64 file)
{
	__u64 proof = scribe_proof_at(file);

	return p->flags & SCRIBE_PF_SHARES_FDS ? proof ^ scribe_shared_number(file) : proof;
}

/* Remember for every thread of the process which record a description has. */
static __always_inline void scribe_desc_put(struct scribe_proc *p, __u64 file, __u64 proof, __u32 slot,
					    __u32 generation)
{
	struct scribe_desc_key key = {.file = file, .proc_id = p->proc_id};
	struct scribe_desc d = {.proof = proof, .slot = slot, .generation = generation};

	if (bpf_map_update_elem(&scribe_descs, &key, &d, BPF_ANY))
		scribe_count(p, SCRIBE_L_CACHE_FULL);
}

/* Does the process's job record other than regular files, too? */
static __always_inline bool scribe_all_types(const struct scribe_proc *p)
{
	struct scribe_job_entry *job = scribe_job_at(p->job);

	return job && job->all_types;
}

/* Does a file of this mode count? Directories and links only where the caller says so. */
static __always_inline bool scribe_counts(const struct scribe_proc *p, __u32 mode, bool directory)
{
	if ((mode & S_IFMT) == S_IFREG)
		return true;
	if (directory && ((mode & S_IFMT) == S_IFDIR || (mode & S_IFMT) == S_IFLNK))
		return true;
	return scribe_all_types(p);
}

/*
 * Is an open file one that counts? Not memory without a name in any file system (memfd, shared memory), nor
 * event descriptors, whose inode is a regular file's from Linux 6.16 on.
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

/*
 * First sight of a description by this process (or an open of it): find or make
 * the record of its name. SCRIBE_SKIP_SLOT when it does not count. `kind`: FILE,
 * or STDIO for a stream's record of it.
 */
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
	/* memfd, System V shared memory: memory that has no name in any file system. */
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

/* Is the description a stdio stream's, of this process or of the one it was forked from? */
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
	if (!d || d->slot == SCRIBE_SKIP_SLOT || d->proof != scribe_proof_in(p, addr))
		return SCRIBE_KIND_FILE;
	s = scribe_slot_at(d->slot);
	return s && s->proc_id == (__u32)key.proc_id && s->kind == SCRIBE_KIND_STDIO ? SCRIBE_KIND_STDIO
										   : SCRIBE_KIND_FILE;
}

/* The process's table gets the description that the thread's cache alone has: others may need it from now on. */
static __always_inline void scribe_cache_share(struct scribe_thread *t, struct scribe_proc *p)
{
	if (!t->c_file || t->c_kept)
		return;
	scribe_desc_put(p, t->c_file, t->c_proof, t->c_slot, t->c_generation);
	t->c_kept = 1;
}

/*
 * Put a description's record into the thread's cache. Most files are used by
 * one thread and closed before the next is opened: only when the place in the
 * cache is needed does the old one go into the process's table.
 */
static __always_inline void scribe_cache_put(struct scribe_thread *t, struct scribe_proc *p, __u64 file,
					     __u64 proof, __u32 slot, __u32 generation, bool kept)
{
	if (t->c_file != file)
		scribe_cache_share(t, p);
	t->c_file = file;
	t->c_proof = proof;
	t->c_slot = slot;
	t->c_generation = generation;
	t->c_gen = *(volatile __u32 *)&p->open_gen;
	if (p->flags & SCRIBE_PF_SHARES_FDS)
		t->c_gen--; /* looked for in the process's table each time: that the proof there is right */
	t->c_kept = kept;
}

SCRIBE_GLOBAL __u32 scribe_resolve_slow(struct scribe_thread *t, struct scribe_proc *p, __u64 addr)
{
	struct scribe_desc_key key = {.file = addr};
	__u32 index, generation = 0;
	struct scribe_desc *d;
	struct scribe_slot *s;
	bool kept = false;
	__u64 proof;

	if (!t || !p)
		return SCRIBE_NO_SLOT;
	proof = scribe_proof_in(p, addr);
	key.proc_id = t->proc_id;
	d = bpf_map_lookup_elem(&scribe_descs, &key);
	if (d && d->proof == proof) {
		index = d->slot;
		generation = d->generation;
		kept = true;
	} else {
		index = scribe_lookup_or_create_record(t, p, addr, scribe_kind_of_desc(p, addr));
		if (index == SCRIBE_NO_SLOT)
			return index;
	}
	if (!kept) {
		/* Met without an open: inherited, or shared with other threads. */
		s = index == SCRIBE_SKIP_SLOT ? 0 : scribe_slot_at(index);
		generation = s ? s->generation : 0;
		scribe_desc_put(p, addr, proof, index, generation);
		kept = true;
	}
	scribe_cache_put(t, p, addr, proof, index, generation, kept);
	return index;
}

/* Is the file, of this inode, the one that the thread has used last? */
static __always_inline bool scribe_is_cached(const struct scribe_thread *t, const struct scribe_proc *p,
					     const struct file *file, const struct inode *inode)
{
	return t->c_file == (__u64)file && t->c_gen == *(const volatile __u32 *)&p->open_gen &&
	       t->c_proof == scribe_proof(file, inode);
}

/*
 * The record of an open file: from the thread's cache, the process's cache, or
 * by name. SCRIBE_NO_SLOT and SCRIBE_SKIP_SLOT: nothing to record on. Else the
 * file is the cached one now, and t->c_generation its record's.
 */
static __always_inline __u32 scribe_resolve(struct scribe_thread *t, struct scribe_proc *p, __u64 addr,
					    bool directory)
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
