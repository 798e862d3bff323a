/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes, by proc_id, never by pid: children are enrolled at fork, others join at exec. One that gains
 * privileges at exec is hidden with its descendants: only their existence is recorded, until one executes a
 * program as the plain user.
 */
#ifndef BPF_KERN_PROCESS_BPF_H
#define BPF_KERN_PROCESS_BPF_H

#include "bpf/kern/descs.bpf.h"
#include "bpf/kern/enroll.bpf.h"
#include "bpf/kern/io_uring.bpf.h"

#define SCRIBE_SIGNAL_GROUP_EXIT 4
#define SCRIBE_ENV_CHUNKS        512 /* of SCRIBE_ENV_CHUNK_BYTES: 2 MiB */

/* Within the job's quota; 0 none. */
SCRIBE_GLOBAL __u32 scribe_proc_new(__u32 job_index)
{
	struct scribe_job_entry *job = scribe_job_at(job_index);
	struct scribe_ctl *ctl = scribe_ctl_get();
	__u32 index = 0;

	if (!ctl || !job)
		return 0;
	if (__sync_fetch_and_add(&job->proc_used, 1) < job->proc_quota)
		SCRIBE_POP(scribe_proc_free, &ctl->procs, scribe_proc_mask, 0, index);
	if (!index) {
		__sync_fetch_and_add(&job->proc_used, -1);
		scribe_count_job(job_index, SCRIBE_L_DROP_NO_PROC);
	}
	return index;
}

/* Not started by a recorded process. */
static __always_inline bool scribe_is_top(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	__u32 parent = BPF_CORE_READ(task, real_parent, tgid);

	return !bpf_map_lookup_elem(&scribe_tgids, &parent);
}

/* `value`: the parent's proc_id, the job, or the wait status. */
static __always_inline void scribe_send_proc(struct scribe_proc *p, __u32 index, __u32 type, __s32 value)
{
	struct scribe_event *ev = bpf_ringbuf_reserve(&scribe_events, sizeof(*ev), 0);

	if (!ev) {
		scribe_count(p, SCRIBE_L_EVENT_LOST);
		return;
	}
	scribe_event_init(ev, type, p, index);
	if (type == SCRIBE_EV_FORK)
		ev->fork.parent = value;
	else if (type == SCRIBE_EV_JOIN)
		ev->join.job = value;
	else
		ev->exit.status = value;
	/*
	 * Wake the daemon for a new process that is not recorded yet, and at a command's end; the rest need
	 * only order.
	 */
	if (type == SCRIBE_EV_EXIT ? scribe_is_top() : type == SCRIBE_EV_JOIN && p->flags & SCRIBE_PF_LATE)
		bpf_ringbuf_submit(ev, BPF_RB_FORCE_WAKEUP);
	else
		bpf_ringbuf_submit(ev, scribe_wakes());
}

/* Setting proc_id makes the entry valid. */
static __always_inline void scribe_proc_begin(struct scribe_proc *q, __u32 index, __u32 tgid)
{
	struct scribe_ctl *ctl = scribe_ctl_get();
	struct scribe_tgid tg;

	if (!ctl)
		return;
	q->tgid = tgid;
	q->threads = 1;
	q->start_ns = bpf_ktime_get_ns();
	tg.proc = index;
	tg.proc_id = __sync_fetch_and_add(&ctl->next_serial, 1) + 1;
	*(volatile __u32 *)&q->proc_id = tg.proc_id;
	bpf_map_update_elem(&scribe_tgids, &q->tgid, &tg, BPF_ANY);
}

