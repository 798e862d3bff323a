/* SPDX-License-Identifier: BSD-3-Clause */
/* Only for trusted or own expressions: time and memory are unbounded. */
#ifndef LOGFMT_BASE_REGEX_CHECK_H
#define LOGFMT_BASE_REGEX_CHECK_H

#include "logfmt/base/err.h"

int scribe_regex_check(const char *ere, struct scribe_err *err);

#endif
