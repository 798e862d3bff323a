/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The spool: a directory of the daemon's own (mode 0700) for logs whose place was missing, full,
 * read-only or hung. Each is stored as UID/NAME.darshan beside UID/NAME.darshan.to, which says where
 * it belongs. While the daemon runs it tries to move the logs to their places, as their users.
 */
#ifndef RUNTIME_DAEMON_OUTPUT_SPOOL_H
#define RUNTIME_DAEMON_OUTPUT_SPOOL_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/daemon/config/config.h"
#include "runtime/daemon/privsep/helper.h"

struct scribe_spool;
struct scribe_job;

/*
 * Take `dir` as spool, made when it is needed, with the logs in it. If it is there it must be ours, and no
 * other's to read or write.
 */
int scribe_spool_open(const char *dir, struct scribe_spool **ret_spool, struct scribe_err *err);
struct scribe_spool *scribe_spool_free(struct scribe_spool *s);

/* The helper with the daemon's identity that writes there; started when needed. */
struct scribe_helper *scribe_spool_helper(struct scribe_spool *s);
/* The name in the spool of the log that belongs to `to`, and the text of its note. */
int scribe_spool_name(const struct scribe_spool *s, const struct scribe_job *job, const char *to, char *ret_path,
		      size_t cap, char *ret_note, size_t note_cap);
/* The user's log is complete at this path of scribe_spool_name. 0, or a negative errno: it is moved after a
 * restart. */
int scribe_spool_add(struct scribe_spool *s, uid_t uid, const char *path);
/* What the user's logs take there, at least 64 KiB each. */
uint64_t scribe_spool_bytes(const struct scribe_spool *s, uid_t uid);
/*
 * Logs there of this user (0: of all), in any order, and their places; 64 at most. A result other than 0 ends it, and
 * is returned.
 */
int scribe_spool_each(const struct scribe_spool *s, uid_t uid,
		      int (*fn)(void *ctx, uid_t uid, const char *path, const char *to), void *ctx);
/* Go on with logs that are being moved, and begin with the next one; never waits. */
void scribe_spool_tick(struct scribe_spool *s);
/* Is one on its way, or due? */
bool scribe_spool_busy(const struct scribe_spool *s);

#endif
