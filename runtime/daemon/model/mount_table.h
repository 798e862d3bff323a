/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_MODEL_MOUNT_TABLE_H
#define RUNTIME_DAEMON_MODEL_MOUNT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/client_totals.h"
#include "logfmt/file/reader.h"

#define SCRIBE_MOUNTS_KEPT 64

struct scribe_mount_totals {
	bool kept; /* by the client of a network file system */
	int64_t total[SCRIBE_CLIENT_TOTALS];
};

struct scribe_mounts {
	struct scribe_mount mount[SCRIBE_MOUNTS_KEPT];
	struct scribe_mount_totals begin[SCRIBE_MOUNTS_KEPT]; /* when the job began */
	size_t n;
	const char *root, *process; /* where totals are read; NULL: nowhere */
	bool shared;                /* another job is, or was, traced on the node */
};

/* `path`: in the format of /etc/mtab. Longest mount points first; pseudo file systems are left out. */
void scribe_mounts_read(struct scribe_mounts *m, const char *path);
/* The job begins. Borrows `root` and `process` (client_totals.h). Without this call no totals are known. */
void scribe_mounts_begin(struct scribe_mounts *m, const char *root, const char *process);
/* What clients have done since then; the rest as in `begin`. */
void scribe_mounts_moved(const struct scribe_mounts *m, struct scribe_mount_totals ret_moved[SCRIBE_MOUNTS_KEPT]);
void scribe_mounts_clear(struct scribe_mounts *m);

#endif
