// SPDX-License-Identifier: BSD-3-Clause
/*
 * Preloaded: the program is killed (SIGKILL) in the middle of its Nth pwrite,
 * half of whose bytes get written. DIE_AT=N; with 0 nobody is killed, and
 * DIE_COUNT=FILE gets the number of such writes when the program ends.
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

static ssize_t write_or_die(const char *call, int fd, const void *buf, size_t n, off64_t at)
{
	ssize_t (*real)(int, const void *, size_t, off64_t) =
		(ssize_t(*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, call);

	if (++count == die_at()) {
		real(fd, buf, n / 2, at);
		raise(SIGKILL);
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

__attribute__((destructor)) static void tell(void)
{
	const char *path = getenv("DIE_COUNT");
	FILE *f = path ? fopen(path, "w") : NULL;

	if (!f)
		return;
	fprintf(f, "%ld\n", count);
	fclose(f);
}
