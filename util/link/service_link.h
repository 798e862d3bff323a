/* SPDX-License-Identifier: BSD-3-Clause */
/* Connection to the service, for `ioscribe job`, `run`, `trace`, `top` and `doctor`. */
#ifndef UTIL_LINK_SERVICE_LINK_H
#define UTIL_LINK_SERVICE_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "logfmt/base/proto.h"

/* A request: key=value lines. */
struct scribe_request {
	char text[SCRIBE_OPTIONS_MAX];
	size_t bytes;
};

/* -EINVAL: a newline; -E2BIG: the buffer is full. */
int scribe_request_add(struct scribe_request *r, const char *key, const char *value, struct scribe_err *err);

/* IOSCRIBE_DIR or the default directory. */
const char *scribe_job_dir(void);
/* Returns a descriptor. -ENOENT: no service; -EPERM: the server is neither root nor the caller's user. */
int scribe_job_connect(int64_t deadline_ms, struct scribe_err *err);
/* Connects to the daemon at this socket path. */
int scribe_daemon_connect(const char *path, int64_t deadline_ms, struct scribe_err *err);
/* True while the daemon loads its programs. */
bool scribe_job_is_loading(void);
/* Starts the daemon, detached from the caller's session and cgroup, and waits until it serves. `stay`: no exit after
 * the last job. */
int scribe_job_start(const char *config, bool stay, int64_t deadline_ms, struct scribe_err *err);
/*
 * Receives into `packet` (SCRIBE_MSG_MAX bytes, aligned to 8). Returns the type; an ERROR message becomes err.
 * -EPIPE: disconnected.
 */
int scribe_job_receive(int sock, void *packet, int64_t deadline_ms, struct scribe_err *err);

#endif
