/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NAME events: what a file is called that a process has begun to use.
 */
#ifndef RUNTIME_DAEMON_COLLECT_NAME_EVENTS_H
#define RUNTIME_DAEMON_COLLECT_NAME_EVENTS_H

#include "runtime/daemon/state/daemon.h"

#define SCRIBE_NAME_WAITS 1 /* links of the name are being followed: the event is to come again */

/* Name the slot of the event; `text`: e->text_bytes behind it. 0, or SCRIBE_NAME_WAITS. */
int scribe_name_event(struct scribe_daemon *d, struct scribe_process *p, const struct scribe_event *e,
		      const char *text);
/* All names that are there for now have been taken: what is kept open for them is closed. */
void scribe_names_done(struct scribe_daemon *d);
/* A call has made, moved or removed what may be a symbolic link. */
void scribe_link_event(struct scribe_daemon *d, struct scribe_process *p, const struct scribe_event *e,
		       const char *text);

#endif
