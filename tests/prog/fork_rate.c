// SPDX-License-Identifier: BSD-3-Clause
// So many processes a second, each executes this program again, appends 1 to 100
// bytes to one of fifty files and ends with a code of 0 to 6. One that comes late
// is made at once: the rate holds. Prints: processes writes bytes codes
// fork_rate COUNT PER_SECOND
#include "prog.h"

#include <time.h>

static int child(long i)
{
	char name[32], buf[128] = {0};
	size_t n = (size_t)(i % 100) + 1;
	int fd;

	snprintf(name, sizeof(name), "f%ld", i % 50);
	fd = prog_open(name, O_WRONLY | O_CREAT | O_APPEND);
	EXACT(write(fd, buf, n), n);
	MUST(close(fd));
	return (int)(i % 7);
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 100, rate = argc > 2 ? atol(argv[2]) : 50, bytes = 0, codes = 0;
	struct timespec at;

	if (argc > 3)
		return child(atol(argv[3]));
	clock_gettime(CLOCK_MONOTONIC, &at);
	for (long i = 0; i < count; i++) {
		char number[32];

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		at.tv_nsec += 1000000000 / rate;
		at.tv_sec += at.tv_nsec / 1000000000;
		at.tv_nsec %= 1000000000;
		snprintf(number, sizeof(number), "%ld", i);
		if (MUST(fork()) == 0) {
			execl(argv[0], argv[0], "0", "1", number, (char *)NULL);
			_exit(127);
		}
		bytes += i % 100 + 1;
		codes += i % 7;
	}
	for (long i = 0; i < count; i++) {
		int status;

		MUST(wait(&status));
		EXACT(WIFEXITED(status) && WEXITSTATUS(status) < 7, 1);
	}
	printf("%ld %ld %ld %ld\n", count, count, bytes, codes);
	return 0;
}
