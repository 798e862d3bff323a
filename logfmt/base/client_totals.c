/* SPDX-License-Identifier: BSD-3-Clause */
#include "logfmt/base/client_totals.h"

#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_MOUNTS  1024 /* super blocks */
#define LUSTRE_NAME 32   /* of a file system, with the NUL */

static void add(int64_t *sum, uint64_t n, uint64_t times)
{
	uint64_t all = *sum < 0 ? 0 : (uint64_t)*sum;

	if (__builtin_mul_overflow(n, times, &n) || __builtin_add_overflow(all, n, &all) || all > INT64_MAX)
		all = INT64_MAX;
	*sum = (int64_t)all;
}

static void begin_mount(struct scribe_client_mount *m, const char *path, const char *type)
{
	*m = (struct scribe_client_mount){.path = path, .type = type};
	for (int i = 0; i < SCRIBE_CLIENT_TOTALS; i++)
		m->total[i] = -1;
}

static FILE *open_of_process(const char *root, const char *process, const char *name)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/proc/%s/%s", root, process, name) >= (int)sizeof(path))
		return NULL;
	return fopen(path, "re");
}

/* ---- NFS ---- */

/* "\040" is a blank. */
static void unescape(const char *text, char ret[PATH_MAX])
{
	while (*text) {
		if (text[0] == '\\' && strspn(text + 1, "01234567") >= 3) {
			*ret++ = (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 | (text[3] - '0'));
			text += 4;
		} else {
			*ret++ = *text++;
		}
	}
	*ret = 0;
}

struct nfs_mounts {
	FILE *info; /* lists mounts in the order of mountstats; NULL: count every mount */
	char *line;
	size_t cap;
	unsigned int seen[MAX_MOUNTS][2];
	int n;
};

static bool is_first_mount(struct nfs_mounts *m, const char *mount)
{
	unsigned int major, minor;

	while (m->info && getline(&m->line, &m->cap, m->info) > 0) {
		int at = -1, end = -1;

		if (sscanf(m->line, "%*d %*d %u:%u %*s %n%*s%n", &major, &minor, &at, &end) != 2 || end < 0 ||
		    strncmp(m->line + at, mount, (size_t)(end - at)) || mount[end - at])
			continue;
		for (int i = 0; i < m->n; i++)
			if (m->seen[i][0] == major && m->seen[i][1] == minor)
				return false;
		if (m->n < MAX_MOUNTS) {
			m->seen[m->n][0] = major;
			m->seen[m->n++][1] = minor;
		}
		return true;
	}
	if (m->info)
		rewind(m->info);
	return true;
}

/* Layout of statvers 1.0 and 1.1, as in nfsiostat of nfs-utils. Errors: since Linux 5.4. */
static void read_nfs_line(const char *line, bool *in_operations, int64_t total[SCRIBE_CLIENT_TOTALS])
{
	uint64_t a, b, c, errors;
	int found;

	if (sscanf(line, " bytes: %*u %*u %*u %*u %" SCNu64 " %" SCNu64, &a, &b) == 2) {
		add(&total[SCRIBE_CLIENT_BYTES_READ], a, 1);
		add(&total[SCRIBE_CLIENT_BYTES_WRITTEN], b, 1);
		return;
	}
	if (!*in_operations) {
		*in_operations = strstr(line, "per-op statistics");
		return;
	}
	found = sscanf(line, " %*[A-Z0-9_]: %" SCNu64 " %*u %*u %*u %*u %" SCNu64 " %" SCNu64 " %*u %" SCNu64, &a, &b,
		       &c, &errors);
	if (found < 3)
		return;
	add(&total[SCRIBE_CLIENT_REQUESTS], a, 1);
	add(&total[SCRIBE_CLIENT_QUEUE_US], b, 1000);
	add(&total[SCRIBE_CLIENT_RTT_US], c, 1000);
	if (found == 4)
		add(&total[SCRIBE_CLIENT_ERRORS], errors, 1);
}

