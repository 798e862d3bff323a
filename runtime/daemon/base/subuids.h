/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * User ids that one person has: those of a line of /etc/subuid count as one where limits are counted.
 */
#ifndef RUNTIME_DAEMON_BASE_SUBUIDS_H
#define RUNTIME_DAEMON_BASE_SUBUIDS_H

#include <stdbool.h>
#include <sys/types.h>

/* Read /etc/subuid, or `path`; what cannot be read has no lines. At the start: later lines are not known. */
void scribe_subuids_read(const char *path);
/* The first id of the line that `uid` is in, else `uid`. */
uid_t scribe_subuids_first(uid_t uid);
/* Do they count as one user's? */
bool scribe_subuids_same(uid_t a, uid_t b);

#endif
