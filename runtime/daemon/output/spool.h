/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The spool: a directory of the daemon's own (mode 0711) for logs whose place was missing, full,
 * read-only or hung. Each stands there as UID/NAME.darshan, its user's, with UID/NAME.darshan.to,
 * the daemon's, which says where it belongs. The folders are the daemon's, so that no process of
 * root's works in one that a user can change. While the daemon runs it tries from time to time to
 * move the logs to their places, as their users.
 */
#ifndef RUNTIME_DAEMON_OUTPUT_SPOOL_H
#define RUNTIME_DAEMON_OUTPUT_SPOOL_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/daemon/config/config.h"
#include "runtime/daemon/privsep/helper.h"

struct scribe_spool;
struct scribe_job;

/* Take `dir` as spool, made when it is needed. If it is there it must be ours, and no other's to read or write. */
int scribe_spool_open(const char *dir, struct scribe_spool **ret_spool, struct scribe_err *err);
struct scribe_spool *scribe_spool_free(struct scribe_spool *s);

/* The helper with the daemon's identity that writes there; started when needed. */
struct scribe_helper *scribe_spool_helper(struct scribe_spool *s);
/* The name in the spool of the log that belongs to `to`, and the text of its note. */
int scribe_spool_name(const struct scribe_spool *s, const struct scribe_job *w, const char *to, char *ret_path,
		      size_t cap, char *ret_note, size_t note_cap);
/* What the user's logs take there, at least 64 KiB each. */
uint64_t scribe_spool_bytes(const struct scribe_spool *s, uid_t uid);
/*
 * Logs there of this user (0: of all), in any order, and their places; 64 at most. A result other than 0 ends it, and
 * is returned.
 */
int scribe_spool_each(const struct scribe_spool *s, uid_t uid,
		      int (*fn)(void *ctx, uid_t uid, const char *path, const char *to), void *ctx);
/* Move one log, if it is time and there is any; never waits. */
void scribe_spool_tick(struct scribe_spool *s);
/* Is one on its way, or due? */
bool scribe_spool_busy(const struct scribe_spool *s);

#endif
