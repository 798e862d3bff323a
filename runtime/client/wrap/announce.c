/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages to the kernel programs about streams: an fcntl() with a command that the kernel refuses. Runs on the
 * program's threads. Must not know: slots, daemon.
 */
#include "runtime/client/wrap/announce.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "logfmt/base/proto.h"
#include "runtime/client/wrap/seccomp.h"

extern FILE *stdin, *stdout, *stderr;

bool scribe_shm_counters_on;
static unsigned reopened; /* standard streams reopened as files, bits; kept by fork */

void scribe_announce_use(int fd, uint32_t memory, uint32_t index, uint32_t gen, enum scribe_announce_use what)
{
	/* The program must not see the refusal in errno. */
	int kept = errno;

	syscall(SYS_fcntl, (long)fd, (long)SCRIBE_ANNOUNCE, (long)memory, (long)index, (long)gen, (long)what);
	errno = kept;
}

int scribe_stream_standard(const FILE *f)
{
	int n = f == stdin ? 0 : f == stdout ? 1 : f == stderr ? 2 : -1;

	return n >= 0 && reopened & 1u << n ? -1 : n;
}

void scribe_stream_opening(void)
{
	if (scribe_shm_counters_on && scribe_may_call())
		scribe_announce_use(-1, 0, 0, 0, SCRIBE_ANNOUNCE_OPENING);
}

void scribe_stream_opened(const FILE *f)
{
	int n = f ? scribe_stream_standard(f) : -1;

	if (n >= 0)
		__atomic_fetch_or(&reopened, 1u << n, __ATOMIC_RELAXED);
	if (scribe_shm_counters_on && scribe_may_call())
		scribe_announce_use(-1, 0, 0, 0, SCRIBE_ANNOUNCE_OPENED);
}

static bool says(const char *name, const char *value)
{
	const char *v = getenv(name);

	return v && !strcmp(v, value);
}

__attribute__((constructor)) static void at_start(void)
{
	scribe_shm_counters_on =
		getenv(SCRIBE_ENV_SOCKET) && !says(SCRIBE_ENV_DISABLE, "1") && !says(SCRIBE_ENV_STREAMS, "0");
}
