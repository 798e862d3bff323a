/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CMD_LOGDIR_LOGDIR_H
#define UTIL_CMD_LOGDIR_LOGDIR_H

#include <stddef.h>

/*
 * Checks a log directory like `ioscribe logdir --check`; layout: dated, flat or users. Returns the number of
 * findings; ret_text receives the first.
 */
unsigned scribe_logdir_check(const char *dir, const char *layout, char *ret_text, size_t cap);

#endif
