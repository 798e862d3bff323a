// SPDX-License-Identifier: BSD-3-Clause
/*
 * Making by hand the logs of jobs of which a node has never delivered its part.
 * Must not know what parts hold.
 */
#include "util/merge_parts.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "logfmt/parts.h"
#include "util/command.h"

bool scribe_merge_is_parts(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void say(void *ctx, const char *path, const char *missing)
{
	printf("%s\n", path);
	fflush(stdout);
	if (missing)
		scribe_complain(ctx, "warning: %s lacks what these nodes had: %s", path, missing);
}

int scribe_merge_parts(const char *argv0, char **paths, int n)
{
	int status = SCRIBE_EXIT_OK;

	for (int i = 0; i < n; i++) {
		struct scribe_parts_way way = {.incomplete = true, .said = say, .ctx = (void *)(uintptr_t)argv0};
		struct scribe_err err = {0};
		size_t len = strlen(paths[i]);

		int rc;

		while (len > 1 && paths[i][len - 1] == '/')
			paths[i][--len] = 0;

		if (!scribe_merge_is_parts(paths[i]))
			rc = scribe_err_set(&err, -ENOTDIR, "%s: a log among directories of parts", paths[i]);
		else
			rc = scribe_parts_merge(paths[i], &way, &err);
		if (rc < 0)
			status = scribe_complain_err(argv0, &err);
	}
	return status;
}
