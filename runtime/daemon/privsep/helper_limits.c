// SPDX-License-Identifier: BSD-3-Clause
/* See helper_limits.h. */
#include "runtime/daemon/privsep/helper_limits.h"

#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runtime/daemon/privsep/sandbox.h"

#define MEMORY_MAX   (1u << 30) /* bytes of its own: files that it maps may be larger */
#define SECONDS_NOW  5    /* of processor time, for one question */
#define SECONDS_EVER 3600 /* for all */

static void limit(int what, rlim_t now, rlim_t ever)
{
	const struct rlimit r = {now, ever};

	setrlimit(what, &r);
}

/* For what comes now; and for good: it does nothing but read from now on. */
int scribe_helper_limits(void)
{
	static bool sandboxed;
	struct rusage used;
	struct scribe_err err;
	int rc = sandboxed || geteuid() == 0 ? 0 : scribe_sandbox(SCRIBE_PROCESS_READER, &err);

	if (rc < 0)
		return rc;
	sandboxed = true;

	getrusage(RUSAGE_SELF, &used);
	limit(RLIMIT_CPU, (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + SECONDS_NOW, SECONDS_EVER);
#ifndef __SANITIZE_ADDRESS__
	limit(RLIMIT_DATA, MEMORY_MAX, MEMORY_MAX);
#endif
	return 0;
}
