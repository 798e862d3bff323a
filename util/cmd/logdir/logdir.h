/* SPDX-License-Identifier: BSD-3-Clause */
/* What `ioscribe doctor` asks of `ioscribe logdir`. */
#ifndef UTIL_CMD_LOGDIR_LOGDIR_H
#define UTIL_CMD_LOGDIR_LOGDIR_H

#include <stddef.h>

/*
 * Look at a directory of logs as `ioscribe logdir --check` does; layout: dated, flat
 * or users. How much is wrong; the first of it in ret_text.
 */
unsigned scribe_logdir_check(const char *dir, const char *layout, char *ret_text, size_t cap);

#endif
