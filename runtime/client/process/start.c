/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Before the program begins: while no process of the node is recorded, no program of ours
 * stands at system calls; the first one waits here until they do. Never prints, keeps errno,
 * waits a moment at most. Must not know MPI.
 */
#include "runtime/client/process/start.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/client/process/daemon_link.h"
#include "runtime/client/process/inherited.h"

#define START_MS 250 /* most time that a program is kept from beginning */

static bool says_one(const char *name)
{
	const char *v = getenv(name);

	return v && !strcmp(v, "1");
}

/* Beside the daemon's socket a file tells that all is there. */
static bool recorded(const char *socket)
{
	char path[SCRIBE_PATH_MAX];
	const char *slash = strrchr(socket, '/');
	size_t dir = slash ? (size_t)(slash + 1 - socket) : 0;

	if (!dir || dir + sizeof(SCRIBE_SERVICE_ATTACHED) > sizeof(path))
		return true; /* no service: nothing is known to wait for */
	memcpy(path, socket, dir);
	memcpy(path + dir, SCRIBE_SERVICE_ATTACHED, sizeof(SCRIBE_SERVICE_ATTACHED));
	return access(path, F_OK) == 0;
}

static void wait_for_daemon(void)
{
	int64_t deadline = scribe_msg_now_ms() + START_MS;
	struct scribe_link link;
	struct timespec now;

	if (scribe_link_open(&link, deadline) == 0) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		scribe_link_start(&link,
				  (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec +
					  (uint64_t)scribe_msg_left_ms(deadline) * 1000000,
				  deadline);
	}
	scribe_link_close(&link);
}

void scribe_client_start(void)
{
	const char *socket = getenv(SCRIBE_ENV_SOCKET);
	int kept = errno;

	/* what `ioscribe run` starts is recorded already */
	if (socket && !getenv(SCRIBE_ENV_JOB) && says_one("IOSCRIBE_ENABLE") && !says_one(SCRIBE_ENV_DISABLE) &&
	    !recorded(socket) && !scribe_inherited_filter())
		wait_for_daemon();
	errno = kept;
}
