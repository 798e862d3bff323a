/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leaving whoever started us: own session, no descriptor and no cgroup of
 * theirs, so that a prolog that ends, or is killed with all it left, takes
 * nothing of ours along.
 */
#ifndef RUNTIME_DAEMON_BASE_DAEMONIZE_H
#define RUNTIME_DAEMON_BASE_DAEMONIZE_H

#include "logfmt/base/err.h"

/*
 * 0 in the detached process, with the descriptor for scribe_daemonize_ready; 1 in
 * the starter, once the other is ready (its error is printed and the starter
 * ends with status 1); negative: cannot fork.
 */
int scribe_daemonize(int *ret_ready, struct scribe_err *err);
/* Tell the starter: NULL all is well, else why not. -1: nobody waits. */
void scribe_daemonize_ready(int ready, const char *text);

#endif
