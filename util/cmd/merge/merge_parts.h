/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CMD_MERGE_MERGE_PARTS_H
#define UTIL_CMD_MERGE_MERGE_PARTS_H

#include <stdbool.h>

bool scribe_merge_is_parts(const char *path);
/* Prints one line per log on standard output. Returns an exit code. */
int scribe_merge_parts(const char *argv0, char **paths, int n, unsigned threads, bool without_bad);

#endif
