/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes: children are enrolled at fork, arguments and environment are sent
 * at exec, and a process ends when its last thread is gone. A process is known
 * by its serial, never by a pid.
 */
#ifndef BPF_PROCESS_BPF_H
#define BPF_PROCESS_BPF_H

#include "bpf/uring.bpf.h"

#define SCRIBE_SIGNAL_GROUP_EXIT 4
#define SCRIBE_ENV_CHUNKS 512 /* of SCRIBE_ENV_CHUNK_BYTES: 2 MiB */

static __noinline int scribe_proc_new(void)
{
	struct scribe_ctl *ctl = scribe_ctl_get();
	__u32 index = 0;

	if (!ctl)
		return 0;
	SCRIBE_POP(scribe_proc_free, &ctl->procs, scribe_proc_mask, 0, index);
	return index;
}

static __always_inline void scribe_send_proc(struct scribe_proc *p, __u32 index, __u32 type, __u32 parent,
					     __s32 status)
{
	struct scribe_event ev;

	scribe_event_init(&ev, type, p, index);
	ev.slot = parent;
	ev.status = status;
	/* Ends are waited for; births only have to be in order. */
	if (bpf_ringbuf_output(&scribe_events, &ev, sizeof(ev),
			       type == SCRIBE_EV_EXIT ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP))
		scribe_count(p, SCRIBE_L_EVENT_LOST);
}

static __noinline int scribe_fork(struct task_struct *parent, struct task_struct *child)
{
	struct scribe_thread *t = bpf_task_storage_get(&scribe_task, parent, 0, 0), *c;
	struct scribe_proc *p, *q;
	__u32 index;

	if (!t)
		return 0;
	p = scribe_proc_at(t->proc);
	if (!p || p->serial != t->serial)
		return 0;
	index = t->proc;
	if (child->tgid != parent->tgid)
		index = scribe_proc_new();
	if (!index) {
		scribe_count(p, SCRIBE_L_DROP_NO_PROC);
		return 0;
	}
	c = bpf_task_storage_get(&scribe_task, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!c) {
		scribe_count(p, SCRIBE_L_DROP_STORAGE);
		return 0;
	}
	q = scribe_proc_at(index);
	if (!q)
		return 0;
	if (index != t->proc) {
		struct scribe_ctl *ctl = scribe_ctl_get();
		struct scribe_tgid tg;

		if (!ctl)
			return 0;
		q->serial = __sync_fetch_and_add(&ctl->next_serial, 1) + 1;
		q->parent_serial = p->serial;
		q->job = p->job;
		q->tgid = child->tgid;
		q->uid = p->uid;
		q->mem_align = p->mem_align;
		q->threads = 1;
		q->flags = p->flags & SCRIBE_PF_DISABLED;
		q->start_ns = bpf_ktime_get_ns();
		__builtin_memcpy(q->comm, p->comm, sizeof(q->comm));
		tg.proc = index;
		tg.serial = q->serial;
		bpf_map_update_elem(&scribe_tgids, &q->tgid, &tg, BPF_ANY);
		scribe_send_proc(q, index, SCRIBE_EV_FORK, p->serial, 0);
	} else {
		__sync_fetch_and_add(&q->threads, 1);
	}
	c->serial = q->serial;
	c->proc = index;
	return 0;
}

