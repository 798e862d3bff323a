/* SPDX-License-Identifier: BSD-3-Clause */
/* Putting a finished log under its name, as the user whose it is. */
#ifndef LOGFMT_NODES_PUT_LOG_H
#define LOGFMT_NODES_PUT_LOG_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Make the directories above a file's name, each with the mode that belongs to
 * it; the one of the first `own` bytes must be the caller's alone (0: none).
 * `path` is written to meanwhile. 0 or -errno.
 */
int scribe_make_dirs(char *path, size_t own);
/* Mode 0400 and rename; without `replace` -EEXIST where `to` is there. */
int scribe_put_name(const char *path, const char *to, bool replace);

#endif
