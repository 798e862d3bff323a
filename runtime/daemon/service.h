/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_SERVICE_H
#define RUNTIME_DAEMON_SERVICE_H

#include "runtime/daemon/state/daemon.h"

struct scribe_service_options {
	const char *dir;    /* NULL: from the environment, or SCRIBE_SERVICE_DIR */
	const char *config; /* NULL: from the environment, or SCRIBE_SERVICE_CONFIG if it exists */
	bool foreground;    /* stay in the caller's session */
	bool stay;          /* do not exit after the last job */
	bool pin;           /* pin maps and programs for a later daemon */
	bool finish;        /* only write the logs of an earlier daemon's jobs */
	int lock;           /* inherited descriptor of the directory's lock; -1: take it */
	bool verbose;
};

/* Serves until it is stopped. Returns the exit status. */
int scribe_service_run(const struct scribe_service_options *options);

#endif
