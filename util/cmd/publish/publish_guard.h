/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CMD_PUBLISH_PUBLISH_GUARD_H
#define UTIL_CMD_PUBLISH_PUBLISH_GUARD_H

#include <signal.h>
#include <stdbool.h>

#include "logfmt/base/err.h"
#include "util/publish/publish_ring.h"

/*
 * Blocks the signals in all threads started later. The new thread exits the process some seconds after the
 * job's end or a signal, whatever call blocks the main thread. `self` and `sink` are borrowed. Call once.
 * 0 or a negative errno.
 */
int scribe_publish_guard_start(const char *self, const char *sink, const sigset_t *ends, struct scribe_err *err);
/* Sets the ring to watch for the job's end; call with NULL before the ring is closed. */
void scribe_publish_guard_watch(const struct scribe_publish_ring *ring);
/* True after a signal, or after scribe_publish_guard_end. */
bool scribe_publish_guard_ends(void);
/* The main thread has finished sending: it must exit within END_MS. */
void scribe_publish_guard_end(void);

#endif
