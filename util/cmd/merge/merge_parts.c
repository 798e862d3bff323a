// SPDX-License-Identifier: BSD-3-Clause
/*
 * `ioscribe merge` of directories: logs of jobs for which a node did not deliver its part. For root a child with
 * the owner's identity merges. Must not know what parts hold.
 */
#include "util/cmd/merge/merge_parts.h"

#include <errno.h>
#include <grp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "logfmt/nodes/parts.h"
#include "util/tool/command.h"

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

static void report(void *ctx, const char *line)
{
	scribe_complain(ctx, "%s", line);
}

static int merge_one(const char *argv0, const char *dir, unsigned threads, bool without_bad)
{
	/* incomplete: also without the missing nodes, and it takes over the lock of a merge that died. */
	const struct scribe_parts_way way = {.incomplete = true,
					     .said = say,
					     .ctx = (void *)(uintptr_t)argv0,
					     .threads = threads,
					     .without_bad = without_bad,
					     .report = report};
	struct scribe_err err = {0};
	int rc;

	if (!scribe_merge_is_parts(dir))
		rc = scribe_err_set(&err, -ENOTDIR, "%s: a log among directories of parts", dir);
	else
		rc = scribe_parts_merge(dir, &way, &err);
	return rc < 0 ? scribe_complain_err(argv0, &err) : SCRIBE_EXIT_OK;
}

static int as_owner(const char *argv0, const char *dir, unsigned threads, bool without_bad)
{
	struct stat st;
	int status;
	pid_t pid;

	if (geteuid() != 0 || lstat(dir, &st) < 0 || st.st_uid == 0)
		return merge_one(argv0, dir, threads, without_bad);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		/*
		 * Parts and their logs belong to a user, and root must not follow links in a user's directory. Real,
		 * effective and saved ids are all dropped, so that the child cannot get root's back.
		 */
		if (setgroups(0, NULL) < 0 || setresgid(st.st_gid, st.st_gid, st.st_gid) < 0 ||
		    setresuid(st.st_uid, st.st_uid, st.st_uid) < 0) {
			scribe_complain(argv0, "%s: cannot become its owner: %s", dir, strerror(errno));
			_exit(SCRIBE_EXIT_FAILED);
		}
		status = merge_one(argv0, dir, threads, without_bad);
		fflush(stdout);
		_exit(status);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status))
		return SCRIBE_EXIT_FAILED;
	return WEXITSTATUS(status);
}

int scribe_merge_parts(const char *argv0, char **paths, int n, unsigned threads, bool without_bad)
{
	int status = SCRIBE_EXIT_OK;

	for (int i = 0; i < n; i++) {
		size_t len = strlen(paths[i]);
		int one;

		while (len > 1 && paths[i][len - 1] == '/')
			paths[i][--len] = 0;
		one = as_owner(argv0, paths[i], threads, without_bad);
		status = one ? one : status;
	}
	return status;
}
