/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start and end of the daemon's own processes, each with a sandbox and a socket. Must not know what they do.
 */
#ifndef RUNTIME_DAEMON_PRIVSEP_SUBPROCESS_H
#define RUNTIME_DAEMON_PRIVSEP_SUBPROCESS_H

#include <sys/types.h>

#include "runtime/daemon/privsep/sandbox.h"

struct scribe_subprocess {
	pid_t pid; /* -1: none */
	int sock;  /* SOCK_SEQPACKET to it; -1: none */
};

#define SCRIBE_NO_SUBPROCESS \
	{ \
		-1, -1 \
	}

struct scribe_subprocess_plan {
	const char *name; /* at most 15 characters */
	enum scribe_process_role role;
	void (*before)(void);    /* before its sandbox; NULL: nothing */
	void (*serve)(int sock); /* after it; does not return */
};

/* Returns when its sandbox is complete; 0, or a negative errno and *ret has no process. */
int scribe_subprocess_start(struct scribe_subprocess *ret, const struct scribe_subprocess_plan *plan);
/* It exits when the socket is closed; waits for this at most `ms`. */
void scribe_subprocess_close(struct scribe_subprocess *p, int ms);

#endif
