/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Raising the limits that the daemon has inherited from a shell, a prolog or a service manager.
 * Soft limits are raised to the hard ones, and these too where CAP_SYS_RESOURCE allows it, so at
 * start, before privileges are given up. What cannot be raised is no error here;
 * scribe_limits_check() refuses later what would not work. Main thread of the daemon. Must not know
 * of jobs.
 */
#include "runtime/daemon/base/rlimits.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>

/* Connections (up to a thousand a user by default), maps, links and files of all jobs together. */
#define DESCRIPTORS 65536
#define LEAST_DATA (64u << 20) /* bytes: the kernel's types alone are a few MiB */
#define LEAST       128 /* maps, programs and links take some 90 */

static rlim_t descriptors = DESCRIPTORS;

/* To `wanted`, or as far as the hard limit goes. */
static void raise_to(int what, rlim_t wanted)
{
	struct rlimit limit;

	if (getrlimit(what, &limit) < 0)
		return;
	if (limit.rlim_max < wanted) {
		const struct rlimit more = {.rlim_cur = wanted, .rlim_max = wanted};

		/* CAP_SYS_RESOURCE may go beyond */
		if (setrlimit(what, &more) == 0)
			return;
		wanted = limit.rlim_max;
	}
	limit.rlim_cur = wanted;
	(void)setrlimit(what, &limit);
}

void scribe_limits_raise(void)
{
	struct rlimit limit;

	raise_to(RLIMIT_NOFILE, DESCRIPTORS);
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
		descriptors = limit.rlim_cur;
	raise_to(RLIMIT_AS, RLIM_INFINITY);
	raise_to(RLIMIT_DATA, RLIM_INFINITY);
	raise_to(RLIMIT_MEMLOCK, RLIM_INFINITY); /* maps count there before Linux 5.11 */
	raise_to(RLIMIT_CPU, RLIM_INFINITY);
	raise_to(RLIMIT_FSIZE, RLIM_INFINITY);
	/* where that one stays, a write fails, and its log says why */
	signal(SIGXFSZ, SIG_IGN);
}

uint64_t scribe_limits_descriptors(void)
{
	return descriptors;
}

int scribe_limits_check(struct scribe_err *err)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur < LEAST_DATA)
		return scribe_err_set(err, -ENOMEM,
				      "the limit of data is %llu KiB here (ulimit -d): raise it to %u or more",
				      (unsigned long long)limit.rlim_cur / 1024, LEAST_DATA / 1024);
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= LEAST)
		return 0;
	return scribe_err_set(err, -EMFILE,
			      "the limit of open files is %llu here (ulimit -n): raise it to 256 or more",
			      (unsigned long long)limit.rlim_cur);
}
