/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_TOOL_USER_NUMBER_H
#define UTIL_TOOL_USER_NUMBER_H

#include <stdint.h>

/* Of a login name or number; -1: no such user. From any thread. */
int64_t scribe_user_number(const char *name);

#endif
