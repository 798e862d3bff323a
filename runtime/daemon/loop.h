/* SPDX-License-Identifier: BSD-3-Clause */
/* The event loop. */
#ifndef RUNTIME_DAEMON_LOOP_H
#define RUNTIME_DAEMON_LOOP_H

#include "runtime/daemon/state/daemon.h"

struct scribe_pace {
	uint64_t next_sweep_ns;
	int wait_ms;               /* until the next poll of the event ring, while there are jobs */
	unsigned quiet_iterations; /* consecutive iterations without events or work */
	/* Called first in each iteration. Returns the longest wait without jobs, in ms. NULL: until a message. */
	int (*before_iteration)(struct scribe_daemon *d);
};

int scribe_loop(struct scribe_daemon *d, int (*before_iteration)(struct scribe_daemon *d));
int scribe_loop_iteration(struct scribe_daemon *d, struct scribe_pace *pace);

#endif
