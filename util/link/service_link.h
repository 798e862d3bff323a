/* SPDX-License-Identifier: BSD-3-Clause */
/* Speaking with the service: what `ioscribe job`, `run` and `doctor` share. */
#ifndef UTIL_LINK_SERVICE_LINK_H
#define UTIL_LINK_SERVICE_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "logfmt/base/proto.h"

/* Lines key=value of a request. */
struct scribe_request {
	char text[SCRIBE_OPTIONS_MAX];
	size_t bytes;
};

/* Add a line; -EINVAL for a newline in the value, -E2BIG when there is no room. */
int scribe_request_add(struct scribe_request *r, const char *key, const char *value, struct scribe_err *err);

/* Directory of the service: IOSCRIBE_DIR or the usual one. */
const char *scribe_job_dir(void);
/*
 * Connect to the service. A descriptor; -ENOENT when nobody serves; else
 * negative, with a line in err. The other end must be root's, or the caller's
 * own.
 */
int scribe_job_connect(int64_t deadline_ms, struct scribe_err *err);
/* The same, to the daemon whose socket has this path. */
int scribe_daemon_connect(const char *path, int64_t deadline_ms, struct scribe_err *err);
/* Does the daemon say that it is loading its programs? */
bool scribe_job_is_loading(void);
/*
 * Start the daemon and wait until it serves, or the deadline passes. It leaves
 * the caller's session, group, descriptors and cgroup.
 */
int scribe_job_start(const char *config, bool stay, int64_t deadline_ms, struct scribe_err *err);
/*
 * The next message into `packet` (SCRIBE_MSG_MAX bytes, aligned to 8); returns
 * its type. An ERROR of the daemon becomes err; -EPIPE: it has disconnected.
 */
int scribe_job_hear(int sock, void *packet, int64_t deadline_ms, struct scribe_err *err);

#endif