/* Pieces of the new image's arguments and environment, in order. */
static __noinline int scribe_exec(struct task_struct *task)
{
	struct scribe_thread *t = bpf_task_storage_get(&scribe_task, task, 0, 0);
	struct scribe_scratch *s;
	struct scribe_proc *p;
	__u64 from, end, bytes;

	if (!t)
		return 0;
	p = scribe_proc_at(t->proc);
	if (!p || p->serial != t->serial)
		return 0;
	t->act = 0;
	t->c_file = 0;
	p->exec_ns = bpf_ktime_get_ns();
	p->flags |= SCRIBE_PF_EXECED;
	bpf_get_current_comm(p->comm, sizeof(p->comm));
	s = scribe_scratch_take(p);
	if (!s) {
		scribe_count(p, SCRIBE_L_ENV_LOST);
		return 0;
	}
	scribe_event_init(&s->ev, SCRIBE_EV_EXEC, p, t->proc);
	s->ev.uid = BPF_CORE_READ(task, cred, uid.val);
	p->uid = s->ev.uid;
	from = BPF_CORE_READ(task, mm, arg_start);
	end = BPF_CORE_READ(task, mm, arg_end);
	bytes = end - from;
	if (bytes > SCRIBE_ARGS_MAX_BYTES) {
		bytes = SCRIBE_ARGS_MAX_BYTES;
		s->ev.flags = 1;
	}
	if (bpf_probe_read_user(s->text, bytes & 8191, (void *)from))
		bytes = 0;
	if (scribe_send_text(s, bytes))
		scribe_count(p, SCRIBE_L_EVENT_LOST);
	from = BPF_CORE_READ(task, mm, env_start);
	end = BPF_CORE_READ(task, mm, env_end);
	for (int i = 0; i < SCRIBE_ENV_CHUNKS; i++) {
		bytes = end - from;
		if (bytes > SCRIBE_ENV_CHUNK_BYTES)
			bytes = SCRIBE_ENV_CHUNK_BYTES;
		s->ev.type = SCRIBE_EV_ENV;
		s->ev.flags = from + bytes == end;
		if (bpf_probe_read_user(s->text, bytes & 8191, (void *)from) || scribe_send_text(s, bytes)) {
			scribe_count(p, SCRIBE_L_ENV_LOST);
			break;
		}
		from += bytes;
		if (from >= end)
			break;
	}
	scribe_scratch_put(s);
	return 0;
}

#define SCRIBE_PROT_EXEC 4

/* An executable file is about to be mapped: a library, whose functions may be wanted. */
SCRIBE_GLOBAL int scribe_tell_map(struct scribe_proc *p, __u32 proc, __u64 fd)
{
	struct scribe_event ev;
	struct scribe_job *job;
	struct file *file;
	__u64 addr;

	if (!p)
		return 0;
	job = scribe_job_at(p->job);
	addr = job && job->tell_maps ? scribe_fd_file(bpf_get_current_task_btf(), fd) : 0;
	if (!addr)
		return 0;
	file = SCRIBE_CAST(file, addr);
	scribe_event_init(&ev, SCRIBE_EV_MAP, p, proc);
	ev.slot = SCRIBE_GET(file, f_inode, i_sb, s_dev);
	ev.birth = (__u32)SCRIBE_GET(file, f_inode, i_ino);
	ev.flags = (__u64)SCRIBE_GET(file, f_inode, i_ino) >> 32;
	if (bpf_ringbuf_output(&scribe_events, &ev, sizeof(ev), 0))
		scribe_count(p, SCRIBE_L_EVENT_LOST);
	return 0;
}

static __noinline int scribe_exit_task(struct task_struct *task)
{
	struct scribe_thread *t = bpf_task_storage_get(&scribe_task, task, 0, 0);
	struct scribe_proc *p;
	__s32 status;

	if (!t)
		return 0;
	p = scribe_proc_at(t->proc);
	if (!p || p->serial != t->serial)
		return 0;
	scribe_count_many(p, SCRIBE_L_EVENTS, t->events);
	t->events = 0;
	if (__sync_fetch_and_add(&p->threads, -1) != 1)
		return 0;
	bpf_map_delete_elem(&scribe_tgids, &p->tgid);
	if (BPF_CORE_READ(task, signal, flags) & SCRIBE_SIGNAL_GROUP_EXIT)
		status = BPF_CORE_READ(task, signal, group_exit_code);
	else
		status = BPF_CORE_READ(task, group_leader, exit_code);
	p->exit_code = status;
	p->exit_ns = bpf_ktime_get_ns();
	__sync_fetch_and_or(&p->flags, SCRIBE_PF_EXITED);
	scribe_send_proc(p, t->proc, SCRIBE_EV_EXIT, 0, status);
	return 0;
}

#endif
