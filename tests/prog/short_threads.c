// SPDX-License-Identifier: BSD-3-Clause
// Many short-lived threads, some at a time, on a hundred files; each opens one,
// writes and reads a little and closes it. Prints: opens writes bytes_written
// short_threads THREADS
#include "prog.h"

#include <pthread.h>

enum { FILES = 100, AT_ONCE = 32 };

static void *worker(void *arg)
{
	long n = (long)arg;
	char name[32], buf[256] = {0};
	int fd;

	snprintf(name, sizeof(name), "short.%ld", n % FILES);
	fd = prog_open(name, O_RDWR | O_CREAT);
	EXACT(pwrite(fd, buf, (size_t)(n % 200) + 1, 0), n % 200 + 1);
	MUST(pread(fd, buf, 10, 0));
	MUST(close(fd));
	return NULL;
}

int main(int argc, char **argv)
{
	long threads = argc > 1 ? atol(argv[1]) : 10000, bytes = 0;
	pthread_t t[AT_ONCE];

	for (long at = 0; at < threads; at += AT_ONCE) {
		long now = threads - at < AT_ONCE ? threads - at : AT_ONCE;

		for (long i = 0; i < now; i++) {
			if (pthread_create(&t[i], NULL, worker, (void *)(at + i)))
				return 3;
			bytes += (at + i) % 200 + 1;
		}
		for (long i = 0; i < now; i++)
			pthread_join(t[i], NULL);
	}
	printf("%ld %ld %ld\n", threads, threads, bytes);
	return 0;
}
