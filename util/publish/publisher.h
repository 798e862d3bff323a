/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting the process that sends a job's operations to one sink: for those commands that do. */
#ifndef UTIL_PUBLISH_PUBLISHER_H
#define UTIL_PUBLISH_PUBLISHER_H

#include <stdbool.h>
#include <sys/types.h>

#include "logfmt/base/err.h"

struct scribe_publisher {
	const char *key, *value; /* "--job" and an id, or "--pid" and a process of the job */
	const char *sink;
	const char *socket; /* of the daemon */
	/* who it is to be; drop: the caller is somebody else */
	bool drop;
	uid_t uid;
	gid_t gid;
	const char *user; /* for its further groups; empty: none */
	/* it goes on without the caller: a session, a share of memory and the system's log of its own */
	bool on_its_own;
};

/*
 * Start it, and wait until it has subscribed, at most wait_ms. 0 with its process, which is the caller's to wait
 * for; negative, with a line in err: there may be such a process all the same (*ret_pid, else 0).
 */
int scribe_publisher_start(const struct scribe_publisher *p, int wait_ms, pid_t *ret_pid, struct scribe_err *err);

#endif
