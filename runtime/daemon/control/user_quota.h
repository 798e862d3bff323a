/* SPDX-License-Identifier: BSD-3-Clause */
/* Root is exempt: the site's prolog must always be served, and root can take all of the node anyway. */
#ifndef RUNTIME_DAEMON_CONTROL_USER_QUOTA_H
#define RUNTIME_DAEMON_CONTROL_USER_QUOTA_H

#include "runtime/daemon/state/daemon.h"

struct scribe_usage {
	uint64_t v[SCRIBE_NQUOTAS];
};

void scribe_user_usage(const struct scribe_daemon *d, uid_t uid, struct scribe_usage *ret);
uint64_t scribe_user_limit(const struct scribe_daemon *d, enum scribe_quota q);
/* -EDQUOT: the message names the quota. */
int scribe_user_may(const struct scribe_daemon *d, uid_t uid, enum scribe_quota q, struct scribe_err *err);
void scribe_user_tick(struct scribe_daemon *d);
void scribe_user_end(struct scribe_daemon *d);
/* With a job or a connection; in any order. */
void scribe_user_each(const struct scribe_daemon *d, void (*fn)(void *ctx, uid_t uid), void *ctx);

#endif
