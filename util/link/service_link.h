/* SPDX-License-Identifier: BSD-3-Clause */
/* Connection to the service. */
#ifndef UTIL_LINK_SERVICE_LINK_H
#define UTIL_LINK_SERVICE_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "logfmt/base/proto.h"

struct scribe_request {
	char text[SCRIBE_OPTIONS_MAX];
	size_t bytes;
};

/* -EINVAL: a newline; -E2BIG: the buffer is full. */
int scribe_request_add(struct scribe_request *r, const char *key, const char *value, struct scribe_err *err);

const char *scribe_job_dir(void);
/* -ENOENT: not running; -EPERM: the server is neither root nor the caller's user. */
int scribe_job_connect(int64_t deadline_ms, struct scribe_err *err);
int scribe_daemon_connect(const char *path, int64_t deadline_ms, struct scribe_err *err);
bool scribe_job_is_loading(void);
/* Detached from the caller's session and cgroup; waits until it serves. `stay`: no exit after the last job. */
int scribe_job_start(const char *config, bool stay, int64_t deadline_ms, struct scribe_err *err);
/* `packet`: SCRIBE_MSG_MAX bytes, aligned to 8. Returns the type; an ERROR becomes err. -EPIPE: disconnected. */
int scribe_job_receive(int sock, void *packet, int64_t deadline_ms, struct scribe_err *err);

#endif
