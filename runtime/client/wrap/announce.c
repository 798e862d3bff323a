/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kernel programs are told of streams, and whether anybody is there to be told. A message
 * is an fcntl() with a command that the kernel refuses: its arguments are read by the kernel
 * program, and nothing else happens. Runs on the traced program's threads. Must not know: places,
 * daemon.
 */
#include "runtime/client/wrap/announce.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "logfmt/base/proto.h"
#include "runtime/client/wrap/seal.h"

extern FILE *stdin, *stdout, *stderr;

bool scribe_shm_counters_on;
static unsigned reopened; /* standard streams that stand for a file that was opened, bits; a fork keeps them */

/* errno is preserved: the refusal must not be seen by the program. */
void scribe_tell(int fd, uint32_t memory, uint32_t index, uint32_t gen, enum scribe_tell what)
{
	int kept = errno;

	syscall(SYS_fcntl, (long)fd, (long)SCRIBE_TELL, (long)memory, (long)index, (long)gen, (long)what);
	errno = kept;
}

/* 0 to 2, or -1: no standard stream, or one that freopen() has made a file. */
int scribe_stream_standard(const FILE *f)
{
	int n = f == stdin ? 0 : f == stdout ? 1 : f == stderr ? 2 : -1;

	return n >= 0 && reopened & 1u << n ? -1 : n;
}

void scribe_stream_opening(void)
{
	if (scribe_shm_counters_on && scribe_may_call())
		scribe_tell(-1, 0, 0, 0, SCRIBE_TELL_OPENING);
}

void scribe_stream_opened(const FILE *f)
{
	int n = f ? scribe_stream_standard(f) : -1;

	if (n >= 0)
		__atomic_fetch_or(&reopened, 1u << n, __ATOMIC_RELAXED);
	if (scribe_shm_counters_on && scribe_may_call())
		scribe_tell(-1, 0, 0, 0, SCRIBE_TELL_OPENED);
}

static bool says(const char *name, const char *value)
{
	const char *v = getenv(name);

	return v && !strcmp(v, value);
}

/* Does anybody want to know? What he cannot be told is counted by system calls. */
__attribute__((constructor)) static void at_start(void)
{
	scribe_shm_counters_on = getenv(SCRIBE_ENV_SOCKET) && !says(SCRIBE_ENV_DISABLE, "1") &&
			    !says(SCRIBE_ENV_STREAMS, "0");
}
