/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks users' regular expressions before they are sent to the daemon. */
#ifndef UTIL_LINK_PATTERN_CHECK_H
#define UTIL_LINK_PATTERN_CHECK_H

#include <stddef.h>

#include "logfmt/base/err.h"

/*
 * `settings`: lines KEY=VALUE, KEY = VALUE or KEY VALUE. -EINVAL with key and expression if a pattern is not a valid
 * POSIX extended regular expression.
 */
int scribe_check_patterns(const char *settings, size_t bytes, struct scribe_err *err);

#endif
