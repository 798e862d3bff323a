/* SPDX-License-Identifier: BSD-3-Clause */
/* Mount table of a log, as in Darshan. */
#ifndef RUNTIME_DAEMON_MODEL_MOUNT_TABLE_H
#define RUNTIME_DAEMON_MODEL_MOUNT_TABLE_H

#include <stddef.h>

#include "logfmt/file/reader.h"

#define SCRIBE_MOUNTS_KEPT 64

struct scribe_mounts {
	struct scribe_mount mount[SCRIBE_MOUNTS_KEPT];
	size_t n;
};

/* `path`: in the format of /etc/mtab. Longest mount points first; pseudo file systems are left out. */
void scribe_mounts_read(struct scribe_mounts *m, const char *path);
void scribe_mounts_clear(struct scribe_mounts *m);

#endif
