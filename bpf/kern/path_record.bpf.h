/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of paths by (starting directory, string); excluded directories and symbolic links made by the job. */
#ifndef BPF_KERN_PATH_RECORD_BPF_H
#define BPF_KERN_PATH_RECORD_BPF_H

#include "bpf/kern/record.bpf.h"

#define SCRIBE_AT_FDCWD     (-100)
#define SCRIBE_NAME_WORDS   (SCRIBE_NAME_MAX_BYTES / 8)
#define SCRIBE_HASH_STRETCH 8

/* See scribe_chain_hash_on for the short loops. */
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

SCRIBE_GLOBAL __u64 scribe_string_hash(struct scribe_scratch *s, __u32 bytes)
{
	__u32 words = bytes / 8, at = (words & (SCRIBE_NAME_WORDS - 1)) * 8;
	__u64 hash = bytes;

	if (!s)
		return 0;
	for (__u32 i = 0; i < SCRIBE_NAME_WORDS && i < words; i += SCRIBE_HASH_STRETCH)
		hash = scribe_string_hash_on(s, i, words - i, hash);
	if (bytes & 7) {
		__u64 last = *(__u64 *)&s->text[SCRIBE_NAME_MAX_BYTES + at];

		hash = (hash ^ (last & ((1ull << ((bytes & 7) * 8)) - 1))) * SCRIBE_MIX;
		hash ^= hash >> 29;
	}
	return hash;
}

/* Only for absolute strings. */
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

/* 0: invalid descriptor. */
static __always_inline __u64 scribe_path_start(struct scribe_scratch *s, __s64 dir)
{
	if (s->text[SCRIBE_NAME_MAX_BYTES] == '/')
		return SCRIBE_FROM_ROOT;
	if ((__s32)dir == SCRIBE_AT_FDCWD)
		return SCRIBE_FROM_CWD;
	return scribe_fd_file(bpf_get_current_task_btf(), (__u32)dir);
}

/*
 * With inode generation and name in the hash, because inode numbers are reused. True: below an excluded name.
 */
static __always_inline bool scribe_start_key(struct scribe_thread *t, __u64 from)
{
	struct dentry *dentry;

	scribe_climb_begin(&t->climb, from);
	dentry = SCRIBE_CAST(dentry, t->climb.dentry);
	t->key.proc_id = t->proc_id;
	t->key.dev = SCRIBE_GET(dentry, d_sb, s_dev);
	t->key.ino = SCRIBE_GET(dentry, d_inode, i_ino);
	t->key.hash = SCRIBE_GET(dentry, d_inode, i_generation);
	if (from == SCRIBE_FROM_ROOT)
		return false;
	scribe_chain_hash(t, from);
	t->key.hash += t->climb.hash;
	return scribe_top_excluded(t, t->climb.top);
}

SCRIBE_GLOBAL int scribe_string_folder_on(struct scribe_scratch *s, __u32 bytes)
{
	for (__u32 i = 1; s && i <= SCRIBE_ROUND; i++) {
		if (i > bytes)
			return 0;
		if (s->text[SCRIBE_NAME_MAX_BYTES + ((bytes - i) & (SCRIBE_NAME_MAX_BYTES - 1))] == '/')
			return bytes - i + 1;
	}
	return -1;
}

/* Length with the last slash; 0: no slash; -1: not in the last 256 bytes. */
SCRIBE_GLOBAL int scribe_string_folder(struct scribe_scratch *s, __u32 bytes)
{
	int folder = -1;

	for (__u32 i = 0; i < 256 && folder < 0; i += SCRIBE_ROUND)
		folder = scribe_string_folder_on(s, bytes - i);
	return folder;
}

/*
 * Directories in strings below an excluded name. Links may lead out: the first path gets a record, which the
 * daemon flags if the whole directory is excluded and unchangeable by users.
 */
struct scribe_folder {
	__u32 slot, generation; /* of the first path; SCRIBE_SKIP_SLOT: excluded */
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct scribe_folder_key);
	__type(value, struct scribe_folder);
} scribe_folders SEC(".maps");

