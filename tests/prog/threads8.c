// SPDX-License-Identifier: BSD-3-Clause
// Eight threads on one file for some seconds; prints what they did:
//   reads writes bytes_read bytes_written
// threads8 MODE SECONDS, MODE one of positioned shared append
#include "prog.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { THREADS = 8 };

static atomic_int stop;
static atomic_long reads, writes, bytes_read, bytes_written;
static int shared = -1;
static const char *mode;

static void did_read(long n)
{
	MUST(n);
	reads++;
	bytes_read += n;
}

static void did_write(long n)
{
	MUST(n);
	writes++;
	bytes_written += n;
}

static void *worker(void *arg)
{
	unsigned seed = (unsigned)(long)arg + 1;
	char buf[512] = {0};

	while (!stop) {
		size_t n = 1 + (size_t)rand_r(&seed) % sizeof(buf);
		off_t at = rand_r(&seed) % (1 << 20);

		if (mode[0] == 'p') {
			did_write(pwrite(shared, buf, n, at));
			did_read(pread(shared, buf, n, at));
		} else if (mode[0] == 's') {
			did_write(write(shared, buf, n));
			if (rand_r(&seed) % 8 == 0)
				MUST(lseek(shared, 0, SEEK_SET));
			did_read(read(shared, buf, n));
		} else {
			did_write(write(shared, buf, n % 64 + 1));
			if (rand_r(&seed) % 64 == 0)
				did_read(pread(shared, buf, n, at));
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS];

	if (argc != 3)
		return 2;
	mode = argv[1];
	shared = prog_open("eight", O_RDWR | O_CREAT | (mode[0] == 'a' ? O_APPEND : 0));
	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	usleep((useconds_t)(atof(argv[2]) * 1e6));
	stop = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	printf("%ld %ld %ld %ld\n", (long)reads, (long)writes, (long)bytes_read, (long)bytes_written);
	return 0;
}
