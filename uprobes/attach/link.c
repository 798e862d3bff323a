// SPDX-License-Identifier: BSD-3-Clause
/*
 * One link for many addresses: uprobe_multi, with arguments declared here for older headers, or a trace event.
 * Main thread, or a child of the link maker. Must not know: libraries, processes, logs.
 */
#include "uprobes/attach/link.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* as in newer headers */
#define MULTI_RETURN 1u

/* Part of union bpf_attr (uapi/linux/bpf.h of 6.6). */
struct multi_attr {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t cnt, multi_flags, pid, pad;
};

struct scribe_link_plan *scribe_link_plan_new(uint32_t n)
{
	struct scribe_link_plan *p = calloc(1, sizeof(*p) + 3 * sizeof(uint64_t) * n);

	if (!p)
		return NULL;
	p->n = n;
	p->offset = (uint64_t *)(void *)(p + 1);
	p->cookie = p->offset + n;
	p->semaphore = p->cookie + n;
	return p;
}

static int multi_link(const struct scribe_link_plan *p, int program, const char *path)
{
	struct multi_attr attr = {
		/* All addresses of a plan have a semaphore, or none has. */
		.prog_fd = (uint32_t)program,
		.attach_type = SCRIBE_ATTACH_UPROBE_MULTI,
		.path = (uint64_t)(uintptr_t)path,
		.offsets = (uint64_t)(uintptr_t)p->offset,
		.cookies = (uint64_t)(uintptr_t)p->cookie,
		.ref_ctr_offsets = (uint64_t)(uintptr_t)(p->semaphore[0] ? p->semaphore : NULL),
		.cnt = p->n,
		.multi_flags = p->at_return ? MULTI_RETURN : 0,
	};
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	return fd < 0 ? -errno : fd;
}

static int event_link(const struct scribe_link_plan *p, struct scribe_events *events, int program, const char *path,
		      struct scribe_event_link *ret_event)
{
	struct scribe_event_address *point = calloc(p->n, sizeof(*point));
	int rc;

	if (!point)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->n; i++)
		point[i] = (struct scribe_event_address){.offset = p->offset[i], .semaphore = p->semaphore[i]};
	rc = scribe_events_attach(events, program, path, point, p->n, p->at_return, p->event_cookie, ret_event);
	free(point);
	return rc;
}

int scribe_link_make(const struct scribe_link_plan *p, struct scribe_events *events, int program, const char *path,
		     struct scribe_event_link *ret_event)
{
	*ret_event = (struct scribe_event_link){.perf = -1};
	if (p->is_event)
		return event_link(p, events, program, path, ret_event);
	return multi_link(p, program, path);
}

int scribe_link_try_multi(int program)
{
	struct scribe_link_plan *p = scribe_link_plan_new(1);
	/* A directory cannot be probed: kernels with uprobe_multi return EBADF, others EINVAL. */
	int rc = p ? multi_link(p, program, "/") : -ENOMEM;

	free(p);
	if (rc >= 0)
		close(rc);
	return rc >= 0 || rc == -EBADF ? 0 : rc;
}
