/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_LINK_PATTERN_CHECK_H
#define UTIL_LINK_PATTERN_CHECK_H

#include <stddef.h>

#include "logfmt/base/err.h"

/* Lines KEY=VALUE, KEY = VALUE or KEY VALUE. -EINVAL: not a POSIX extended regular expression. */
int scribe_check_patterns(const char *settings, size_t bytes, struct scribe_err *err);

#endif
