/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Root asks whether a job's log would reach its place: the daemon reads the job's
 * options as it would of a prolog, and a helper writes an empty log there as the job's
 * user and removes it, from within the daemon's sandbox. Nothing waits for it.
 */
#ifndef RUNTIME_DAEMON_CONTROL_LOG_CHECK_H
#define RUNTIME_DAEMON_CONTROL_LOG_CHECK_H

#include <stdbool.h>

#include "logfmt/base/err.h"

struct scribe_check;
struct scribe_client;
struct scribe_config;
struct scribe_daemon;

/* Begin for this client, who is root; `config` is taken over (empty afterwards), also on failure. */
int scribe_check_begin(struct scribe_daemon *d, struct scribe_client *c, struct scribe_config *config,
		       struct scribe_err *err);
/* Go on with the client's; it is answered when all is known. */
void scribe_check_tick(struct scribe_client *c);
struct scribe_check *scribe_check_free(struct scribe_check *check);

#endif
