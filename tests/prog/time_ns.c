// SPDX-License-Identifier: BSD-3-Clause
/*
 * Streams and system calls in turn, in time namespaces whose CLOCK_MONOTONIC is 50,000 s ahead: entered by
 * fork, by exec, by setns. The order of the files' names is that of their times
 * (tests/uprobes/stdio_wrap.bats).
 */
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

static void put(const char *path, const char *text, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0644);

	if (fd < 0 || write(fd, text, n) != (ssize_t)n || close(fd) < 0)
		err(1, "%s", path);
}

static void step(char letter)
{
	const char stream[] = {letter, '1', 0}, call[] = {letter, '2', 0};
	FILE *f = fopen(stream, "w");

	if (!f || fputs("stream", f) < 0 || fclose(f))
		err(1, "%s", stream);
	usleep(10000);
	put(call, "call", 4);
	usleep(10000);
}

static void await(pid_t pid, int want)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != want)
		err(1, "child");
}

/* There by the C library's function, back by the bare call. */
static void by_setns(void)
{
	int own = open("/proc/self/ns/time", O_RDONLY | O_CLOEXEC), other;
	char path[64];
	pid_t pid = fork();

	if (pid == 0) {
		pause();
		_exit(0);
	}
	snprintf(path, sizeof(path), "/proc/%d/ns/time", (int)pid);
	other = open(path, O_RDONLY | O_CLOEXEC);
	if (setns(other, CLONE_NEWTIME) < 0)
		err(1, "setns");
	step('e');
	if (syscall(SYS_setns, own, 0) < 0)
		err(1, "setns back");
	step('f');
	kill(pid, SIGKILL);
	await(pid, SIGKILL);
}

int main(int argc, char **argv)
{
	pid_t pid;

	if (argc > 1) {
		step(argv[1][0]);
		return 0;
	}
	step('a');
	if (unshare(CLONE_NEWTIME) < 0)
		err(1, "unshare");
	put("/proc/self/timens_offsets", "monotonic 50000 0\n", 18);
	step('b');
	pid = fork();
	if (pid == 0) {
		step('c');
		_exit(0);
	}
	await(pid, 0);
	pid = fork();
	if (pid == 0) {
		execl(argv[0], argv[0], "d", (char *)NULL);
		_exit(1);
	}
	await(pid, 0);
	by_setns();
	return 0;
}
