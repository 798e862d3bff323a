// SPDX-License-Identifier: BSD-3-Clause
/*
 * Enrolling a process that lives: what the kernel's exec program does for others. An entry of the
 * process table is taken and filled, then the task's storage, by which kernel programs recognize
 * it, is set through a pidfd. Runs in the daemon's main thread. Must not know why it is traced.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/user/load_private.h"
#include "bpf/user/map_calls.h"

/*
 * A free process entry; the kernel takes from the same ring. 0: none is free. Compare-and-exchange
 * against kernel programs and nothing else; the number of tries is bounded.
 */
static uint32_t proc_take(struct scribe_bpf *b)
{
	struct scribe_ring_ctl *c = &b->ctl->procs;

	for (int i = 0; i < 1000; i++) {
		uint32_t head = __atomic_load_n(&c->head, __ATOMIC_ACQUIRE), index;

		if (head == c->tail)
			return 0;
		index = *scribe_ring_entry(&b->proc_free, head);
		if (__sync_bool_compare_and_swap(&c->head, head, head + 1))
			return index;
	}
	return 0;
}

/*
 * The storage is set last: from that moment programs use the entry. BPF_NOEXIST: a process is
 * enrolled once.
 */
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
		value[0] = index; /* struct scribe_thread begins with these */
		value[1] = p->proc_id;
		value[2] = p->mem_align;
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
