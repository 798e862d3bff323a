/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regular expressions among the settings of a request, checked in the caller's own process: the daemon, which
 * is privileged, compiles no pattern that a user has written.
 */
#ifndef UTIL_LINK_PATTERN_CHECK_H
#define UTIL_LINK_PATTERN_CHECK_H

#include <stddef.h>

#include "logfmt/base/err.h"

/*
 * `settings`: lines KEY=VALUE, KEY = VALUE or KEY VALUE, of `bytes` bytes. -EINVAL, with a line that names the
 * key and the expression, where one of NAME_EXCLUDE and its like is no POSIX extended regular expression.
 */
int scribe_check_patterns(const char *settings, size_t bytes, struct scribe_err *err);

#endif
