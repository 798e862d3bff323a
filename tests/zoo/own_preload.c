// SPDX-License-Identifier: BSD-3-Clause
// A library that somebody else preloads: stands before the same names, and tells at the end.
#include <dlfcn.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

static long opens, puts_;

FILE *fopen(const char *path, const char *mode)
{
	FILE *(*next)(const char *, const char *) = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");

	opens++;
	return next(path, mode);
}

int putc(int c, FILE *f)
{
	int (*next)(int, FILE *) = (int (*)(int, FILE *))dlsym(RTLD_NEXT, "putc");

	puts_++;
	return next(c, f);
}

__attribute__((destructor)) static void end(void)
{
	dprintf(2, "own: %s %s\n", opens == 2 ? "two opens" : "?", puts_ == 10000 ? "all characters" : "?");
}
