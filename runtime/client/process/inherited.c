/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Restrictions that a process inherits, found with calls that the loader has just made itself. Must not know:
 * daemon, streams, MPI.
 */
#include "runtime/client/process/inherited.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define STATUS_BYTES 4096
#define FIELD        "\nSeccomp:\t"

/* Field "Seccomp" of /proc/self/status; 0: none. */
bool scribe_inherited_filter(void)
{
	char status[STATUS_BYTES];
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, status, sizeof(status) - 1);
	const char *found;

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return true; /* unknown: assume one */
	status[n] = 0;
	found = strstr(status, FIELD); /* absent: a kernel without filters */
	return found && found[sizeof(FIELD) - 1] != '0';
}
