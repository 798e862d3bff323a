/* SPDX-License-Identifier: BSD-3-Clause */
/* One publisher's subscription to a job, and its ring (logfmt/base/publish_ring.h). */
#ifndef RUNTIME_DAEMON_COLLECT_SUBSCRIBER_H
#define RUNTIME_DAEMON_COLLECT_SUBSCRIBER_H

#include "logfmt/base/publish_ring.h"
#include "runtime/daemon/state/daemon.h"

struct scribe_subscriber {
	uint64_t client;
	int fd;
	struct scribe_publish_head *head;
	unsigned char *ring;
	uint64_t put, taken; /* bytes of frames written, and as far as is known read */
	uint64_t since_ns;
	bool job_told;
	struct scribe_map names; /* ids that it has had -> itself */
	struct scribe_subscriber *next;
};

/* With an empty ring, for the connection `client`. 0; -ENOMEM or the kernel's, with a line in err. */
int scribe_subscriber_new(struct scribe_subscriber **ret, uint64_t client, struct scribe_err *err);
/* NULL. */
struct scribe_subscriber *scribe_subscriber_free(struct scribe_subscriber *s);
/* One operation, with what has to be told before it. False: there is no room. */
bool scribe_subscriber_put(struct scribe_subscriber *s, const struct scribe_job *job,
			   const struct scribe_publish_event *e);

#endif
