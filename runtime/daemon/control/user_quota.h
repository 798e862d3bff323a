/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each user has taken of the service, counted in one place from what is there, and how
 * much it may be. Root is exempt: the site's prolog must be served whatever happens, and who
 * is root can take all of the node anyway.
 */
#ifndef RUNTIME_DAEMON_CONTROL_USER_QUOTA_H
#define RUNTIME_DAEMON_CONTROL_USER_QUOTA_H

#include "runtime/daemon/state/daemon.h"


struct scribe_usage {
	uint64_t v[SCRIBE_NQUOTAS];
};

/* What the user has taken now. */
void scribe_user_usage(const struct scribe_daemon *d, uid_t uid, struct scribe_usage *ret);
uint64_t scribe_user_limit(const struct scribe_daemon *d, enum scribe_quota q);
/* May the user have one more? -EDQUOT with a line that names the quota. */
int scribe_user_may(const struct scribe_daemon *d, uid_t uid, enum scribe_quota q, struct scribe_err *err);
/* Often: shares of records and processes among a user's jobs, time of helpers, journals. */
void scribe_user_tick(struct scribe_daemon *d);
/* Nothing is counted any more. */
void scribe_user_end(struct scribe_daemon *d);
/* Each user who has taken something, in any order. */
void scribe_user_each(const struct scribe_daemon *d, void (*fn)(void *ctx, uid_t uid), void *ctx);

#endif
