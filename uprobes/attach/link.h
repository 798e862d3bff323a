/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places of a file that one link of the kernel's probes: kept, so that the link can be made
 * again without reading the file. Must not know: libraries, processes, logs.
 */
#ifndef UPROBES_ATTACH_LINK_H
#define UPROBES_ATTACH_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "uprobes/attach/uprobe_events.h"

#define SCRIBE_ATTACH_UPROBE_MULTI 48 /* BPF_TRACE_UPROBE_MULTI, Linux 6.6 */

struct scribe_link_plan {
	bool at_return;
	bool is_event;         /* a trace event, all of whose places have this cookie; else uprobe_multi */
	uint64_t event_cookie;
	uint32_t n;
	uint64_t *offset, *cookie, *semaphore; /* in the same memory; semaphore: 0 none */
};

/* Room for `n` places, zero. NULL: memory is out. */
struct scribe_link_plan *scribe_link_plan_new(uint32_t n);
/*
 * Make it, for a program. A descriptor, or a negative errno. `ret_event`: what it is on, to be
 * detached after the descriptor is closed (uprobe_events.h).
 */
int scribe_link_make(const struct scribe_link_plan *plan, struct scribe_events *events, int program,
		     const char *path, struct scribe_event_link *ret_event);
/* 0: this kernel knows uprobe_multi for programs like this one. */
int scribe_link_try_multi(int program);

/* Other processes that make and take off links, for who must not wait for either. */
struct scribe_link_maker {
	/*
	 * Have a link made. A descriptor for the answer, the caller's to close; -EAGAIN: later.
	 * Nothing is taken over.
	 */
	int (*ask)(int file, int program, const struct scribe_link_plan *plan, uint32_t deadline_ms);
	/* 0: the link, the caller's; -EAGAIN: not yet; -ETIMEDOUT: it has taken too long. */
	int (*answered)(int asked, int *ret_link);
	/* Take a link off some time. */
	void (*drop)(int link);
	/* So many of those are still there: what would be made now may stand twice. */
	unsigned (*dropping)(void);
};

#endif