void scribe_client_nfs(const char *root, const char *process, scribe_client_mount_fn each, void *ctx)
{
	FILE *f = open_of_process(root, process, "mountstats");
	struct nfs_mounts mounts = {.info = f ? open_of_process(root, process, "mountinfo") : NULL};
	struct scribe_client_mount m = {0};
	bool ours = false, in_operations = false;
	char escaped[PATH_MAX], path[PATH_MAX], type[32], *line = NULL;
	size_t cap = 0;

	while (f && getline(&line, &cap, f) > 0) {
		if (strncmp(line, "device ", 7)) {
			if (ours)
				read_nfs_line(line, &in_operations, m.total);
			continue;
		}
		if (ours)
			each(ctx, &m);
		/* "device SERVER:PATH mounted on MOUNT with fstype nfs4 statvers=1.1" */
		ours = sscanf(line, "device %*s mounted on %4095s with fstype %31s", escaped, type) == 2 &&
		       (!strcmp(type, "nfs") || !strcmp(type, "nfs4"));
		in_operations = false;
		if (ours) {
			unescape(escaped, path);
			begin_mount(&m, path, type);
			m.again = !is_first_mount(&mounts, escaped);
		}
	}
	if (ours)
		each(ctx, &m);
	free(line);
	free(mounts.line);
	if (mounts.info)
		fclose(mounts.info);
	if (f)
		fclose(f);
}

/* ---- Lustre ---- */

static void read_lustre_target(const char *path, int64_t total[SCRIBE_CLIENT_TOTALS])
{
	FILE *f = fopen(path, "re");
	char line[256], name[64];
	uint64_t n, sum;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%63s %" SCNu64 " samples [%*[a-z]] %*u %*u %" SCNu64, name, &n, &sum) != 3)
			continue;
		if (!strcmp(name, "read_bytes"))
			add(&total[SCRIBE_CLIENT_BYTES_READ], sum, 1);
		else if (!strcmp(name, "write_bytes"))
			add(&total[SCRIBE_CLIENT_BYTES_WRITTEN], sum, 1);
		else if (!strcmp(name, "req_waittime")) {
			add(&total[SCRIBE_CLIENT_REQUESTS], n, 1);
			add(&total[SCRIBE_CLIENT_RTT_US], sum, 1);
		}
	}
	if (f)
		fclose(f);
}

/* Of all its servers: a client keeps statistics of each (osc, mdc), not of mounts. */
static void read_lustre_name(const char *root, const char *name, int64_t total[SCRIBE_CLIENT_TOTALS])
{
	/* Lustre 2.12 moved them to debugfs, which only root can read. */
	static const char *const places[] = {"/sys/kernel/debug/lustre", "/proc/fs/lustre"};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char pattern[PATH_MAX];
		glob_t found;

		if (snprintf(pattern, sizeof(pattern), "%s%s/[om][sd]c/%s-*/stats", root, places[i], name) >=
			    (int)sizeof(pattern) ||
		    glob(pattern, GLOB_NOSORT, NULL, &found))
			continue;
		for (size_t k = 0; k < found.gl_pathc; k++)
			read_lustre_target(found.gl_pathv[k], total);
		globfree(&found);
		return;
	}
}

/* "10.0.0.1@tcp:10.0.0.2@tcp:/NAME/folder" */
static bool lustre_name(const char *device, char ret_name[LUSTRE_NAME])
{
	const char *at = strstr(device, ":/");
	const size_t n = at ? strcspn(at + 2, "/") : 0;

	if (n == 0 || n >= LUSTRE_NAME ||
	    strspn(at + 2, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") < n)
		return false;
	memcpy(ret_name, at + 2, n);
	ret_name[n] = 0;
	return true;
}

void scribe_client_lustre(const char *root, const char *process, scribe_client_mount_fn each, void *ctx)
{
	char buffer[2 * PATH_MAX], name[LUSTRE_NAME], last[LUSTRE_NAME] = "";
	FILE *f = open_of_process(root, process, "mounts");
	struct mntent e;

	while (f && getmntent_r(f, &e, buffer, sizeof(buffer))) {
		struct scribe_client_mount m;

		if (strcmp(e.mnt_type, "lustre") || !lustre_name(e.mnt_fsname, name))
			continue;
		begin_mount(&m, e.mnt_dir, "lustre");
		m.again = !strcmp(name, last);
		read_lustre_name(root, name, m.total);
		strcpy(last, name);
		each(ctx, &m);
	}
	if (f)
		fclose(f);
}