/* Into t->folder. False: cannot be cached. */
static __always_inline bool scribe_folder_key(struct scribe_thread *t, struct scribe_proc *p, struct scribe_scratch *s,
					      __u32 bytes, __u64 start)
{
	int folder = scribe_string_folder(s, bytes);

	if (folder < 0)
		return false;
	t->folder.hash = start * SCRIBE_MIX + scribe_string_hash(s, folder);
	t->folder.ino = t->key.ino;
	t->folder.dev = t->key.dev;
	t->folder.job = p->job;
	return true;
}

enum scribe_folder_state { SCRIBE_FOLDER_UNKNOWN, SCRIBE_FOLDER_ASKED, SCRIBE_FOLDER_EXCLUDED };

/* UNKNOWN: no representative path, or one that ended in a link. */
SCRIBE_GLOBAL int scribe_folder_state(void)
{
	/* Found here, not passed: before Linux 6.2 only map memory can be a key. */
	struct scribe_thread *t = scribe_thread_of(bpf_get_current_task_btf());
	struct scribe_folder *f;
	struct scribe_slot *s;
	__u32 flags;

	if (!t)
		return SCRIBE_FOLDER_UNKNOWN;
	f = bpf_map_lookup_elem(&scribe_folders, &t->folder);
	if (!f)
		return SCRIBE_FOLDER_UNKNOWN;
	if (f->slot == SCRIBE_SKIP_SLOT)
		return SCRIBE_FOLDER_EXCLUDED;
	s = scribe_slot_at(f->slot);
	if (!s)
		return SCRIBE_FOLDER_UNKNOWN;
	flags = *(volatile __u32 *)&s->flags & (SCRIBE_SF_EXCLUDED | SCRIBE_SF_FOLDER_EXCLUDED);
	if (*(volatile __u32 *)&s->generation != f->generation || flags == SCRIBE_SF_EXCLUDED)
		return SCRIBE_FOLDER_UNKNOWN;
	if (!flags)
		return SCRIBE_FOLDER_ASKED;
	f->slot = SCRIBE_SKIP_SLOT;
	return SCRIBE_FOLDER_EXCLUDED;
}

SCRIBE_GLOBAL int scribe_folder_speaks(__u32 slot, __u32 generation)
{
	struct scribe_thread *t = scribe_thread_of(bpf_get_current_task_btf());
	struct scribe_folder f = {.slot = slot, .generation = generation};

	if (t)
		bpf_map_update_elem(&scribe_folders, &t->folder, &f, BPF_ANY);
	return 0;
}

/*
 * Symbolic links made or moved by the job, and directories above. A call on such a name may change a link:
 * strings then get new records (`links` of the job's entry).
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct scribe_folder_key);
	__type(value, __u32);
} scribe_links SEC(".maps");

#define SCRIBE_NO_COMPONENT 1

/* Hashes backwards into t->component. 1: complete. */
SCRIBE_GLOBAL int scribe_component_on(struct scribe_thread *t, struct scribe_scratch *s)
{
	__u32 at, bytes;
	__u64 hash;

	if (!t || !s)
		return 1;
	at = t->component.end;
	bytes = t->component.bytes;
	hash = t->component.hash;
	for (int i = 0; i < SCRIBE_HASH_STRETCH && bytes; i++) {
		char c = s->text[(at - 1) & (2 * SCRIBE_NAME_MAX_BYTES - 1)];

		at--;
		bytes--;
		if (c != '/')
			hash = (hash ^ (unsigned char)c) * SCRIBE_MIX;
		else if (hash != SCRIBE_NO_COMPONENT)
			break;
	}
	t->component.end = at;
	t->component.bytes = bytes;
	t->component.hash = hash;
	return !bytes || (hash != SCRIBE_NO_COMPONENT && s->text[at & (2 * SCRIBE_NAME_MAX_BYTES - 1)] == '/');
}

/* t->component then ends before it. */
SCRIBE_GLOBAL __u64 scribe_component(struct scribe_thread *t, struct scribe_scratch *s)
{
	if (!t || !s)
		return SCRIBE_NO_COMPONENT;
	t->component.hash = SCRIBE_NO_COMPONENT;
	for (int i = 0; i < 256 / SCRIBE_HASH_STRETCH; i++)
		if (scribe_component_on(t, s))
			break;
	return t->component.hash;
}

#define SCRIBE_LINK_DEPTH 32

