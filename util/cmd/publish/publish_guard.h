/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a publisher whose sink hangs. */
#ifndef UTIL_CMD_PUBLISH_PUBLISH_GUARD_H
#define UTIL_CMD_PUBLISH_PUBLISH_GUARD_H

#include <signal.h>
#include <stdbool.h>

#include "logfmt/base/err.h"
#include "util/publish/publish_ring.h"

/*
 * Start the thread that takes these signals, which are blocked in all threads from now on, and that ends the
 * process some seconds after the job's end or a signal, whatever call the main thread is in. `self`, `sink`:
 * for its message; borrowed. Called once. 0, or negative with a line.
 */
int scribe_publish_guard_start(const char *self, const char *sink, const sigset_t *ends,
			       struct scribe_err *err);
/* The ring that tells the job's end; NULL before it is closed. */
void scribe_publish_guard_watch(const struct scribe_publish_ring *ring);
/* A signal has come, or end was called. */
bool scribe_publish_guard_ends(void);
/* The main thread has nothing more to send: from here on it has those seconds. */
void scribe_publish_guard_end(void);

#endif
