/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Detaches the daemon. The first process waits until the daemon serves, so that its caller, usually a
 * scheduler's prolog, can rely on the socket. Main thread, once, before other processes or threads exist. Must
 * not know what the daemon does afterwards.
 */
#include "runtime/daemon/base/daemonize.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define READY_FD 3

/* A prolog's cgroup is killed with its job: move to the root of every hierarchy that is writable. */
static void leave_cgroups(void)
{
	char line[4096], pid[16];
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	int n = snprintf(pid, sizeof(pid), "%d", (int)getpid());

	while (mounts && fgets(line, sizeof(line), mounts)) {
		char root[1024], at[1024], path[1100];
		const char *type = strstr(line, " - cgroup");
		int fd;

		if (!type || sscanf(line, "%*s %*s %*s %1023s %1023s", root, at) != 2 || strcmp(root, "/"))
			continue;
		snprintf(path, sizeof(path), "%s/cgroup.procs", at);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (write(fd, pid, (size_t)n) < 0)
			(void)0; /* not permitted: stay */
		close(fd);
	}
	if (mounts)
		fclose(mounts);
}

/* The pipe carries a newline for success, otherwise an error text; nothing if the daemon died. */
static int await(int from, pid_t child)
{
	char text[sizeof(((struct scribe_err *)0)->text)] = "";
	size_t n = 0;
	ssize_t got;

	while (n < sizeof(text) - 1 &&
	       ((got = read(from, text + n, sizeof(text) - 1 - n)) > 0 || (got < 0 && errno == EINTR)))
		n += got > 0 ? (size_t)got : 0;
	text[n] = 0;
	waitpid(child, NULL, 0);
	if (n == 1 && text[0] == '\n')
		return 1;
	fprintf(stderr, "ioscribed: %s\n", n ? text : "ended before it was ready");
	exit(1);
}

int scribe_daemonize(int *ret_ready, struct scribe_err *err)
{
	int pair[2], null;
	pid_t pid;

	if (pipe2(pair, O_CLOEXEC) < 0)
		return scribe_err_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		return scribe_err_set(err, -errno, "cannot fork: %s", strerror(errno));
	if (pid > 0) {
		close(pair[1]);
		return await(pair[0], pid);
	}
	/* Two forks: without a controlling terminal, and unable to get one. */
	setsid();
	if (fork() != 0)
		_exit(0);
	/* READY_FD follows the standard descriptors, so one close_range() closes everything inherited. */
	pair[1] = fcntl(pair[1], F_DUPFD_CLOEXEC, READY_FD + 1);
	null = open("/dev/null", O_RDWR);
	for (int fd = 0; fd < READY_FD; fd++)
		dup2(null, fd);
	dup2(pair[1], READY_FD);
	syscall(SYS_close_range, READY_FD + 1, ~0u, 0);
	fcntl(READY_FD, F_SETFD, FD_CLOEXEC);
	if (chdir("/") < 0)
		(void)0;
	umask(022);
	leave_cgroups();
	*ret_ready = READY_FD;
	return 0;
}

void scribe_daemonize_ready(int ready, const char *text)
{
	if (ready < 0)
		return;
	if (!text || !text[0])
		text = text ? "cannot start" : "\n";
	if (write(ready, text, strlen(text)) < 0)
		(void)0; /* the starter has exited */
	close(ready);
}
