/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * posix_ops MODE FOLDER prints ns a call, a number for each of its rounds, with
 * IOSCRIBE_BENCH_CLOCK=cpu of the thread's processor time. The rounds are short, so that some
 * of them meet nobody else on a shared machine. Run by tests/bench/posix.py.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 20

static int fd;
static char data_path[4096];
static int own_fds; /* a descriptor for each thread: on one they wait for each other at the file's count */
static long calls;

static double now_ns(void)
{
	static const char *which;
	struct timespec t;

	if (!which)
		which = getenv("IOSCRIBE_BENCH_CLOCK") ? getenv("IOSCRIBE_BENCH_CLOCK") : "";
	clock_gettime(strcmp(which, "cpu") ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

/* Threads each on a CPU of their own, or what is measured is the scheduler. */
static void pin(void)
{
	static int next;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(__sync_fetch_and_add(&next, 1) % (int)sysconf(_SC_NPROCESSORS_ONLN), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *preads(void *ret)
{
	char b[8] __attribute__((aligned(8)));
	const int from = own_fds ? open(data_path, O_RDONLY) : fd;
	double start;

	must(from >= 0, data_path);
	pin();
	start = now_ns();

	for (long i = 0; i < calls; i++)
		must(pread(from, b, 8, (i * 8) & 4095) == 8, "pread");
	*(double *)ret = (now_ns() - start) / (double)calls;
	if (own_fds)
		close(from);
	return NULL;
}

static double round_preads(int threads)
{
	pthread_t t[8];
	double ns[8], sum = 0;

	for (int i = 0; i < threads; i++)
		must(pthread_create(&t[i], NULL, preads, &ns[i]) == 0, "pthread_create");
	for (int i = 0; i < threads; i++) {
		pthread_join(t[i], NULL);
		sum += ns[i];
	}
	return sum / threads;
}

static double round_writes(void)
{
	static char block[4096];
	double start = now_ns();

	for (long i = 0; i < calls; i++) {
		if ((i & 255) == 0)
			must(lseek(fd, 0, SEEK_SET) == 0, "lseek");
		must(write(fd, block, sizeof(block)) == sizeof(block), "write");
	}
	return (now_ns() - start) / (double)calls;
}

static double round_getppid(void)
{
	double start = now_ns();

	for (long i = 0; i < calls; i++)
		getppid();
	return (now_ns() - start) / (double)calls;
}

/* Files of names that no earlier round has had, removed when the time is taken. */
static double round_creates(const char *folder)
{
	static long first;
	char path[4096];
	double start = now_ns(), ns;

	for (long i = first; i < first + calls; i++) {
		int f;

		snprintf(path, sizeof(path), "%s/c%ld", folder, i);
		f = open(path, O_RDWR | O_CREAT, 0644);
		must(f >= 0, "open");
		close(f);
	}
	ns = (now_ns() - start) / (double)calls;
	for (long i = first; i < first + calls; i++) {
		snprintf(path, sizeof(path), "%s/c%ld", folder, i);
		unlink(path);
	}
	first += calls;
	return ns;
}

static double one_round(const char *mode, const char *folder)
{
	if (!strcmp(mode, "create"))
		return round_creates(folder);
	if (!strcmp(mode, "pread1"))
		return round_preads(1);
	if (!strncmp(mode, "pread2", 6))
		return round_preads(2);
	if (!strcmp(mode, "write4k"))
		return round_writes();
	return round_getppid();
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: posix_ops pread1|pread2|pread2fd|write4k|create|getppid FOLDER\n");
		return 2;
	}
	calls = !strcmp(argv[1], "create") ? 500 : !strcmp(argv[1], "write4k") ? 20000 : 40000;
	own_fds = !strcmp(argv[1], "pread2fd");
	snprintf(data_path, sizeof(data_path), "%s/data", argv[2]);
	fd = open(data_path, O_RDWR | O_CREAT, 0644);
	must(fd >= 0 && ftruncate(fd, 4096) == 0, data_path);
	for (int i = 0; i < ROUNDS; i++)
		printf("%.1f\n", one_round(argv[1], argv[2]));
	return 0;
}
