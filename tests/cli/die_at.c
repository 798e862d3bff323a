// SPDX-License-Identifier: BSD-3-Clause
/*
 * Preloaded: the program is killed in the middle of its Nth write to a file that
 * it has opened, half of whose bytes get written. DIE_AT=N; with 0 nobody is
 * killed, and DIE_COUNT=FILE gets the number of such writes when the program
 * ends. DIE_SIGNAL is the signal's number, else SIGKILL.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static long count;

static long die_at(void)
{
	const char *text = getenv("DIE_AT");

	return text ? atol(text) : 0;
}

static void die(void)
{
	const char *text = getenv("DIE_SIGNAL");

	raise(text ? atoi(text) : SIGKILL);
}

static ssize_t write_or_die(const char *call, int fd, const void *buf, size_t n, off64_t at)
{
	ssize_t (*real)(int, const void *, size_t, off64_t) =
		(ssize_t(*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, call);

	if (++count == die_at()) {
		real(fd, buf, n / 2, at);
		die();
	}
	return real(fd, buf, n, at);
}

__attribute__((visibility("default"))) ssize_t pwrite(int fd, const void *buf, size_t n, off_t at)
{
	return write_or_die("pwrite", fd, buf, n, at);
}

__attribute__((visibility("default"))) ssize_t pwrite64(int fd, const void *buf, size_t n, off64_t at)
{
	return write_or_die("pwrite64", fd, buf, n, at);
}

__attribute__((visibility("default"))) ssize_t write(int fd, const void *buf, size_t n)
{
	ssize_t (*real)(int, const void *, size_t) = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");

	if (fd > STDERR_FILENO && ++count == die_at()) {
		real(fd, buf, n / 2);
		die();
	}
	return real(fd, buf, n);
}

__attribute__((destructor)) static void tell(void)
{
	const char *path = getenv("DIE_COUNT");
	FILE *f = path ? fopen(path, "w") : NULL;

	if (!f)
		return;
	fprintf(f, "%ld\n", count);
	fclose(f);
}
