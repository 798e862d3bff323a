/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process was begun with that forbids it things, asked for by calls that the loader has just
 * made itself. Must not know: daemon, streams, MPI. Called before a system call that a filter might
 * end the program for. Runs on the program's threads; owns nothing.
 */
#include "runtime/client/process/inherited.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define STATUS_BYTES 4096
#define FIELD        "\nSeccomp:\t"

/* Does a seccomp filter (or strict mode) apply? Field "Seccomp" of /proc/self/status: 0 is none. */
bool scribe_inherited_filter(void)
{
	char status[STATUS_BYTES];
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, status, sizeof(status) - 1);
	const char *found;

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return true; /* nobody knows */
	status[n] = 0;
	found = strstr(status, FIELD); /* not there: a kernel without filters */
	return found && found[sizeof(FIELD) - 1] != '0';
}
