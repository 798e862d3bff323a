/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The daemon as a service: its directory and socket, its beginning apart from
 * whoever started it, what the service manager is told, and when it goes.
 */
#ifndef RUNTIME_DAEMON_SERVICE_H
#define RUNTIME_DAEMON_SERVICE_H

#include "runtime/daemon/daemon.h"

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

struct scribe_service {
	char dir[96]; /* so that the socket's name has its room */
	int pid_file; /* locked while the daemon lives */
	struct scribe_config config; /* what every job begins with */
	const char *config_file; /* that it was read from, NULL: none */
	bool stay, pin, finish;
	bool passed; /* the socket is the service manager's */
	uint64_t started_ns;
	uint64_t watchdog_ns, next_ping_ns; /* 0: the service manager wants no sign of life */
};

/* Serve until told to end. The exit status of the process. */
int scribe_service_run(const struct scribe_service_options *options);
/* Once a turn of the loop; returns how long the loop may sleep when there is no job, ms. */
int scribe_service_tick(struct scribe_daemon *d);

#endif
