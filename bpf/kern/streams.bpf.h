/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams of the C library: a record moves from POSIX to STDIO. Programs that count themselves
 * (logfmt/rules/streams.h) send messages by fcntl with a command that the kernel refuses.
 */
#ifndef BPF_KERN_STREAMS_BPF_H
#define BPF_KERN_STREAMS_BPF_H

#include "bpf/kern/syscall_fd.bpf.h"
#include "logfmt/rules/streams.h"

const volatile __u32 scribe_shm_counters_reported; /* 1: messages of programs are believed */

/* Else SCRIBE_NO_SLOT. */
static __always_inline __u32 scribe_stream_known(struct scribe_thread *t, struct scribe_proc *p, __u64 addr,
						 __u64 identity)
{
	struct scribe_desc_key key = {.file = addr, .proc_id = t->proc_id};
	struct scribe_desc *d;

	if (t->c_file == addr && t->c_identity == identity && t->c_gen == *(volatile __u32 *)&p->open_gen)
		return t->c_slot;
	d = bpf_map_lookup_elem(&scribe_descs, &key);
	return d && d->identity == identity ? d->slot : SCRIBE_NO_SLOT;
}

static __always_inline __u32 scribe_stream_record(struct scribe_thread *t, struct scribe_proc *p, __u64 addr)
{
	struct file *file = SCRIBE_CAST(file, addr);
	struct scribe_slot *s;
	__u64 identity;
	__u32 index;

	if (!addr || !scribe_counts(p, SCRIBE_GET(file, f_inode, i_mode), false))
		return SCRIBE_SKIP_SLOT;
	identity = scribe_identity_in(p, addr);
	index = scribe_stream_known(t, p, addr, identity);
	if (index == SCRIBE_SKIP_SLOT)
		return index;
	s = index ? scribe_slot_at(index) : 0;
	if (!s || s->kind != SCRIBE_KIND_STDIO || *(volatile __u32 *)&s->state != SCRIBE_SLOT_LIVE) {
		index = scribe_lookup_or_create_record(t, p, addr, SCRIBE_KIND_STDIO);
		s = index == SCRIBE_SKIP_SLOT || index == SCRIBE_NO_SLOT ? 0 : scribe_slot_at(index);
		if (!s || s->kind != SCRIBE_KIND_STDIO)
			return s ? SCRIBE_SKIP_SLOT : index;
		scribe_desc_put(p, addr, identity, index, s->generation);
		/* New generation of the threads' caches: they still map the description to the POSIX record. */
		__sync_fetch_and_add(&p->open_gen, 1);
		scribe_cache_put(t, p, addr, identity, index, s->generation, true);
	}
	return index;
}

/* From t->arg. 0: in the ring. */
SCRIBE_GLOBAL int scribe_stream_place(struct scribe_thread *t, struct scribe_proc *p, __u32 slot, __u32 generation)
{
	struct scribe_scratch *x;
	int rc;

	if (!t || !p)
		return -1;
	x = scribe_scratch_take(p);
	if (!x)
		return -1;
	scribe_event_init(&x->ev, SCRIBE_EV_STREAM, p, t->proc);
	x->ev.stream.slot = slot;
	x->ev.stream.generation = generation;
	x->ev.stream.memory = (__u32)t->arg[2];
	x->ev.stream.index = (__u32)t->arg[3];
	x->ev.stream.use = (__u32)t->arg[4];
	rc = (int)bpf_ringbuf_output(&scribe_events, &x->ev, sizeof(x->ev), 0);
	scribe_scratch_put(x);
	if (rc)
		scribe_count(p, SCRIBE_L_EVENT_LOST);
	return rc;
}

/*
 * The program counts the stream itself at an index of its memory. Without an index system calls count, unless
 * the file has another stream, which the daemon must know.
 */
static __always_inline void scribe_stream_inside(struct scribe_thread *t, struct scribe_proc *p)
{
	__u32 index = scribe_stream_record(t, p, scribe_fd_file(bpf_get_current_task_btf(), (__s32)t->arg[0]));
	bool none = (__u32)t->arg[3] >= SCRIBE_SHM_COUNTERS_MAX;
	struct scribe_slot *s;

	s = index == SCRIBE_SKIP_SLOT || index == SCRIBE_NO_SLOT ? 0 : scribe_slot_at(index);
	if (!s || (none && !(s->flags & SCRIBE_SF_CALLS)))
		return;
	/* If the daemon cannot learn the owner, system calls remain the source of the counts. */
	if (scribe_stream_place(t, p, index, s->generation) || none)
		return;
	s->calls_of = (__u32)p->exec_ns;
	__sync_fetch_and_or(&s->flags, SCRIBE_SF_CALLS);
}

SCRIBE_GLOBAL int scribe_stream_announced(struct scribe_thread *t, struct scribe_proc *p)
{
	__u32 what;

	if (!t || !p || !scribe_shm_counters_reported)
		return 0;
	what = (__u32)t->arg[5];
	if (!(p->flags & SCRIBE_PF_STREAMS))
		__sync_fetch_and_or(&p->flags, SCRIBE_PF_STREAMS);
	t->stream_open = what == SCRIBE_ANNOUNCE_OPENING ? 2 : 0;
	if (what == SCRIBE_ANNOUNCE_COUNTED)
		scribe_stream_inside(t, p);
	else if (what == SCRIBE_ANNOUNCE_STANDARD && (__u32)t->arg[0] < SCRIBE_STANDARD_STREAMS)
		scribe_stream_place(t, p, 0, 1 + (__u32)t->arg[0]);
	return 0;
}

#endif
