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

struct totals_of {
	const struct scribe_mounts *mounts;
	struct scribe_mount_totals *totals;
};

static void on_client(void *ctx, const struct scribe_client_mount *c)
{
	const struct totals_of *x = ctx;

	for (size_t i = 0; i < x->mounts->n; i++) {
		if (strcmp(x->mounts->mount[i].path, c->path))
			continue;
		x->totals[i].kept = true;
		memcpy(x->totals[i].total, c->total, sizeof(c->total));
		return;
	}
}

static bool has_type(const struct scribe_mounts *m, const char *prefix)
{
	for (size_t i = 0; i < m->n; i++)
		if (!strncmp(m->mount[i].type, prefix, strlen(prefix)))
			return true;
	return false;
}

static void read_totals(const struct scribe_mounts *m, struct scribe_mount_totals ret_totals[SCRIBE_MOUNTS_KEPT])
{
	memset(ret_totals, 0, SCRIBE_MOUNTS_KEPT * sizeof(*ret_totals));
	if (m->process && has_type(m, "nfs"))
		scribe_client_nfs(m->root, m->process, on_client, &(struct totals_of){m, ret_totals});
	if (m->process && has_type(m, "lustre"))
		scribe_client_lustre(m->root, m->process, on_client, &(struct totals_of){m, ret_totals});
}

void scribe_mounts_begin(struct scribe_mounts *m, const char *root, const char *process)
{
	m->root = root;
	m->process = process;
	read_totals(m, m->begin);
}

void scribe_mounts_moved(const struct scribe_mounts *m, struct scribe_mount_totals ret_moved[SCRIBE_MOUNTS_KEPT])
{
	read_totals(m, ret_moved);
	for (size_t i = 0; i < m->n; i++) {
		/* Mounted, or mounted again, since then: its totals begin at 0. */
		ret_moved[i].kept &= m->begin[i].kept;
		for (int k = 0; k < SCRIBE_CLIENT_TOTALS; k++)
			if (ret_moved[i].total[k] >= 0 && ret_moved[i].total[k] >= m->begin[i].total[k])
				ret_moved[i].total[k] -= m->begin[i].total[k] > 0 ? m->begin[i].total[k] : 0;
	}
}

void scribe_mounts_clear(struct scribe_mounts *m)
{
	for (size_t i = 0; i < m->n; i++) {
		free((char *)(uintptr_t)m->mount[i].type);
		free((char *)(uintptr_t)m->mount[i].path);
	}
	m->n = 0;
}
