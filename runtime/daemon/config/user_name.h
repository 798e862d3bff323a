/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_CONFIG_USER_NAME_H
#define RUNTIME_DAEMON_CONFIG_USER_NAME_H

#include "runtime/daemon/config/config.h"

/* Sets config->user; "": unknown. */
void scribe_user_name(struct scribe_config *config);

#endif
