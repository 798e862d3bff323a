// SPDX-License-Identifier: BSD-3-Clause
/*
 * Executes a program of this installation, so that only commands that need JSON, SQL or terminal libraries load
 * them. Must not know which programs exist.
 */
#include "util/tool/libexec.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/tool/command.h"

void scribe_libexec_exec(const char *program, char **argv)
{
	static const char *const places[] = {SCRIBE_LIBEXEC_FROM_BIN, "."};
	char self[PATH_MAX], path[2 * PATH_MAX];
	/* Not by PATH: it must be of the same build. */
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n > 0) {
		self[n] = 0;
		slash = strrchr(self, '/');
		if (slash)
			*slash = 0;
		for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
			snprintf(path, sizeof(path), "%s/%s/%s", self, places[i], program);
			execv(path, argv);
			if (errno != ENOENT) /* found, but not executable: do not try an older one */
				return;
		}
	}
	snprintf(path, sizeof(path), SCRIBE_LIBEXEC "/%s", program);
	execv(path, argv);
}

int scribe_libexec_run(const char *program, const char *does, char **argv)
{
	scribe_libexec_exec(program, argv);
	return scribe_complain(argv[0], "cannot start %s, which %s: %s; is ioscribe installed as a whole?", program,
			       does, strerror(errno));
}
