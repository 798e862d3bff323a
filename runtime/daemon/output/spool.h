/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The spool: a directory of the daemon's own (mode 0700) for logs whose place
 * was missing, full, read-only or hung. Each stands there as NAME.darshan with
 * NAME.darshan.to, which says whose it is and where it belongs. While the
 * daemon runs it tries from time to time to move them there, as their users.
 */
#ifndef RUNTIME_DAEMON_OUTPUT_SPOOL_H
#define RUNTIME_DAEMON_OUTPUT_SPOOL_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/daemon/config/config.h"
#include "runtime/daemon/privsep/helper.h"

struct scribe_spool;
struct scribe_job;

/* Take `dir` as spool, made when it is needed. If it is there it must be ours, mode 0700. */
int scribe_spool_open(const char *dir, struct scribe_spool **ret_spool, struct scribe_err *err);
struct scribe_spool *scribe_spool_free(struct scribe_spool *s);

/* The helper with the daemon's identity that writes there; started when needed. */
struct scribe_helper *scribe_spool_helper(struct scribe_spool *s);
/* The name in the spool of the log that belongs to `to`, and the text of its note. */
int scribe_spool_name(const struct scribe_spool *s, const struct scribe_job *w, const char *to, char *ret_path,
		      size_t cap, char *ret_note, size_t note_cap);
/* Move one log, if it is time and there is any; never waits. */
void scribe_spool_tick(struct scribe_spool *s);
/* Is one on its way, or due? */
bool scribe_spool_busy(const struct scribe_spool *s);

#endif
