/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that changes its root takes the list of preloaded libraries along, to where ours
 * may not be: the loader of what it starts there would complain of each. Must not know: MPI,
 * daemon.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/client/process/compat.h"

#define OURS "/libioscribe"

/* Take ours out of a list of libraries where they are not to be found. */
static void leave_out(char *list)
{
	char *to = list;

	for (char *at = list, *next; *at; at = next) {
		size_t n = strcspn(at, ": ");
		char end = at[n];

		next = at + n + (end != 0);
		at[n] = 0;
		if (n && !(strstr(at, OURS) && access(at, R_OK) < 0)) {
			memmove(to, at, n);
			to += n;
			*to++ = end ? end : ':';
		}
	}
	if (to > list)
		to--;
	*to = 0;
}

__attribute__((visibility("default"))) int chroot(const char *path)
{
	int (*next)(const char *) = (int (*)(const char *))dlsym(RTLD_NEXT, "chroot");
	char *list;
	int rc, kept;

	if (!next) {
		errno = ENOSYS;
		return -1;
	}
	rc = next(path);
	kept = errno;
	list = getenv("LD_PRELOAD");
	if (rc == 0 && list)
		leave_out(list); /* in place: it only gets shorter */
	errno = kept;
	return rc;
}
