/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UPROBES_ATTACH_UPROBE_EVENTS_H
#define UPROBES_ATTACH_UPROBE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"

struct scribe_events {
	int fd;             /* uprobe_events, -1: not open */
	const char *folder; /* mount point of tracefs */
	unsigned made;
};

struct scribe_event_address {
	uint64_t offset;
	uint64_t semaphore; /* offset of a counter to increase while probed, 0 none */
};

struct scribe_event_link {
	int perf;      /* -1: none */
	char name[40]; /* group/event, "" none */
};

/* Also removes events of ended processes. `err`: what is missing and a remedy. */
int scribe_events_open(struct scribe_events *e, struct scribe_err *err);
void scribe_events_close(struct scribe_events *e);
/*
 * One event, with one cookie for all addresses. Returns the link (close it before scribe_events_detach), or an
 * error.
 */
int scribe_events_attach(struct scribe_events *e, int program, const char *path,
			 const struct scribe_event_address *point, size_t n, bool at_return, uint64_t cookie,
			 struct scribe_event_link *ret_link);
void scribe_events_detach(const struct scribe_events *e, struct scribe_event_link *l);

#endif
