/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of `ioscribe run` share. */
#ifndef UTIL_CMD_RUN_RUN_PARTS_H
#define UTIL_CMD_RUN_RUN_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "logfmt/base/err.h"
#include "logfmt/base/proto.h"

#define SCRIBE_RUN_STREAMS 8u

struct scribe_run {
	const char *self; /* argv[0] */
	char **cmd;
	uint32_t words; /* of it */
	/* options */
	char options[SCRIBE_OPTIONS_MAX]; /* key=value lines for the daemon */
	size_t options_bytes;
	bool no_runtime, quiet, best_effort, require_trace, verbose;
	bool placed; /* --log or --log-dir given */
	bool log_path_is_file;
	bool force; /* such a file may be there */
	const char *stream[SCRIBE_RUN_STREAMS]; /* --stream */
	unsigned streams;
	pid_t publisher[SCRIBE_RUN_STREAMS]; /* 0: none */
	char log_path[SCRIBE_PATH_MAX]; /* where; empty: a configuration file tells */
	/* who CMD runs as */
	uid_t uid;
	gid_t gid;
	bool drop; /* become that user first */
	char user[64], home[4096];
	/* the daemon */
	pid_t daemon;
	int link; /* -1: none */
	char socket[SCRIBE_PATH_MAX];
	char library[SCRIBE_PATH_MAX]; /* empty: not found or not wanted */
	uint32_t job;
	bool wrap;        /* CMD is to count calls itself, */
	bool no_streams;  /* but none of streams */
	bool private_one; /* --private: do not look for a service */
	bool joined;      /* the daemon is the service's */
	int service_ms;   /* how long a service may take, 0: as long as the default */
	int64_t until_ms; /* it is waited for no longer before CMD starts */
	bool survives;    /* and another one would go on with the job */
	bool reported;    /* it has told of all logs: what it does then is nothing to wait for */
};

/* ---- run_link.c: the daemon as a process and a peer ---- */
/* Add a line to the daemon's options. */
int scribe_run_option(struct scribe_run *r, const char *key, const char *value, struct scribe_err *err);
/* Start it and wait until it traces. On failure no daemon is left. */
int scribe_run_link_start(struct scribe_run *r, struct scribe_err *err);
/*
 * Join the service of this node. -ENOENT: there is none; other negative codes:
 * it does not answer, speaks otherwise; -EAGAIN: it is full; -EIO: it refuses what was asked.
 */
int scribe_run_link_join(struct scribe_run *r, struct scribe_err *err);
int scribe_run_link_enrol(struct scribe_run *r, pid_t pid, struct scribe_err *err);
/*
 * The daemon is gone: wait until another one has taken the job up, some time.
 * -ETIMEDOUT: none has come; -EIO: it has no such job.
 */
int scribe_run_link_reattach(struct scribe_run *r, struct scribe_err *err);
/* Disconnect; wait for its end (bounded) and reap it, where it has not reported. */
void scribe_run_link_stop(struct scribe_run *r);

/* ---- run_child.c: CMD ---- */
/*
 * Fork CMD, stopped before exec. ret_go: write one byte to let it go, close to
 * make it vanish.
 */
int scribe_run_child_fork(struct scribe_run *r, pid_t *ret_pid, int *ret_go, int *ret_failure,
			  struct scribe_err *err);
/* 0 when CMD was executed, else the errno of exec. */
int scribe_run_child_failure(int failure_fd);
/* Forward signals to the process from now on; wait for its end. */
int scribe_run_child_wait(pid_t pid);
void scribe_run_child_signals(pid_t pid);

/* ---- run_publish.c: operations to other systems while CMD runs ---- */
/* One more --stream. -EINVAL, -E2BIG with a line in err. */
int scribe_run_publish_add(struct scribe_run *r, const char *spec, struct scribe_err *err);
/* One more by the variables of Darshan's connector, where they say so. The same codes. */
int scribe_run_publish_darshan(struct scribe_run *r, struct scribe_err *err);
/* Start them; each has subscribed to CMD's job, whose process that is, or negative with a line in err. */
int scribe_run_publish_begin(struct scribe_run *r, pid_t pid, struct scribe_err *err);
/* The job has ended: wait for their ends, some seconds. */
void scribe_run_publish_end(struct scribe_run *r);

/* ---- run_report.c: logs and summary ---- */
/* Ask for the logs and print what came. 0, or negative when there is no complete answer. */
int scribe_run_report(struct scribe_run *r, int wait_status, struct scribe_err *err);

#endif
