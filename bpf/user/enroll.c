// SPDX-License-Identifier: BSD-3-Clause
/*
 * Enrols a running process: an entry of the process table, then the task storage by which kernel programs
 * recognise it. Main thread. Must not know why it is traced.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/user/load_private.h"
#include "bpf/user/map_calls.h"

/* 0: the table is full. */
static uint32_t proc_take(struct scribe_bpf *b)
{
	struct scribe_ring_ctl *c = &b->ctl->procs;

	for (int i = 0; i < 1000; i++) {
		/* Kernel programs take from the same ring: compare and exchange, with bounded tries. */
		uint32_t head = __atomic_load_n(&c->head, __ATOMIC_ACQUIRE), index;

		if (head == c->tail)
			return 0;
		index = *scribe_ring_entry(&b->proc_free, head);
		if (__sync_bool_compare_and_swap(&c->head, head, head + 1))
			return index;
	}
	return 0;
}

int scribe_bpf_enrol(struct scribe_bpf *b, pid_t pid, uint32_t job, uint32_t *ret_index, uint32_t *ret_serial,
		     struct scribe_err *err)
{
	struct bpf_map_info info = {0};
	uint32_t info_bytes = sizeof(info), index, *value;
	struct scribe_proc *p;
	int fd, ret;

	if (job >= SCRIBE_JOBS_MAX)
		return scribe_err_set(err, -EINVAL, "process %d: no job %u", (int)pid, job);
	index = proc_take(b);
	if (!index)
		return scribe_err_set(err, -EAGAIN, "process %d: the process table is full", (int)pid);
	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0) {
		scribe_ring_give(b, &b->proc_free, &b->ctl->procs, index);
		return scribe_err_set(err, -errno, "process %d: %s", (int)pid, strerror(errno));
	}
	p = scribe_bpf_proc(b, index);
	memset(p, 0, sizeof(*p));
	p->job = job;
	p->mem_align = scribe_job_of(b, job)->mem_align;
	p->tgid = (uint32_t)pid;
	p->threads = 1;
	p->proc_id = __sync_fetch_and_add(&b->ctl->next_serial, 1) + 1;
	ret = bpf_obj_get_info_by_fd(b->task_fd, &info, &info_bytes);
	value = ret ? NULL : calloc(1, info.value_size);
	if (!value) {
		ret = -ENOMEM;
	} else {
		value[0] = index; /* first members of struct scribe_thread */
		value[1] = p->proc_id;
		value[2] = p->mem_align;
		/* Last, because programs use the entry from here on. NOEXIST: a process is enrolled once. */
		ret = scribe_map_update(b->task_fd, &fd, value, BPF_NOEXIST) ? -errno : 0;
	}
	free(value);
	close(fd);
	if (ret) {
		p->proc_id = 0;
		scribe_ring_give(b, &b->proc_free, &b->ctl->procs, index);
		return scribe_err_set(err, ret, "process %d: cannot be enrolled: %s", (int)pid, strerror(-ret));
	}
	__sync_fetch_and_add(&scribe_job_of(b, job)->proc_used, 1);
	scribe_map_update(b->tgids_fd, &p->tgid, &(uint32_t[2]){index, p->proc_id}, BPF_ANY);
	*ret_index = index;
	*ret_serial = p->proc_id;
	return 0;
}
