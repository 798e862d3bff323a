// SPDX-License-Identifier: BSD-3-Clause
#include "logfmt/base/selftest_mark.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define LINE_MAX_BYTES 256

static size_t line_of_this(char *line)
{
	struct utsname u = {0};

	uname(&u);
	return (size_t)snprintf(line, LINE_MAX_BYTES, "%s %s %s\n", IOSCRIBE_VERSION, u.release, u.version);
}

static int open_mark(const char *dir, int flags)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/selftest", dir);
	return open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
}

int scribe_selftest_mark(const char *dir)
{
	char line[LINE_MAX_BYTES];
	const size_t n = line_of_this(line);
	const int fd = open_mark(dir, O_WRONLY | O_CREAT | O_TRUNC);
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, line, n) != (ssize_t)n)
		rc = -EIO;
	close(fd);
	return rc;
}

bool scribe_selftest_passed(const char *dir)
{
	char want[LINE_MAX_BYTES], have[LINE_MAX_BYTES];
	const size_t n = line_of_this(want);
	const int fd = open_mark(dir, O_RDONLY);
	const bool same = fd >= 0 && read(fd, have, sizeof(have)) == (ssize_t)n && !memcmp(want, have, n);

	if (fd >= 0)
		close(fd);
	return same;
}
