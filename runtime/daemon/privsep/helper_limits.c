// SPDX-License-Identifier: BSD-3-Clause
/*
 * Limits of a helper that reads what a user wrote; see helper_limits.h. Set inside the helper,
 * before each request of that kind. At the first one it also becomes a reader: a narrower system
 * call filter, for good. Root's helper keeps its filter, as it serves requests of other kinds, too.
 */
#include "runtime/daemon/privsep/helper_limits.h"

#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runtime/daemon/privsep/sandbox.h"

/* The hard limit: it cannot be raised again, so the soft one moves towards it with each request. */
#define SECONDS_EVER 3600 /* of processor time, for all questions */

/* A limit that cannot be set, for example because the hard one is lower, stays as it is. */
static void limit(int what, rlim_t now, rlim_t ever)
{
	const struct rlimit r = {now, ever};

	setrlimit(what, &r);
}

/* For what comes now; and for good: it does nothing but read from now on. */
int scribe_helper_limits(unsigned bytes, unsigned seconds)
{
	static bool sandboxed;
	struct rusage used;
	struct scribe_err err;
	int rc = sandboxed || geteuid() == 0 ? 0 : scribe_sandbox(SCRIBE_PROCESS_READER, &err);

	if (rc < 0)
		return rc;
	sandboxed = true;

	getrusage(RUSAGE_SELF, &used);
	limit(RLIMIT_CPU, (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + seconds, SECONDS_EVER);
#ifdef __SANITIZE_ADDRESS__
	(void)bytes; /* the sanitizer's own shadow is larger */
#else
	limit(RLIMIT_DATA, bytes, bytes);
#endif
	return 0;
}