SCRIBE_GLOBAL int scribe_links_named(struct scribe_scratch *s, __u32 job, __u32 end, __u32 bytes)
{
	struct scribe_thread *t = scribe_thread_of(bpf_get_current_task_btf());
	__u32 is_link = 1;

	if (!t || !s)
		return 0;
	t->folder = (struct scribe_folder_key){.job = job};
	t->component.end = end;
	t->component.bytes = bytes;
	for (int i = 0; i < SCRIBE_LINK_DEPTH; i++) {
		t->folder.hash = scribe_component(t, s);
		if (t->folder.hash == SCRIBE_NO_COMPONENT)
			break;
		bpf_map_update_elem(&scribe_links, &t->folder, &is_link, BPF_ANY);
	}
	return 0;
}

/* For a new link: its string and the directory it starts from. */
static __always_inline void scribe_link_named(struct scribe_scratch *s, __u32 job, __u64 from, __u32 bytes)
{
	__u32 off;

	scribe_links_named(s, job, SCRIBE_NAME_MAX_BYTES + bytes, bytes);
	*(volatile __u32 *)&s->off = 0;
	scribe_chain_text(from, s);
	off = *(volatile __u32 *)&s->off;
	scribe_links_named(s, job, off, off);
}

static __always_inline __u32 scribe_link_change(const struct scribe_thread *t)
{
	if (t->meta.what == SCRIBE_META_RENAME_SOURCE || t->meta.what == SCRIBE_META_RENAME_TARGET)
		return SCRIBE_LINK_MOVED;
	if (t->meta.what != SCRIBE_META_EXT)
		return 0;
	if (t->meta.ext == SCRIBE_EXT_SYMLINKS)
		return SCRIBE_LINK_MADE;
	return t->meta.ext == SCRIBE_EXT_UNLINKS ? SCRIBE_LINK_REMOVED : 0;
}

/* Sets t->link_change; invalidates strings if the call is known to change a link. */
SCRIBE_GLOBAL int scribe_link_touched(struct scribe_proc *p, __u64 last)
{
	struct scribe_thread *t = scribe_thread_of(bpf_get_current_task_btf());
	struct scribe_job_entry *job = p ? scribe_job_at(p->job) : 0;
	struct scribe_folder_key *key;
	__u32 is_link = 1, change;

	if (!t || !p || !job)
		return 0;
	change = scribe_link_change(t);
	if (!change)
		return 0;
	key = &t->folder;
	*key = (struct scribe_folder_key){.hash = last, .job = p->job};
	if (change == SCRIBE_LINK_MADE || t->link_change & SCRIBE_LINK_KNOWN || bpf_map_lookup_elem(&scribe_links, key))
		t->link_change = change | SCRIBE_LINK_KNOWN;
	else
		t->link_change = change;
	if (t->meta.what == SCRIBE_META_RENAME_SOURCE) {
		t->link_source = last;
		return 0;
	}
	if (!(t->link_change & SCRIBE_LINK_KNOWN))
		return 0;
	__sync_fetch_and_add(&job->links, 1);
	if (change == SCRIBE_LINK_REMOVED)
		return 0;
	bpf_map_update_elem(&scribe_links, key, &is_link, BPF_ANY);
	if (change == SCRIBE_LINK_MOVED) { /* possibly exchanged names */
		key->hash = t->link_source;
		bpf_map_update_elem(&scribe_links, key, &is_link, BPF_ANY);
	}
	return 0;
}

/* Length, bytes that are not path, SCRIBE_NF_NOFOLLOW or 0. */
static __always_inline __u64 scribe_name_string(__u32 bytes, __u32 suffix, __u32 flags)
{
	return bytes | (__u64)suffix << 16 | (__u64)flags << 32;
}

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
	s->ev.name.slot = index;
	s->ev.name.generation = slot->generation;
	s->ev.name.flags = scribe_chain_text(from, s) | SCRIBE_NF_STRING;
	s->ev.name.flags |= string >> 32;
	s->ev.name.suffix_bytes = suffix;
	off = *(volatile __u32 *)&s->off;
	if (off > SCRIBE_NAME_MAX_BYTES)
		off = SCRIBE_NAME_MAX_BYTES;
	if (bytes >= SCRIBE_NAME_MAX_BYTES)
		bytes = SCRIBE_NAME_MAX_BYTES - 1;
	s->ev.name.chain_bytes = off;
	s->ev.name.string_bytes = bytes;
	bpf_probe_read_kernel(&s->text[off], bytes, &s->text[SCRIBE_NAME_MAX_BYTES]);
	if (scribe_send_text(s, off + bytes)) {
		scribe_count(p, SCRIBE_L_NAME_RETRY);
		return -1;
	}
	__sync_fetch_and_or(&slot->flags, SCRIBE_SF_NAME_SENT);
	return 0;
}

