/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_EVENTS_NAME_EVENTS_H
#define RUNTIME_DAEMON_EVENTS_NAME_EVENTS_H

#include "runtime/daemon/state/daemon.h"

#define SCRIBE_NAME_WAITS 1 /* a helper follows links: deliver the event again */

/* 0, or SCRIBE_NAME_WAITS. */
int scribe_name_event(struct scribe_daemon *d, struct scribe_process *p, const struct scribe_event *e,
		      const char *text);
/* Closes root directories that were kept open for the names of this loop iteration. */
void scribe_names_done(struct scribe_daemon *d);
/* A symbolic link may have been created, moved or removed. */
void scribe_link_event(struct scribe_daemon *d, struct scribe_process *p, const struct scribe_event *e,
		       const char *text);

#endif
