/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_BASE_RLIMITS_H
#define RUNTIME_DAEMON_BASE_RLIMITS_H

#include <stdint.h>

#include "logfmt/base/err.h"

/* Raises inherited limits as far as possible (descriptors to 65536); CMD keeps the inherited ones. */
void scribe_limits_raise(void);
/* Valid after scribe_limits_raise. */
uint64_t scribe_limits_descriptors(void);
/* -EMFILE, -ENOMEM: too low for the BPF programs. */
int scribe_limits_check(struct scribe_err *err);

#endif
