/* SPDX-License-Identifier: BSD-3-Clause */
/* The mount table of a log, as Darshan records it. */
#ifndef RUNTIME_DAEMON_MODEL_MOUNT_TABLE_H
#define RUNTIME_DAEMON_MODEL_MOUNT_TABLE_H

#include <stddef.h>

#include "logfmt/file/reader.h"

#define SCRIBE_MOUNTS_KEPT 64

struct scribe_mounts {
	struct scribe_mount mount[SCRIBE_MOUNTS_KEPT];
	size_t n;
};

/*
 * Read a table in the form of /etc/mtab: at most 64 mounts, file systems that
 * hold no data of users left out, NFS last, longest path first.
 */
void scribe_mounts_read(struct scribe_mounts *m, const char *path);
void scribe_mounts_clear(struct scribe_mounts *m);

#endif