static __noinline int scribe_fork(struct task_struct *parent, struct task_struct *child)
{
	struct scribe_thread *t = scribe_thread_of(parent), *c;
	struct scribe_proc *p, *q;
	__u64 from_ns;
	__u32 index;

	if (!t)
		return 0;
	from_ns = bpf_ktime_get_ns();
	p = scribe_proc_at(t->proc);
	if (!p || p->proc_id != t->proc_id)
		return 0;
	c = bpf_task_storage_get(&scribe_task, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!c) {
		scribe_count(p, SCRIBE_L_DROP_STORAGE);
		return 0;
	}
	index = t->proc;
	if (child->tgid != parent->tgid)
		index = scribe_proc_new(p->job);
	q = index ? scribe_proc_at(index) : 0;
	if (!q) {
		bpf_task_storage_delete(&scribe_task, child);
		return 0;
	}
	if (index != t->proc) {
		q->parent_serial = p->proc_id;
		q->job = p->job;
		q->uid = p->uid;
		q->mem_align = p->mem_align;
		q->heat_base_ns = p->heat_base_ns ? p->heat_base_ns : p->start_ns;
		q->flags = p->flags & SCRIBE_PF_NOT_RECORDED;
		if (scribe_io_begins() == SCRIBE_IO_LATE)
			q->flags |= SCRIBE_PF_LATE;
		if (child->files == parent->files) {
			/* The parent's caches must use numbered opens from now on (bpf/kern/descs.bpf.h). */
			q->flags |= SCRIBE_PF_SHARES_FDS;
			scribe_cache_share(t, p);
			__sync_fetch_and_or(&p->flags, SCRIBE_PF_SHARES_FDS);
			__sync_fetch_and_add(&p->open_gen, 1);
		}
		__builtin_memcpy(q->comm, p->comm, sizeof(q->comm));
		scribe_proc_begin(q, index, child->tgid);
		scribe_send_proc(q, index, SCRIBE_EV_FORK, p->proc_id);
	} else {
		scribe_cache_share(t, p);
		__sync_fetch_and_add(&q->threads, 1);
	}
	c->proc_id = q->proc_id;
	c->proc = index;
	c->mem_align = q->mem_align;
	c->io_begun = scribe_io_begins();
	scribe_cost_once(p, from_ns);
	return 0;
}

/*
 * Atomic, after proc_used was increased: the daemon first clears the word, then reads proc_used, so one sees
 * the other.
 */
static __always_inline bool scribe_joins_late(void)
{
	struct scribe_ctl *ctl = scribe_ctl_get();

	return ctl && !__sync_fetch_and_add(&ctl->calls, 0);
}

/* After exec the task is single-threaded. */
static __always_inline int scribe_join(struct task_struct *task, __u32 privileged)
{
	__u32 found = scribe_join_job(privileged), index;
	struct scribe_thread *t;
	struct scribe_proc *q;
	struct scribe_job_entry *job;

	if (!found)
		return 0;
	job = scribe_job_at(found - 1);
	if (!job)
		return 0;
	t = bpf_task_storage_get(&scribe_task, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t) {
		scribe_count_job(found - 1, SCRIBE_L_DROP_STORAGE);
		return 0;
	}
	index = scribe_proc_new(found - 1);
	q = index ? scribe_proc_at(index) : 0;
	if (!q) {
		bpf_task_storage_delete(&scribe_task, task);
		return 0;
	}
	q->parent_serial = 0;
	q->job = found - 1;
	q->uid = BPF_CORE_READ(task, cred, uid.val);
	q->mem_align = job->mem_align;
	q->flags = SCRIBE_PF_JOINED | (scribe_joins_late() ? SCRIBE_PF_LATE : 0);
	scribe_proc_begin(q, index, task->tgid);
	t->proc_id = q->proc_id;
	t->proc = index;
	t->mem_align = q->mem_align;
	scribe_send_proc(q, index, SCRIBE_EV_JOIN, found - 1);
	return 1;
}

static __always_inline void scribe_exec_hidden(struct scribe_proc *p, __u32 index)
{
	struct scribe_event *ev = bpf_ringbuf_reserve(&scribe_events, sizeof(*ev), 0);

	__builtin_memset(p->comm, 0, sizeof(p->comm));
	if (!ev) {
		scribe_count(p, SCRIBE_L_EVENT_LOST);
		return;
	}
	scribe_event_init(ev, SCRIBE_EV_EXEC, p, index);
	ev->exec.flags = SCRIBE_XF_HIDDEN;
	bpf_ringbuf_submit(ev, scribe_wakes());
}

static __always_inline bool scribe_hides(struct scribe_proc *p, struct task_struct *task, __u32 privileged)
{
	struct scribe_job_entry *job = scribe_job_at(p->job);
	__u32 uid = BPF_CORE_READ(task, cred, uid.val);

	if (!job || job->flags & SCRIBE_JF_SHOW_PRIVILEGED)
		return false;
	if (privileged && uid != 0) {
		p->uid = uid;
		__sync_fetch_and_or(&p->flags, SCRIBE_PF_HIDDEN);
		return true;
	}
	if (!(p->flags & SCRIBE_PF_HIDDEN))
		return false;
	if (!scribe_is_plain(task, p->uid))
		return true;
	__sync_fetch_and_and(&p->flags, ~SCRIBE_PF_HIDDEN);
	return false;
}

