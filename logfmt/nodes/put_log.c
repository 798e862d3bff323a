/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of finished logs and the directories above them, with the caller's identity: the job's user in the daemon's
 * helper. Must not rely on root.
 */
#include "logfmt/nodes/put_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logfmt/nodes/part.h"

#define PATH_BYTES 4400

static mode_t dir_mode(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char parent[PATH_BYTES];
	struct stat st;

	if (scribe_parts_is_dir(name)) /* private */
		return 0700;
	snprintf(parent, sizeof(parent), "%.*s", name > path ? (int)(name - path) : 1, name > path ? path : ".");
	if (!*name || name[strspn(name, "0123456789")] || stat(parent, &st) < 0)
		return 0755;
	/* Digits: a date directory (log_layout = dated). The day's first user must not lock out the others. */
	return (st.st_mode & 01002) == 01002 ? 01777 : 0755;
}

static int check_own(const char *path)
{
	struct stat link, st;

	/*
	 * Where all users can write, another one may have created the name first: the directory, and a link to it,
	 * must be the user's or root's. The directory above is sticky or not writable, so the owner cannot be
	 * replaced.
	 */
	if (lstat(path, &link) < 0 || stat(path, &st) < 0)
		return -errno;
	if ((link.st_uid && link.st_uid != geteuid()) || (st.st_uid && st.st_uid != geteuid()))
		return -EPERM;
	return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

int scribe_make_dirs(char *path, size_t own)
{
	mode_t mask = umask(0);
	int rc = 0;

	for (char *p = path + 1; rc == 0 && (p = strchr(p, '/')); p++) {
		bool is_own = (size_t)(p - path) == own;

		*p = 0;
		rc = mkdir(path, is_own ? 0700 : dir_mode(path)) < 0 ? -errno : 0;
		if (rc < 0 && access(path, F_OK) == 0)
			rc = 0;
		if (rc == 0 && is_own)
			rc = check_own(path);
		*p = '/';
	}
	umask(mask);
	return rc;
}

int scribe_put_name(const char *path, const char *to, bool replace)
{
	/* Readers find the log only complete: the mode is set first, and the rename is atomic. */
	if (chmod(path, 0400) < 0)
		return -errno;
	if (replace)
		return rename(path, to) < 0 ? -errno : 0;
	if (renameat2(AT_FDCWD, path, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (link(path, to) < 0)
		return -errno;
	unlink(path);
	return 0;
}
