/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of this process. */
#ifndef RUNTIME_DAEMON_BASE_RLIMITS_H
#define RUNTIME_DAEMON_BASE_RLIMITS_H

#include <stdint.h>

#include "logfmt/base/err.h"

/*
 * The limits that the daemon was started with are meant for whoever started it, and
 * CMD keeps them: ours go as high as we may set them (descriptors at most to 65536,
 * a connection, a log, a memory of counted streams each).
 */
void scribe_limits_raise(void);
/* Open files that the daemon may have, as scribe_limits_raise left the limit. */
uint64_t scribe_limits_descriptors(void);
/* Is what is left enough for the programs? -EMFILE: it is not. */
int scribe_limits_check(struct scribe_err *err);

#endif
