/* SPDX-License-Identifier: BSD-3-Clause */
/* ioscribe merge DIRECTORY: the logs of a job whose nodes have left their parts. */
#ifndef UTIL_CMD_MERGE_MERGE_PARTS_H
#define UTIL_CMD_MERGE_MERGE_PARTS_H

#include <stdbool.h>

bool scribe_merge_is_parts(const char *path);
/* Of each directory; one line on standard output for each log made. Returns an exit code. */
int scribe_merge_parts(const char *argv0, char **paths, int n, unsigned threads, bool without_bad);

#endif
