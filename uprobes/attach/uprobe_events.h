/* SPDX-License-Identifier: BSD-3-Clause */
/* Uprobes by trace events: many places of a file are one event, one perf event and one link. */
#ifndef UPROBES_ATTACH_UPROBE_EVENTS_H
#define UPROBES_ATTACH_UPROBE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"

struct scribe_events {
	int fd;             /* of uprobe_events, -1: not open */
	const char *folder; /* where tracefs is mounted */
	unsigned made;
};

struct scribe_event_place {
	uint64_t offset;    /* in the file */
	uint64_t semaphore; /* where in the file a counter goes up while the place is probed, 0 none */
};

struct scribe_event_link {
	int perf;      /* -1: none */
	char name[40]; /* group and event, "" none */
};

/*
 * Can such events be made? Removes those that ended processes have left. 0, or a negative code
 * with one line in `err` that says what is missing and what to do.
 */
int scribe_events_open(struct scribe_events *e, struct scribe_err *err);
void scribe_events_close(struct scribe_events *e);
/*
 * One event of these places; the program runs at each of them with the same cookie. Returns a
 * descriptor of the link (to be closed before scribe_events_detach), or a negative code.
 */
int scribe_events_attach(struct scribe_events *e, int program, const char *path,
			 const struct scribe_event_place *site, size_t n, bool at_return, uint64_t cookie,
			 struct scribe_event_link *ret_link);
void scribe_events_detach(const struct scribe_events *e, struct scribe_event_link *l);

#endif
