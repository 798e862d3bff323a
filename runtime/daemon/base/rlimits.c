/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Raises limits inherited from a shell, prolog or service manager, before privileges are given up.
 * Must not know of jobs.
 */
#include "runtime/daemon/base/rlimits.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>

#define DESCRIPTORS 65536       /* connections, maps, links and files of all jobs */
#define LEAST_DATA  (64u << 20) /* bytes: the kernel's BTF alone takes a few MiB */
#define LEAST       128         /* maps, programs and links take about 90 */

static rlim_t descriptors = DESCRIPTORS;

static void raise_to(int what, rlim_t wanted)
{
	struct rlimit limit;

	if (getrlimit(what, &limit) < 0)
		return;
	if (limit.rlim_max < wanted) {
		const struct rlimit more = {.rlim_cur = wanted, .rlim_max = wanted};

		/* Needs CAP_SYS_RESOURCE. */
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
	raise_to(RLIMIT_MEMLOCK, RLIM_INFINITY); /* counts maps before Linux 5.11 */
	raise_to(RLIMIT_CPU, RLIM_INFINITY);
	raise_to(RLIMIT_FSIZE, RLIM_INFINITY);
	/* If RLIMIT_FSIZE stays, writes fail, and the log's message names the limit. */
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
	return scribe_err_set(err, -EMFILE, "the limit of open files is %llu here (ulimit -n): raise it to 256 or more",
			      (unsigned long long)limit.rlim_cur);
}
