// SPDX-License-Identifier: BSD-3-Clause
/*
 * Files of this installation, searched in directories relative to the running program
 * (/proc/self/exe). Used by `run`, `job` and `doctor`. Must not know what they are for.
 */
#include "util/link/installed.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The first that can be read, as its real path: it goes into other programs' environments, where
 * "../" would depend on links.
 */
int scribe_installed_find(const char *const *places, char *ret_path, size_t cap)
{
	char self[PATH_MAX], path[2 * PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n <= 0)
		return -ENOENT;
	self[n] = 0;
	slash = strrchr(self, '/');
	if (!slash)
		return -ENOENT;
	*slash = 0;
	for (; *places; places++) {
		char real[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s", self, *places);
		if (access(path, R_OK) < 0 || !realpath(path, real) || strlen(real) >= cap)
			continue;
		strcpy(ret_path, real);
		return 0;
	}
	return -ENOENT;
}

int scribe_installed_daemon(char *ret_path, size_t cap)
{
	/* beside this program, installed, and in the build tree */
	static const char *const places[] = {"ioscribed", "../sbin/ioscribed",
					     "../libexec/ioscribe/ioscribed", "../runtime/daemon/ioscribed",
					     NULL};

	return scribe_installed_find(places, ret_path, cap);
}
