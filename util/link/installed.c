// SPDX-License-Identifier: BSD-3-Clause
/* Files of this installation, relative to /proc/self/exe. */
#include "util/link/installed.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
		/* The real path: with "../" it would depend on links, and it goes into other programs' environments. */
		if (access(path, R_OK) < 0 || !realpath(path, real) || strlen(real) >= cap)
			continue;
		strcpy(ret_path, real);
		return 0;
	}
	return -ENOENT;
}

int scribe_installed_daemon(char *ret_path, size_t cap)
{
	static const char *const places[] = {"ioscribed", "../sbin/ioscribed", "../libexec/ioscribe/ioscribed",
					     "../runtime/daemon/ioscribed", NULL};

	return scribe_installed_find(places, ret_path, cap);
}
