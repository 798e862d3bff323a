// SPDX-License-Identifier: BSD-3-Clause
/*
 * Streams that are closed and opened again, stand on one description or file, are used by
 * threads and children. Expected: tests/uprobes/reopen.bats.
 */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char hundred[100];

static void put(FILE *f, int bytes)
{
	if (!f || fwrite(hundred, 1, (size_t)bytes, f) != (size_t)bytes)
		err(1, "put");
}

static void get(FILE *f, int bytes)
{
	if (!f || fread(hundred, 1, (size_t)bytes, f) != (size_t)bytes)
		err(1, "get");
}

/* 3 opens, 100 bytes written, then read, then 100 put behind them */
static void reopened(void)
{
	FILE *f = fopen("reopened", "w");

	put(f, 100);
	fclose(f);
	f = fopen("reopened", "r");
	get(f, 100);
	fclose(f);
	f = fopen("reopened", "a");
	put(f, 100);
	fclose(f);
}

/* one stream, then another file, then the first again: 50 + 60 bytes, read at 0 to 49 */
static void freopened(void)
{
	FILE *f = fopen("first", "w");

	put(f, 50);
	f = freopen("second", "w", f);
	put(f, 60);
	f = freopen("first", "r+", f);
	get(f, 50);
	fclose(f);
}

/* two streams on one description: 10, 20 and 10 bytes, the last ends at 39 */
static void dupped(void)
{
	FILE *f = fopen("dupped", "w"), *g;

	put(f, 10);
	fflush(f);
	g = fdopen(dup(fileno(f)), "w");
	put(g, 20);
	fclose(g);
	put(f, 10);
	fclose(f);
}

/* parent 100, child 100, parent 100: the last ends at 299 */
static void shared(void)
{
	FILE *f = fopen("shared", "w");
	pid_t pid;

	put(f, 100);
	fflush(f);
	pid = fork();
	if (pid == 0) {
		put(f, 100);
		fflush(f);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	put(f, 100);
	fclose(f);
}

/* a program started on the description has written 14 bytes in between */
static void started(void)
{
	FILE *f = fopen("started", "w");
	char command[64];

	put(f, 100);
	fflush(f);
	snprintf(command, sizeof(command), "printf 'fourteen bytes' >&%d", fileno(f));
	if (system(command) != 0)
		err(1, "system");
	put(f, 100);
	fclose(f);
}

static void *busy(void *name)
{
	FILE *f = fopen(name, "r+");

	for (int i = 0; i < 2000; i++)
		put(f, 50);
	fclose(f);
	return NULL;
}

/* two streams of two threads on one file: 4,000 calls, their time is not longer than it took */
static void threads(void)
{
	pthread_t id[2];

	fclose(fopen("threads", "w"));
	for (int i = 0; i < 2; i++)
		if (pthread_create(&id[i], NULL, busy, "threads"))
			err(1, "thread");
	for (int i = 0; i < 2; i++)
		pthread_join(id[i], NULL);
}

int main(void)
{
	reopened();
	freopened();
	dupped();
	shared();
	started();
	threads();
	return 0;
}
