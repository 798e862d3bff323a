/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of `ioscribe run`. */
#ifndef UTIL_CMD_RUN_RUN_PARTS_H
#define UTIL_CMD_RUN_RUN_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "logfmt/base/err.h"
#include "logfmt/base/proto.h"

#define SCRIBE_RUN_STREAMS 8u

struct scribe_run {
	const char *self;
	char **cmd;
	uint32_t words;
	char options[SCRIBE_OPTIONS_MAX];
	size_t options_bytes;
	bool no_runtime, quiet, report, best_effort, require_trace, verbose;
	bool placed; /* --log or --log-dir given */
	bool log_path_is_file;
	bool force;                             /* replace an existing log file */
	const char *stream[SCRIBE_RUN_STREAMS]; /* borrowed from argv */
	unsigned streams;
	pid_t publisher[SCRIBE_RUN_STREAMS]; /* 0: none */
	char log_path[SCRIBE_PATH_MAX];      /* empty: set in a configuration file */
	uid_t uid;
	gid_t gid;
	bool drop; /* change to it */
	char user[64], home[4096];
	pid_t daemon;
	int link; /* -1: none */
	char socket[SCRIBE_PATH_MAX];
	char library[SCRIBE_PATH_MAX]; /* empty: not found or disabled */
	uint32_t job;
	bool wrap;
	bool no_streams;
	bool private_one; /* --private: ignore the service */
	bool joined;      /* the daemon is the node's service */
	int service_ms;   /* limit for the service; 0: default */
	int64_t until_ms;
	bool survives; /* a successor daemon would continue the job */
	bool reported; /* all logs are reported: its exit is not waited for */
};

/* Appends key=value. -EINVAL: newline in the value; -E2BIG: the buffer is full. */
int scribe_run_option(struct scribe_run *r, const char *key, const char *value, struct scribe_err *err);
/* Starts a private daemon and waits until it traces. Stops it on failure. */
int scribe_run_link_start(struct scribe_run *r, struct scribe_err *err);
/* Joins the node's service. -ENOENT: there is none; -EAGAIN: full; -EIO: refused; other codes: failed. */
int scribe_run_link_join(struct scribe_run *r, struct scribe_err *err);
int scribe_run_link_enrol(struct scribe_run *r, pid_t pid, struct scribe_err *err);
/* Waits for a successor of the daemon. -ETIMEDOUT: none came; -EIO: it does not have the job. */
int scribe_run_link_reattach(struct scribe_run *r, struct scribe_err *err);
/* Disconnects. Unless the daemon has reported, waits a bounded time for its exit. */
void scribe_run_link_stop(struct scribe_run *r);

/* Forks CMD, held before exec. ret_go: write one byte to release it, close to discard it. */
int scribe_run_child_fork(struct scribe_run *r, pid_t *ret_pid, int *ret_go, int *ret_failure, struct scribe_err *err);
/* In a child of run: becomes the user whose command was traced. 0 or -errno. */
int scribe_run_take_identity(const struct scribe_run *r);
int scribe_run_child_failure(int failure_fd);
int scribe_run_child_wait(pid_t pid);
void scribe_run_child_signals(pid_t pid);

int scribe_run_publish_add(struct scribe_run *r, const char *spec, struct scribe_err *err);
/* Adds a stream if the variables of Darshan's connector request one. */
int scribe_run_publish_darshan(struct scribe_run *r, struct scribe_err *err);
/* Starts the publishers and waits until each has subscribed to the job of `pid`. */
int scribe_run_publish_begin(struct scribe_run *r, pid_t pid, struct scribe_err *err);
/* Call after the job's end: waits some seconds for each, then kills it. */
void scribe_run_publish_end(struct scribe_run *r);

int scribe_run_report(struct scribe_run *r, int wait_status, struct scribe_err *err);

#endif
