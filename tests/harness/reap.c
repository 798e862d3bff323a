/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a test and holds on to everything that it starts, daemons included:
 *   reap SECONDS COMMAND [ARGUMENT...]
 * Orphans of the command become children of this program. What still runs a
 * while after the command's end is named, killed, and makes the test fail; the
 * next test begins with a clean machine. After SECONDS the command and all
 * that it started are killed. Exit: the command's, 1 for processes left
 * running, 124 for out of time.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LEFT_MAX 64
#define GRACE_MS 60000 /* a daemon that was told to end may take so long on a busy machine */

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

/* Pids of the living children of this process; zombies are none. */
static int children(pid_t *ret_pids)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;
	int n = 0;

	while (dir && (e = readdir(dir)) && n < LEFT_MAX) {
		char path[64], text[512], state = 0;
		int parent = 0, fd;
		ssize_t got;
		const char *after;

		if (e->d_name[0] < '1' || e->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%.20s/stat", e->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		got = read(fd, text, sizeof(text) - 1);
		close(fd);
		text[got > 0 ? got : 0] = 0;
		after = strrchr(text, ')');
		if (after && sscanf(after + 1, " %c %d", &state, &parent) == 2 && parent == getpid() && state != 'Z' &&
		    state != 'X')
			ret_pids[n++] = atoi(e->d_name);
	}
	if (dir)
		closedir(dir);
	return n;
}

static void describe(pid_t pid)
{
	char path[64], text[512] = "";
	int fd;
	ssize_t got = 0;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		got = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	for (ssize_t i = 0; i + 1 < got; i++)
		if (!text[i])
			text[i] = ' ';
	fprintf(stderr, "reap: left running: %d %s\n", (int)pid, text);
}

/* Collect what has ended; true when `main_pid` was among it. */
static bool collect(pid_t main_pid, int *ret_status)
{
	bool seen = false;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == main_pid) {
			*ret_status = status;
			seen = true;
		}
	return seen;
}

/* Kill what is left until nothing is, within bounds. Returns how many there were at first. */
static int sweep(bool report)
{
	pid_t left[LEFT_MAX];
	int first = -1, n, unused;

	for (int round = 0; round < 200; round++) {
		collect(-1, &unused);
		n = children(left);
		if (first < 0)
			first = n;
		if (!n)
			break;
		for (int i = 0; i < n; i++) {
			if (report && round == 0)
				describe(left[i]);
			kill(left[i], SIGKILL);
		}
		nap();
	}
	return first;
}

int main(int argc, char **argv)
{
	long limit, end;
	int status = 0;
	pid_t pid, left[LEFT_MAX];

	if (argc < 3 || (limit = strtol(argv[1], NULL, 10)) <= 0) {
		fprintf(stderr, "usage: reap SECONDS COMMAND [ARGUMENT...]\n");
		return 2;
	}
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0) {
		perror("reap: prctl");
		return 2;
	}
	pid = fork();
	if (pid < 0) {
		perror("reap: fork");
		return 2;
	}
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		fprintf(stderr, "reap: %s: %s\n", argv[2], strerror(errno));
		_exit(127);
	}
	for (end = now_ms() + limit * 1000; !collect(pid, &status); nap()) {
		if (now_ms() < end)
			continue;
		fprintf(stderr, "reap: out of time (%ld s); what still ran:\n", limit);
		sweep(true);
		return 124;
	}
	for (end = now_ms() + GRACE_MS; now_ms() < end; nap()) {
		collect(-1, &(int){0});
		if (!children(left))
			break;
	}
	if (sweep(true) > 0)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
