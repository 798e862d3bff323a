/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts publishers. */
#ifndef UTIL_PUBLISH_PUBLISHER_H
#define UTIL_PUBLISH_PUBLISHER_H

#include <stdbool.h>
#include <sys/types.h>

#include "logfmt/base/err.h"

struct scribe_publisher {
	const char *key, *value; /* "--job" and an id, or "--pid" and a pid */
	const char *sink;
	const char *socket;
	bool drop;
	uid_t uid;
	gid_t gid;
	const char *user; /* for supplementary groups; empty: none */
	/* Outlives the caller, with its own session, memory limit and log. */
	bool on_its_own;
};

/*
 * Waits up to wait_ms for the subscription. *ret_pid: for the caller to reap; also set after some failures,
 * otherwise 0.
 */
int scribe_publisher_start(const struct scribe_publisher *p, int wait_ms, pid_t *ret_pid, struct scribe_err *err);

#endif