/* Limits environments, so that users cannot displace names. */
static __always_inline bool scribe_env_has_room(struct scribe_ctl *ctl)
{
	__u64 capacity = bpf_ringbuf_query(&scribe_events, BPF_RB_RING_SIZE) / 4;
	__s64 used = *(volatile __u64 *)&ctl->env_sent - *(volatile __u64 *)&ctl->env_taken;

	return used < (__s64)(capacity < SCRIBE_RING_ENV ? capacity : SCRIBE_RING_ENV);
}

SCRIBE_GLOBAL int scribe_env_send(struct scribe_scratch *s, struct scribe_proc *p)
{
	struct scribe_ctl *ctl = scribe_ctl_get();
	__u64 at, bytes;

	if (!s || !p || !ctl)
		return 1;
	at = s->env_at;
	bytes = s->env_end - at;
	if (bytes > SCRIBE_ENV_CHUNK_BYTES)
		bytes = SCRIBE_ENV_CHUNK_BYTES;
	s->ev.type = SCRIBE_EV_ENV;
	s->ev.env.last = at + bytes == s->env_end;
	if (!scribe_env_has_room(ctl) || bpf_probe_read_user(s->text, bytes & 8191, (void *)at) ||
	    scribe_send_text(s, bytes)) {
		scribe_count(p, SCRIBE_L_ENV_LOST);
		return 1;
	}
	__sync_fetch_and_add(&ctl->env_sent, s->ev.text_bytes);
	s->env_at = at + bytes;
	return s->env_at >= s->env_end;
}

SCRIBE_GLOBAL int scribe_env_some(struct scribe_scratch *s, struct scribe_proc *p)
{
	for (__u32 i = 0; i < SCRIBE_ROUND; i++)
		if (scribe_env_send(s, p))
			return 1;
	return 0;
}

/* `watches`: other processes can join. */
static __always_inline int scribe_exec(struct task_struct *task, __u32 privileged, bool watches)
{
	struct scribe_thread *t = scribe_thread_of(task);
	struct scribe_scratch *s;
	struct scribe_proc *p;
	__u64 from, end, bytes, from_ns = bpf_ktime_get_ns();

	p = t ? scribe_proc_at(t->proc) : 0;
	if (!t || !p || p->proc_id != t->proc_id) {
		if (!watches || !scribe_join(task, privileged))
			return 0;
		t = scribe_thread_of(task);
		p = t ? scribe_proc_at(t->proc) : 0;
	}
	if (!t || !p)
		return 0;
	t->class = 0;
	scribe_cache_share(t, p);
	t->c_file = 0;
	t->wrapped_word = 0;
	t->watched = 0;
	if (t->segbuf)
		scribe_segbuf_leave(t); /* the segments of another program follow */
	scribe_io_exec(t, p, task);
	p->exec_ns = bpf_ktime_get_ns();
	__sync_fetch_and_and(&p->flags, ~SCRIBE_PF_STREAMS);
	__sync_fetch_and_or(&p->flags, SCRIBE_PF_EXECED);
	if (scribe_hides(p, task, privileged)) {
		scribe_exec_hidden(p, t->proc);
		return 0;
	}
	bpf_get_current_comm(p->comm, sizeof(p->comm));
	s = scribe_scratch_take(p);
	if (!s) {
		scribe_count(p, SCRIBE_L_ENV_LOST);
		return 0;
	}
	scribe_event_init(&s->ev, SCRIBE_EV_EXEC, p, t->proc);
	p->uid = BPF_CORE_READ(task, cred, uid.val);
	from = BPF_CORE_READ(task, mm, arg_start);
	end = BPF_CORE_READ(task, mm, arg_end);
	bytes = end - from;
	if (bytes > SCRIBE_ARGS_MAX_BYTES) {
		bytes = SCRIBE_ARGS_MAX_BYTES;
		s->ev.exec.flags = SCRIBE_XF_CUT;
	}
	if (bpf_probe_read_user(s->text, bytes & 8191, (void *)from))
		bytes = 0;
	if (scribe_send_text(s, bytes))
		scribe_count(p, SCRIBE_L_EVENT_LOST);
	s->env_at = BPF_CORE_READ(task, mm, env_start);
	s->env_end = BPF_CORE_READ(task, mm, env_end);
	for (__u32 i = 0; i < SCRIBE_ENV_CHUNKS / SCRIBE_ROUND; i++) {
		if (scribe_env_some(s, p))
			break;
	}
	scribe_scratch_put(s);
	scribe_cost_once(p, from_ns);
	return 0;
}

