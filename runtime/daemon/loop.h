/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The event loop.
 */
#ifndef RUNTIME_DAEMON_LOOP_H
#define RUNTIME_DAEMON_LOOP_H

#include "runtime/daemon/state/daemon.h"

struct scribe_pace {
	uint64_t next_sweep_ns;
	int wait_ms; /* most time until the next look at the kernel's events, while there are jobs */
	unsigned quiet_turns; /* so many without an event, or anything to do */
	/* Called before each turn; how long the loop may wait while there is no job, ms. NULL: until a message. */
	int (*before_turn)(struct scribe_daemon *d);
};

/* Serve until the daemon is to quit. */
int scribe_loop(struct scribe_daemon *d, int (*before_turn)(struct scribe_daemon *d));
/* Once: wait for a message, take events, serve, write logs. */
int scribe_loop_turn(struct scribe_daemon *d, struct scribe_pace *pace);

#endif
