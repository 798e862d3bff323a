/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * segment_ops FOLDER SECONDS RATE THREADS: preads of 8 bytes, RATE a second of all threads together (0: all
 * they can). Says in FOLDER/ready that it is about to begin, begins by a word in FOLDER/go, prints how many
 * operations it did and in how many seconds, and ends by a word in FOLDER/ready. Run by
 * tests/bench/segments.py.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MOST 64
#define AT_ONCE      100 /* between looks at the clock */
#define FILE_BYTES   4096

static const char *folder;
static double seconds, each_ns; /* of one thread's operation; 0: as fast as it can */

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static void sleep_until(double ns)
{
	struct timespec t = {.tv_sec = (time_t)(ns / 1e9)};

	t.tv_nsec = (long)(ns - (double)t.tv_sec * 1e9);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void *work(void *ret_done)
{
	const double start = now_ns(), end = start + seconds * 1e9;
	char name[4096], bytes[8];
	long done = 0;
	int fd;

	snprintf(name, sizeof(name), "%s/data.%d", folder, (int)gettid());
	fd = open(name, O_RDWR | O_CREAT, 0600);
	must(fd >= 0 && ftruncate(fd, FILE_BYTES) == 0, "open");
	while (now_ns() < end) {
		for (int i = 0; i < AT_ONCE; i++, done++)
			must(pread(fd, bytes, 8, done * 8 % FILE_BYTES) == 8, "pread");
		if (each_ns > 0)
			sleep_until(start + (double)done * each_ns);
	}
	*(long *)ret_done = done;
	return NULL;
}

/* Whoever opens the other end goes on, too. */
static void meet(const char *what, int flags)
{
	char name[4096], byte;
	int fd;

	snprintf(name, sizeof(name), "%s/%s", folder, what);
	fd = open(name, flags);
	must(fd >= 0, "open");
	if (flags == O_RDONLY)
		must(read(fd, &byte, 1) >= 0, "read");
	close(fd);
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS_MOST];
	long done[THREADS_MOST], sum = 0;
	double since;
	int threads;

	if (argc != 5 || (threads = atoi(argv[4])) < 1 || threads > THREADS_MOST)
		return 2;
	folder = argv[1];
	seconds = atof(argv[2]);
	each_ns = atof(argv[3]) > 0 ? 1e9 * threads / atof(argv[3]) : 0;
	meet("ready", O_WRONLY);
	meet("go", O_RDONLY);
	since = now_ns();
	for (int i = 0; i < threads; i++)
		must(pthread_create(&thread[i], NULL, work, &done[i]) == 0, "pthread_create");
	for (int i = 0; i < threads; i++) {
		pthread_join(thread[i], NULL);
		sum += done[i];
	}
	printf("%ld\n%.3f\n", sum, (now_ns() - since) / 1e9);
	fflush(stdout);
	meet("ready", O_RDONLY);
	return 0;
}
