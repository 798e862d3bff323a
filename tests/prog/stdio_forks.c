// SPDX-License-Identifier: BSD-3-Clause
/*
 * One stream through fork, vfork, raw clone and SIGKILL; many streams; many
 * threads; another program. Totals: tests/uprobes/stdio_wrap.bats.
 */
#include <err.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEN "0123456789"

static FILE *f;

static void tens(int n)
{
	for (int i = 0; i < n; i++)
		fputs(TEN, f);
	fflush(f);
}

static void await(pid_t pid)
{
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		err(1, "child");
}

/* 9 writes of 10 bytes, 5 flushes, 1 open */
static void forks(void)
{
	pid_t pid;

	f = fopen("forks", "w");
	if (!f)
		err(1, "forks");
	tens(1);
	pid = fork();
	if (pid == 0) {
		tens(2);
		_exit(0);
	}
	await(pid);
	pid = vfork();
	if (pid == 0)
		_exit(0);
	await(pid);
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0) {
		tens(1);
		syscall(SYS_exit_group, 0);
	}
	await(pid);
	pid = fork();
	if (pid == 0) {
		tens(3);
		kill((pid_t)syscall(SYS_getpid), SIGKILL);
	}
	await(pid);
	tens(2);
	fclose(f);
}

/* 5,000 streams one after the other, 3 bytes each */
static void many(void)
{
	for (int i = 0; i < 5000; i++) {
		FILE *one = fopen("many", "a");

		if (!one || fputs("abc", one) < 0)
			err(1, "many");
		fclose(one);
	}
}

static void *hundred(void *stream)
{
	for (int i = 0; i < 100; i++)
		fwrite("12345678", 1, 8, stream);
	return NULL;
}

/* 320 threads, 100 writes of 8 bytes each */
static void threads(void)
{
	pthread_t t[320];
	FILE *all = fopen("threads", "w");

	for (int i = 0; i < 320; i++)
		if (pthread_create(&t[i], NULL, hundred, all))
			errx(1, "pthread_create");
	for (int i = 0; i < 320; i++)
		pthread_join(t[i], NULL);
	fclose(all);
}

int main(void)
{
	forks();
	many();
	threads();
	/* 10 bytes here, 3 system calls of 100 by the next program */
	if (!freopen("execd", "w", stdout))
		err(1, "execd");
	fputs(TEN, stdout);
	fflush(stdout);
	execlp("dd", "dd", "if=/dev/zero", "bs=100", "count=3", "status=none", NULL);
	return 1;
}
