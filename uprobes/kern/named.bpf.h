/* SPDX-License-Identifier: BSD-3-Clause */
/* Records named by a string of the program (calls->name): a path, or an object in a file with a record. */
#ifndef UPROBES_KERN_NAMED_BPF_H
#define UPROBES_KERN_NAMED_BPF_H

#include "uprobes/kern/call.bpf.h"

/* "ufs:" and the like. */
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

/* Joins the strings in the scratch's upper half; path bytes << 16 | all bytes, 0: unreadable. */
SCRIBE_GLOBAL __u32 scribe_lib_read(struct scribe_scratch *s, const struct scribe_lib_name *n)
{
	__u32 bytes, more = 0;
	__u64 from;
	long got;

	if (!s || !n)
		return 0;
	from = n->string;
	got = bpf_probe_read_user_str(&s->text[SCRIBE_NAME_MAX_BYTES], SCRIBE_NAME_MAX_BYTES / 2, (void *)from);
	if (got <= 1)
		return 0;
	if (n->prefix) {
		__u32 skip = scribe_prefix_bytes(s);

		if (skip) {
			from += skip;
			got = bpf_probe_read_user_str(&s->text[SCRIBE_NAME_MAX_BYTES], SCRIBE_NAME_MAX_BYTES / 2,
						      (void *)from);
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

/* Sends the name, the string in the scratch's upper half, below record `base`. */
SCRIBE_GLOBAL int scribe_below_send(struct scribe_scratch *s, struct scribe_slot *slot, const struct scribe_slot *base,
				    __u64 index_file, __u32 length)
{
	__u32 bytes = length & (SCRIBE_NAME_MAX_BYTES / 2 - 1);
	struct scribe_proc *p;

	if (!s || !slot || !base)
		return 0;
	p = scribe_proc_at(slot->proc);
	if (!p)
		return 0;
	scribe_event_head(&s->ev, SCRIBE_EV_NAME, p, slot->proc);
	s->ev.name.slot = index_file >> 32;
	s->ev.name.generation = slot->generation;
	s->ev.name.flags = SCRIBE_NF_STRING | SCRIBE_NF_BELOW;
	s->ev.name.below_slot = base->renamed_from ? base->renamed_from : (__u32)index_file;
	s->ev.name.below_generation = base->renamed_from ? base->renamed_from_generation : base->generation;
	s->ev.name.string_bytes = bytes;
	bpf_probe_read_kernel(&s->text[0], bytes, &s->text[SCRIBE_NAME_MAX_BYTES]);
	if (scribe_send_text(s, bytes))
		scribe_count(p, SCRIBE_L_NAME_RETRY);
	else
		__sync_fetch_and_or(&slot->flags, SCRIBE_SF_NAME_SENT);
	return 0;
}

SCRIBE_GLOBAL __u32 scribe_lib_record_of(struct scribe_thread *t, struct scribe_proc *p, __u32 kind)
{
	struct scribe_slot *slot;
	bool fresh = false;
	__u32 index;

	if (!t || !p)
		return SCRIBE_NO_SLOT;
	index = scribe_slot_for(p, t->proc, &t->key, kind, &fresh);
	slot = index ? scribe_slot_at(index) : 0;
	return slot && slot->kind == kind ? index : SCRIBE_NO_SLOT;
}

/* Of an object in a file: named by the file's record, which the daemon knows, and calls->name.suffix. */
SCRIBE_GLOBAL __u32 scribe_lib_below(struct scribe_thread *t, struct scribe_proc *p, __u32 file,
				     struct scribe_calls *calls)
{
	struct scribe_slot *base = scribe_slot_at(file), *slot;
	__u32 index = SCRIBE_NO_SLOT;
	struct scribe_scratch *s;
	long got = 1;

	if (!t || !p || !calls || !base)
		return index;
	if (base->flags & SCRIBE_SF_EXCLUDED)
		return SCRIBE_SKIP_SLOT;
	s = scribe_scratch_take(p);
	if (!s)
		return index;
	if (calls->name.suffix)
		got = bpf_probe_read_user_str(&s->text[SCRIBE_NAME_MAX_BYTES], SCRIBE_NAME_MAX_BYTES / 2,
					      (void *)calls->name.suffix);
	if (got > 1 || calls->name.own) {
		__u64 hash = calls->name.own;

		if (!hash)
			hash = scribe_string_hash(s, got - 1);
		t->key.proc_id = p->proc_id;
		t->key.dev = base->dev;
		t->key.ino = base->ino;
		t->key.hash = ((hash + base->hash) * SCRIBE_MIX + calls->name.kind) << 2 | 1;
		index = scribe_lib_record_of(t, p, calls->name.kind);
	}
	slot = index ? scribe_slot_at(index) : 0;
	if (!slot)
		scribe_count(p, SCRIBE_L_LIB_DROPPED);
	else if (!calls->name.later && got > 0 && !(slot->flags & SCRIBE_SF_NAME_SENT) &&
		 base->flags & SCRIBE_SF_NAME_SENT)
		scribe_below_send(s, slot, base, (__u64)index << 32 | file, got - 1);
	scribe_scratch_put(s);
	return index;
}

/* `lengths` from scribe_lib_read. */
SCRIBE_GLOBAL __u32 scribe_lib_find(struct scribe_thread *t, struct scribe_proc *p, struct scribe_scratch *s,
				    struct scribe_calls *calls, __u32 lengths)
{
	__u32 bytes = lengths & 0xffff, index;
	struct scribe_job_entry *job;
	struct scribe_slot *slot;
	__u64 from;

	if (!t || !p || !s || !calls)
		return SCRIBE_NO_SLOT;
	job = scribe_job_at(p->job);
	from = scribe_path_start(s, SCRIBE_AT_FDCWD);
	if (!from || !job)
		return SCRIBE_SKIP_SLOT;
	/* the daemon decides on exclusion, because it resolves links */
	scribe_start_key(t, from);
	if (calls->name.own)
		t->key.hash = calls->name.own;
	else
		t->key.hash =
			(t->key.hash + *(volatile __u32 *)&job->links) * SCRIBE_MIX + scribe_string_hash(s, bytes);
	t->key.hash = (t->key.hash * SCRIBE_MIX + calls->name.kind) << 2 | 1;
	index = scribe_lib_record_of(t, p, calls->name.kind);
	slot = index ? scribe_slot_at(index) : 0;
	if (slot && !calls->name.later && !(slot->flags & SCRIBE_SF_NAME_SENT))
		scribe_send_name(slot, index, s, from, scribe_name_string(bytes, bytes - (lengths >> 16), 0));
	return index;
}

/* SCRIBE_SKIP_SLOT: not recorded; SCRIBE_NO_SLOT: lost. */
static __always_inline __u32 scribe_lib_slot(struct scribe_thread *t, struct scribe_proc *p, struct scribe_calls *calls)
{
	struct scribe_scratch *s = scribe_scratch_take(p);
	__u32 index = SCRIBE_NO_SLOT, lengths;

	if (s) {
		lengths = scribe_lib_read(s, &calls->name);
		if (lengths)
			index = scribe_lib_find(t, p, s, calls, lengths);
		else
			scribe_count(p, SCRIBE_L_NAME_UNREADABLE);
		scribe_scratch_put(s);
	}
	if (index == SCRIBE_NO_SLOT)
		scribe_count(p, SCRIBE_L_LIB_DROPPED);
	return index;
}

#endif
