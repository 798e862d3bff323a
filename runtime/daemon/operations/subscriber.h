/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_OPERATIONS_SUBSCRIBER_H
#define RUNTIME_DAEMON_OPERATIONS_SUBSCRIBER_H

#include "logfmt/base/publish_ring.h"
#include "runtime/daemon/state/daemon.h"

struct scribe_subscriber {
	uint64_t client;
	int fd;
	struct scribe_publish_head *head;
	unsigned char *ring;
	uint64_t put, taken; /* bytes written, and reported as read */
	uint64_t since_ns;
	bool job_reported;
	struct scribe_map names; /* ids sent */
	struct scribe_subscriber *next;
};

int scribe_subscriber_new(struct scribe_subscriber **ret, uint64_t client, struct scribe_err *err);
struct scribe_subscriber *scribe_subscriber_free(struct scribe_subscriber *s);
/* Writes an operation, and names first if needed. False: full. */
bool scribe_subscriber_put(struct scribe_subscriber *s, const struct scribe_job *job,
			   const struct scribe_publish_event *e);

#endif
