/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The daemon as a service: its directory and socket, its beginning apart from
 * whoever started it, what the service manager is told, and when it goes.
 */
#ifndef RUNTIME_DAEMON_SERVICE_H
#define RUNTIME_DAEMON_SERVICE_H

#include "runtime/daemon/state/daemon.h"

struct scribe_service_options {
	const char *dir;    /* NULL: by environment, else SCRIBE_SERVICE_DIR */
	const char *config; /* NULL: by environment, else SCRIBE_SERVICE_CONFIG if there is one */
	bool foreground;    /* do not leave the caller's session */
	bool stay;          /* do not end with the last job */
	bool pin;           /* keep what the kernel holds where a later daemon finds it */
	bool finish;        /* write the logs of the jobs that an earlier daemon has left, then go */
	int lock;           /* the directory's locked file, handed over by who holds it; -1: to be locked */
	bool verbose;
};


/* Serve until told to end. The exit status of the process. */
int scribe_service_run(const struct scribe_service_options *options);

#endif
