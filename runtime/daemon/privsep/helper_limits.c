// SPDX-License-Identifier: BSD-3-Clause
/* Limits of a helper, set before each request that reads user data. */
#include "runtime/daemon/privsep/helper_limits.h"

#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runtime/daemon/privsep/sandbox.h"

#define SECONDS_EVER 3600 /* hard limit of processor time, for all requests: it cannot be raised again */

static void limit(int what, rlim_t now, rlim_t ever)
{
	const struct rlimit r = {now, ever};

	/* Fails if the hard limit is lower already: that is as good. */
	setrlimit(what, &r);
}

int scribe_helper_limits(unsigned bytes, unsigned seconds)
{
	static bool sandboxed;
	struct rusage used;
	struct scribe_err err;
	/* Root's helper keeps its filter, because it also serves requests of other kinds. */
	int rc = sandboxed || geteuid() == 0 ? 0 : scribe_sandbox(SCRIBE_PROCESS_READER, &err);

	if (rc < 0)
		return rc;
	sandboxed = true;

	getrusage(RUSAGE_SELF, &used);
	/* RLIMIT_CPU counts from the start of the process, so each request adds to what has been used. */
	limit(RLIMIT_CPU, (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + seconds, SECONDS_EVER);
#ifdef __SANITIZE_ADDRESS__
	(void)bytes; /* the shadow memory of AddressSanitizer is larger */
#else
	limit(RLIMIT_DATA, bytes, bytes);
#endif
	return 0;
}
