/* SPDX-License-Identifier: BSD-3-Clause */
/* Which file a path leads to, for comparisons. */
#ifndef RUNTIME_DAEMON_BASE_FILE_NUMBER_H
#define RUNTIME_DAEMON_BASE_FILE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

struct scribe_file_number {
	uint64_t device, inode; /* as in struct stat; 0, 0: unknown */
};

/* Of a path that leads to no user's process; a server of files that hangs is not asked. */
struct scribe_file_number scribe_file_number(const char *path);
/* False if one of them is unknown. */
bool scribe_is_same_file(struct scribe_file_number a, struct scribe_file_number b);

#endif
