// SPDX-License-Identifier: BSD-3-Clause
// Nanoseconds of processor time, of both processes, for a fork, an exec of this
// program and its end, one after the other: spawn_ops COUNT [NAME=VALUE…], the variables being the child's.
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double time_of(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e9 +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e3;
}

static double now_ns(void)
{
	return time_of(RUSAGE_SELF) + time_of(RUSAGE_CHILDREN);
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 0;
	char *child[] = {argv[0], NULL};
	double init_state;

	if (!count)
		return 0;
	init_state = now_ns();
	for (long i = 0; i < count; i++) {
		int status;
		pid_t pid = vfork();

		if (pid == 0) {
			execve(argv[0], child, argv + 2);
			_exit(127);
		}
		if (pid < 0 || waitpid(pid, &status, 0) < 0 || status)
			return 1;
	}
	printf("%.0f\n", (now_ns() - init_state) / (double)count);
	return 0;
}
