// SPDX-License-Identifier: BSD-3-Clause
/*
 * I/O step by step, for who looks at it from outside. Each line of standard input is a step, answered by
 * "done" when it is over; standard input and output are read and written by plain system calls.
 *   w N SIZE PATH   N writes of SIZE bytes; the file stays open
 *   s N SIZE PATH   the same by a stream, which is flushed
 *   o N DIR         N files of one byte in DIR
 *   c N             N children, one after the other, that write 1000 bytes each to a file in the working
 * directory
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char data[1 << 20];

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	_exit(2);
}

static void writes(long n, size_t size, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0644);

	must(fd >= 0, path);
	for (long i = 0; i < n; i++)
		must(write(fd, data, size) == (ssize_t)size, "write");
}

static void streams(long n, size_t size, const char *path)
{
	FILE *f = fopen(path, "w");

	must(f != NULL, path);
	for (long i = 0; i < n; i++)
		must(fwrite(data, 1, size, f) == size, "fwrite");
	must(fflush(f) == 0, "fflush");
}

static void opens(long n, const char *dir)
{
	char path[4096];

	for (long i = 0; i < n; i++) {
		int fd;

		snprintf(path, sizeof(path), "%s/%ld", dir, i);
		fd = open(path, O_WRONLY | O_CREAT, 0644);
		must(fd >= 0 && write(fd, data, 1) == 1, path);
		close(fd);
	}
}

static void children(long n)
{
	for (long i = 0; i < n; i++) {
		pid_t pid = fork();

		must(pid >= 0, "fork");
		if (!pid) {
			writes(1, 1000, "child");
			_exit(0);
		}
		must(waitpid(pid, NULL, 0) == pid, "waitpid");
	}
}

static void step(const char *line)
{
	char path[4096] = "";
	size_t size = 0;
	long n = 0;

	if (sscanf(line, "w %ld %zu %4095[^\n]", &n, &size, path) == 3)
		writes(n, size, path);
	else if (sscanf(line, "s %ld %zu %4095[^\n]", &n, &size, path) == 3)
		streams(n, size, path);
	else if (sscanf(line, "o %ld %4095[^\n]", &n, path) == 2)
		opens(n, path);
	else if (sscanf(line, "c %ld", &n) == 1)
		children(n);
	else
		must(0, line);
}

int main(void)
{
	char line[8192];
	size_t at = 0;

	while (read(0, line + at, 1) == 1) {
		if (line[at] != '\n') {
			must(++at < sizeof(line), "line");
			continue;
		}
		line[at] = 0;
		at = 0;
		step(line);
		must(write(1, "done\n", 5) == 5, "done");
	}
	return 0;
}
