/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_CONTROL_LOG_CHECK_H
#define RUNTIME_DAEMON_CONTROL_LOG_CHECK_H

#include <stdbool.h>

#include "logfmt/base/err.h"

struct scribe_check;
struct scribe_client;
struct scribe_config;
struct scribe_daemon;

/* Only for root. Takes over `config` (then empty), also on failure. */
int scribe_check_begin(struct scribe_daemon *d, struct scribe_client *c, struct scribe_config *config,
		       struct scribe_err *err);
/* Answers the client after the last step. */
void scribe_check_tick(struct scribe_client *c);
struct scribe_check *scribe_check_free(struct scribe_check *check);

#endif
