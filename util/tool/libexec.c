// SPDX-License-Identifier: BSD-3-Clause
/*
 * Executes a program that belongs to this installation in place of the command: beside the
 * installed or built `ioscribe` first, then the configured path. So JSON, SQL and terminal
 * libraries are loaded only by the commands that need them. Returns only where that fails. Must not
 * know which programs there are.
 */
#include "util/tool/libexec.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/tool/command.h"

/*
 * By /proc/self/exe and not by PATH: it must be the program of the same build. Any failure but
 * ENOENT is final.
 */
static void run(const char *program, char **argv)
{
	static const char *const places[] = {SCRIBE_LIBEXEC_FROM_BIN, "."};
	char self[PATH_MAX], path[2 * PATH_MAX];
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
			if (errno != ENOENT)
				return;
		}
	}
	snprintf(path, sizeof(path), SCRIBE_LIBEXEC "/%s", program);
	execv(path, argv);
}

int scribe_libexec_run(const char *program, const char *does, char **argv)
{
	run(program, argv);
	return scribe_complain(argv[0], "cannot start %s, which %s: %s; is ioscribe installed as a whole?",
			       program, does, strerror(errno));
}
