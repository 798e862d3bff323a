// SPDX-License-Identifier: BSD-3-Clause
// Very many short processes, one after the other, more than there are process
// numbers; each writes to one of fifty files. Prints: opens writes bytes wrapped
// many_procs COUNT
#include "prog.h"

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 1000, bytes = 0, wrapped = 0;
	char buf[128] = {0};
	pid_t before = 0;

	for (long i = 0; i < count; i++) {
		size_t n = (size_t)(i % 100) + 1;
		pid_t child = (pid_t)MUST(fork());

		if (child == 0) {
			char name[32];
			int fd;

			snprintf(name, sizeof(name), "p%ld", i % 50);
			fd = prog_open(name, O_WRONLY | O_CREAT | O_APPEND);
			EXACT(write(fd, buf, n), n);
			_exit(0);
		}
		if (child < before)
			wrapped++;
		before = child;
		prog_wait(child);
		bytes += (long)n;
	}
	printf("%ld %ld %ld %ld\n", count, count, bytes, wrapped);
	return 0;
}
