/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the small traced programs share: every call is checked, because a
 * program that fails half way would make a test of nothing.
 */
#ifndef TESTS_PROG_PROG_H
#define TESTS_PROG_PROG_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define MUST(call) prog_must((long)(call), #call, __FILE__, __LINE__)

static inline long prog_must(long ret, const char *what, const char *file, int line)
{
	if (ret < 0) {
		fprintf(stderr, "%s:%d: %s: %s\n", file, line, what, strerror(errno));
		exit(3);
	}
	return ret;
}

/* Exactly this many bytes, or the test is void. */
#define EXACT(call, n) prog_exact((long)(call), (long)(n), #call, __FILE__, __LINE__)

static inline void prog_exact(long ret, long want, const char *what, const char *file, int line)
{
	if (ret != want) {
		fprintf(stderr, "%s:%d: %s: %ld, expected %ld: %s\n", file, line, what, ret, want,
			ret < 0 ? strerror(errno) : "short");
		exit(3);
	}
}

static inline int prog_open(const char *path, int flags)
{
	return (int)MUST(open(path, flags, 0644));
}

static inline void prog_wait(pid_t pid)
{
	int status;

	MUST(waitpid(pid, &status, 0));
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		fprintf(stderr, "child %d ended with status 0x%x\n", (int)pid, (unsigned)status);
		exit(3);
	}
}

#endif