#define SCRIBE_PROT_EXEC 4

struct scribe_map_event {
	struct scribe_event ev;
	char name[SCRIBE_LIBRARY_NAME];
};

SCRIBE_GLOBAL int scribe_send_map(struct scribe_proc *p, __u32 proc, __u64 fd)
{
	struct scribe_map_event *m;
	struct scribe_job_entry *job;
	struct file *file;
	__u64 addr;

	if (!p)
		return 0;
	job = scribe_job_at(p->job);
	addr = job && job->notify_exec_mmap ? scribe_fd_file(bpf_get_current_task_btf(), fd) : 0;
	if (!addr)
		return 0;
	m = bpf_ringbuf_reserve(&scribe_events, sizeof(*m), 0);
	if (!m) {
		scribe_count(p, SCRIBE_L_EVENT_LOST);
		return 0;
	}
	file = SCRIBE_CAST(file, addr);
	scribe_event_init(&m->ev, SCRIBE_EV_MAP, p, proc);
	m->ev.map.device = SCRIBE_GET(file, f_inode, i_sb, s_dev);
	m->ev.map.inode = SCRIBE_GET(file, f_inode, i_ino);
	m->ev.text_bytes = sizeof(m->name);
	if (bpf_probe_read_kernel_str(m->name, sizeof(m->name), SCRIBE_GET(file, f_path.dentry, d_name.name)) < 0)
		m->name[0] = 0;
	bpf_ringbuf_submit(m, 0);
	return 0;
}

static __noinline int scribe_exit_task(struct task_struct *task)
{
	struct scribe_thread *t = scribe_thread_of(task);
	struct scribe_proc *p;
	__u64 from_ns;
	__s32 status;

	if (!t)
		return 0;
	from_ns = bpf_ktime_get_ns();
	p = scribe_proc_at(t->proc);
	if (!p || p->proc_id != t->proc_id)
		return 0;
	scribe_count_many(p, SCRIBE_L_EVENTS, t->events);
	t->events = 0;
	if (t->segbuf)
		scribe_segbuf_leave(t);
	if (*(volatile __u32 *)&p->threads > 1)
		scribe_cache_share(t, p);
	if (!(p->flags & SCRIBE_PF_NOT_RECORDED))
		scribe_io_end(t, p, task, BPF_CORE_READ(task, signal, group_exit_code) & SCRIBE_CORE_DUMPED);
	if (!(p->flags & SCRIBE_PF_NOT_RECORDED))
		scribe_cost_time(t, p, task);
	scribe_cost_add(t, p);
	scribe_cost_once(p, from_ns);
	/* Now the daemon may take the entry. */
	if (__sync_fetch_and_add(&p->threads, -1) != 1)
		return 0;
	bpf_map_delete_elem(&scribe_tgids, &p->tgid);
	if ((p->flags & (SCRIBE_PF_LATE | SCRIBE_PF_NOT_RECORDED)) == SCRIBE_PF_LATE)
		scribe_count(p, SCRIBE_L_LATE_PROCS);
	if (BPF_CORE_READ(task, signal, flags) & SCRIBE_SIGNAL_GROUP_EXIT)
		status = BPF_CORE_READ(task, signal, group_exit_code);
	else
		status = BPF_CORE_READ(task, group_leader, exit_code);
	if (p->aio_open)
		scribe_count_many(p, SCRIBE_L_AIO_UNMATCHED, p->aio_open);
	scribe_uring_end(p);
	p->exit_code = status;
	p->exit_ns = bpf_ktime_get_ns();
	__sync_fetch_and_or(&p->flags, SCRIBE_PF_EXITED);
	scribe_send_proc(p, t->proc, SCRIBE_EV_EXIT, status);
	return 0;
}

#endif
