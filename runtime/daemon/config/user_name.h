/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The name of the user whose job it is.
 */
#ifndef RUNTIME_DAEMON_CONFIG_USER_NAME_H
#define RUNTIME_DAEMON_CONFIG_USER_NAME_H

#include "runtime/daemon/config/config.h"

/* In config->user; empty: none is known. */
void scribe_user_name(struct scribe_config *config);

#endif
