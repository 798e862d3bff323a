/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is a text a POSIX extended regular expression? Compiling one takes as much memory and time as whoever wrote it
 * likes: for the caller's own, and for those of a file that is trusted.
 */
#ifndef LOGFMT_BASE_REGEX_CHECK_H
#define LOGFMT_BASE_REGEX_CHECK_H

#include "logfmt/base/err.h"

/* 0, or -EINVAL with a line that names the expression and what is wrong with it. */
int scribe_regex_check(const char *ere, struct scribe_err *err);

#endif
