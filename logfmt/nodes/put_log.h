/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LOGFMT_NODES_PUT_LOG_H
#define LOGFMT_NODES_PUT_LOG_H

#include <stdbool.h>
#include <stddef.h>

/* `path` is changed during the call. The directory of the first `own` bytes must be the caller's (0: none). */
int scribe_make_dirs(char *path, size_t own);
/* Mode 0400 and rename. -EEXIST without `replace`. */
int scribe_put_name(const char *path, const char *to, bool replace);

#endif
