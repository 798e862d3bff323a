/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Delays the program until it is recorded and its libraries are probed: without a recorded process no program
 * is attached to system calls. Never prints, keeps errno.
 */
#include "runtime/client/process/start.h"

#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "runtime/client/process/daemon_link.h"
#include "runtime/client/process/inherited.h"

#define START_MS 250 /* longest delay */

static bool says_one(const char *name)
{
	const char *v = getenv(name);

	return v && !strcmp(v, "1");
}

/* A file beside the daemon's socket exists while programs are attached. */
static bool recorded(const char *socket)
{
	char path[SCRIBE_PATH_MAX];
	const char *slash = strrchr(socket, '/');
	size_t dir = slash ? (size_t)(slash + 1 - socket) : 0;

	if (!dir || dir + sizeof(SCRIBE_SERVICE_ATTACHED) > sizeof(path))
		return true; /* not a service: nothing to wait for */
	memcpy(path, socket, dir);
	memcpy(path + dir, SCRIBE_SERVICE_ATTACHED, sizeof(SCRIBE_SERVICE_ATTACHED));
	return access(path, F_OK) == 0;
}

/* Found by the start of their names. */
struct needs {
	bool mpi, wraps_mpi, above_mpi;
};

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static int on_object(struct dl_phdr_info *object, size_t bytes, void *ctx)
{
	const char *slash = strrchr(object->dlpi_name, '/'), *name = slash ? slash + 1 : object->dlpi_name;
	struct needs *n = ctx;

	(void)bytes;
	n->mpi |= begins(name, "libmpi");
	n->wraps_mpi |= begins(name, "libioscribe-inside");
	n->above_mpi |= begins(name, "libhdf5") || begins(name, "libpnetcdf");
	return 0;
}

/* Libraries that are counted by probes. */
static bool needs_probes(void)
{
	struct needs n = {0};

	dl_iterate_phdr(on_object, &n);
	/* With libioscribe-inside MPI counts in the program; libraries above it are still probed. */
	return n.above_mpi || (n.mpi && !n.wraps_mpi);
}

static void wait_for_daemon(enum scribe_msg_type what)
{
	int64_t deadline = scribe_msg_now_ms() + START_MS;
	struct scribe_link link;

	if (scribe_link_open(&link, deadline) == 0) {
		scribe_clock_calibrate();
		scribe_link_start(&link, what,
				  /* From the end of the wait the daemon finds out whether calls were missed. */
				  scribe_now_ns() + (uint64_t)scribe_msg_left_ms(deadline) * 1000000, deadline);
	}
	scribe_link_close(&link);
}

void scribe_client_start(void)
{
	const char *socket = getenv(SCRIBE_ENV_SOCKET);
	enum scribe_msg_type what = SCRIBE_MSG_ERROR;
	int kept = errno;

	if (!socket || says_one(SCRIBE_ENV_DISABLE))
		return;
	/* `ioscribe run` starts processes already recorded */
	if (!getenv(SCRIBE_ENV_JOB) && says_one("IOSCRIBE_ENABLE") && !recorded(socket))
		what = SCRIBE_MSG_START;
	else if (needs_probes())
		what = SCRIBE_MSG_PROBED;
	/* The connection makes calls that a filter may not allow. */
	if (what != SCRIBE_MSG_ERROR && !scribe_inherited_filter())
		wait_for_daemon(what);
	errno = kept;
}