SCRIBE_GLOBAL int scribe_send_link(struct scribe_thread *t, struct scribe_proc *p, __u32 index, __u32 from)
{
	struct scribe_slot *slot, *old_slot;
	struct scribe_scratch *s;
	long bytes = 0;

	if (!t || !p)
		return 0;
	slot = scribe_slot_at(index);
	old_slot = scribe_slot_at(from);
	s = scribe_scratch_take(p);
	if (!slot || !old_slot || !s) {
		if (s)
			scribe_scratch_put(s);
		scribe_count(p, SCRIBE_L_NAME_UNRESOLVED);
		return 0;
	}
	scribe_event_head(&s->ev, SCRIBE_EV_LINK, p, t->proc);
	s->ev.link.slot = index;
	s->ev.link.generation = slot->generation;
	s->ev.link.source_slot = from;
	s->ev.link.source_generation = old_slot->generation;
	s->ev.link.change = t->link_change;
	if ((t->link_change & ~SCRIBE_LINK_KNOWN) == SCRIBE_LINK_MADE)
		bytes = bpf_probe_read_user_str(s->text, SCRIBE_NAME_MAX_BYTES, (void *)SCRIBE_ARG(1));
	if (bytes < 0 || scribe_send_text(s, bytes))
		scribe_count(p, SCRIBE_L_NAME_UNRESOLVED);
	scribe_scratch_put(s);
	return 0;
}

static __always_inline __u32 scribe_path_find(struct scribe_thread *t, struct scribe_proc *p, struct scribe_scratch *s,
					      const struct scribe_path_arg *a, __u64 from, __u32 bytes)
{
	struct scribe_job_entry *job = scribe_job_at(p->job);
	__u32 index, flags = a->nofollow ? SCRIBE_NF_NOFOLLOW : 0;
	int state = SCRIBE_FOLDER_ASKED;
	struct scribe_slot *slot;
	bool fresh, maybe_out;
	__u64 start, hash;

	if (!job)
		return SCRIBE_SKIP_SLOT;
	/* No records for the entries of excluded directories during a walk. */
	if (scribe_start_key(t, from))
		return SCRIBE_SKIP_SLOT;
	maybe_out = from == SCRIBE_FROM_ROOT && scribe_string_excluded(s);
	start = t->key.hash + *(volatile __u32 *)&job->links;
	if (maybe_out && scribe_folder_key(t, p, s, bytes, start))
		state = scribe_folder_state();
	if (state == SCRIBE_FOLDER_EXCLUDED)
		return SCRIBE_SKIP_SLOT;
	hash = scribe_string_hash(s, bytes);
	if (scribe_link_change(t) == SCRIBE_LINK_MADE) {
		job->linked = 1;
		scribe_link_named(s, p->job, from, bytes);
	}
	if (job->linked) {
		t->component.end = SCRIBE_NAME_MAX_BYTES + bytes;
		t->component.bytes = bytes;
		scribe_link_touched(p, scribe_component(t, s));
	}
	/* bit 1: the last component is not followed */
	t->key.hash = (start * SCRIBE_MIX + hash) << 2 | (a->nofollow ? 2 : 0) | SCRIBE_INDEX_BY_STRING;
	index = scribe_slot_for(p, t->proc, &t->key, SCRIBE_KIND_PATH, &fresh);
	slot = index ? scribe_slot_at(index) : 0;
	if (!slot || slot->kind != SCRIBE_KIND_PATH)
		return index;
	if (state == SCRIBE_FOLDER_UNKNOWN && fresh && scribe_folder_key(t, p, s, bytes, start)) {
		scribe_folder_speaks(index, slot->generation);
		flags |= SCRIBE_NF_WANTED;
	}
	if (!(slot->flags & SCRIBE_SF_NAME_SENT))
		scribe_send_name(slot, index, s, from, scribe_name_string(bytes, 0, flags));
	return index;
}

#endif
