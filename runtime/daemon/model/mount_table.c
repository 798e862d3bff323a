/* SPDX-License-Identifier: BSD-3-Clause */
/* Mount table of a log's job record, in Darshan's order. Main thread, at the start of a job. */
#include "runtime/daemon/model/mount_table.h"

#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_excluded(const char *type)
{
	static const char *const types[] = {"tmpfs",      "proc",      "sysfs",      "devpts", "binfmt_misc",
					    "fusectl",    "debugfs",   "securityfs", "nfsd",   "none",
					    "rpc_pipefs", "hugetlbfs", "cgroup"};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(type, types[i]))
			return true;
	return false;
}

static void read_some(struct scribe_mounts *m, FILE *f, bool nfs)
{
	char buffer[8192];
	struct mntent e;

	rewind(f);
	while (m->n < SCRIBE_MOUNTS_KEPT && getmntent_r(f, &e, buffer, sizeof(buffer))) {
		struct scribe_mount *at = &m->mount[m->n];

		if (is_excluded(e.mnt_type) || (strncmp(e.mnt_type, "nfs", 3) == 0) != nfs)
			continue;
		at->type = strdup(e.mnt_type);
		at->path = strdup(e.mnt_dir);
		if (at->type && at->path) {
			m->n++;
			continue;
		}
		free((char *)(uintptr_t)at->type);
		free((char *)(uintptr_t)at->path);
		return;
	}
}

static int by_length(const void *a, const void *b)
{
	size_t x = strlen(((const struct scribe_mount *)a)->path);
	size_t y = strlen(((const struct scribe_mount *)b)->path);

	return (x < y) - (x > y);
}

void scribe_mounts_read(struct scribe_mounts *m, const char *path)
{
	FILE *f = setmntent(path, "re");

	m->n = 0;
	if (!f)
		return;
	/* As in Darshan, NFS mounts come second: they are lost if there are too many. */
	read_some(m, f, false);
	read_some(m, f, true);
	endmntent(f);
	/* Longest first, so that the first match of a file's path is its mount. */
	qsort(m->mount, m->n, sizeof(m->mount[0]), by_length);
}

void scribe_mounts_clear(struct scribe_mounts *m)
{
	for (size_t i = 0; i < m->n; i++) {
		free((char *)(uintptr_t)m->mount[i].type);
		free((char *)(uintptr_t)m->mount[i].path);
	}
	m->n = 0;
}
