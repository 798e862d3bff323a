/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A directory of the daemon (mode 0700) for logs that could not be stored: UID/NAME.darshan, and UID/NAME.darshan.to
 * with its destination, to which it is moved later.
 */
#ifndef RUNTIME_DAEMON_OUTPUT_SPOOL_H
#define RUNTIME_DAEMON_OUTPUT_SPOOL_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/daemon/config/config.h"
#include "runtime/daemon/privsep/helper.h"

struct scribe_spool;
struct scribe_job;

/* Made when needed. An existing `dir` must belong to the daemon's user and be closed to others (-EPERM). */
int scribe_spool_open(const char *dir, struct scribe_spool **ret_spool, struct scribe_err *err);
struct scribe_spool *scribe_spool_free(struct scribe_spool *s);

/* With the daemon's identity; started when needed. */
struct scribe_helper *scribe_spool_helper(struct scribe_spool *s);
/* Path in the spool for the log that belongs to `to`, and the text of its note. */
int scribe_spool_name(const struct scribe_spool *s, const struct scribe_job *job, const char *to, char *ret_path,
		      size_t cap, char *ret_note, size_t note_cap);
/* The log is complete at this path. On error it is moved only after a restart. */
int scribe_spool_add(struct scribe_spool *s, uid_t uid, const char *path);
/* Size of the user's logs, at least 64 KiB each. */
uint64_t scribe_spool_bytes(const struct scribe_spool *s, uid_t uid);
/* Logs of this user (0: all), at most 64. A result other than 0 ends the loop and is returned. */
int scribe_spool_each(const struct scribe_spool *s, uid_t uid,
		      int (*fn)(void *ctx, uid_t uid, const char *path, const char *to), void *ctx);
/* Advances moves and starts the next; never waits. */
void scribe_spool_tick(struct scribe_spool *s);
/* A move is under way or due. */
bool scribe_spool_busy(const struct scribe_spool *s);

#endif
