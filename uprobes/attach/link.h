/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses in a file probed by one kernel link, kept so that it can be made again without the file. */
#ifndef UPROBES_ATTACH_LINK_H
#define UPROBES_ATTACH_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "uprobes/attach/uprobe_events.h"

#define SCRIBE_ATTACH_UPROBE_MULTI 48 /* BPF_TRACE_UPROBE_MULTI, Linux 6.6 */

struct scribe_link_plan {
	bool at_return;
	bool is_event; /* with one cookie; otherwise uprobe_multi */
	uint64_t event_cookie;
	uint32_t n;
	uint64_t *offset, *cookie, *semaphore; /* in the same allocation; semaphore: 0 none */
};

/* Zeroed. NULL: no memory. */
struct scribe_link_plan *scribe_link_plan_new(uint32_t n);
/* A descriptor, or a negative errno. `ret_event`: detach it after closing the descriptor (uprobe_events.h). */
int scribe_link_make(const struct scribe_link_plan *plan, struct scribe_events *events, int program, const char *path,
		     struct scribe_event_link *ret_event);
/* 0: uprobe_multi is supported for such programs. */
int scribe_link_try_multi(int program);

/* Makes and detaches links in other processes, because both may block. */
struct scribe_link_maker {
	/* A descriptor for the result, owned by the caller; -EAGAIN: later. */
	int (*ask)(int file, int program, const struct scribe_link_plan *plan, uint32_t deadline_ms);
	/* 0: the link, owned by the caller; -EAGAIN: not yet; -ETIMEDOUT: too slow. */
	int (*answered)(int asked, int *ret_link);
	/* Detaches it some time later. */
	void (*drop)(int link);
	/* Of these, not detached yet: a new link there would count twice. */
	unsigned (*dropping)(void);
};

#endif
