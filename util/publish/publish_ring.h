/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_PUBLISH_PUBLISH_RING_H
#define UTIL_PUBLISH_PUBLISH_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "logfmt/base/publish_ring.h"

struct scribe_publish_ring {
	int sock; /* -1: closed */
	const struct scribe_publish_head *head;
	const unsigned char *frames;
	uint64_t taken, reported; /* bytes read; bytes reported to the daemon */
};

/* `key`: "job_id" or "pid". -ENOENT: job or daemon not found. close accepts a zeroed struct. */
int scribe_publish_ring_open(struct scribe_publish_ring *r, const char *socket, const char *key, const char *value,
			     int timeout_ms, struct scribe_err *err);
void scribe_publish_ring_close(struct scribe_publish_ring *r);

/* Valid until done; NULL: none now. */
const struct scribe_publish_frame *scribe_publish_ring_next(struct scribe_publish_ring *r);
void scribe_publish_ring_done(struct scribe_publish_ring *r, const struct scribe_publish_frame *f);
/* Waits up to `ms`. False: the daemon has disconnected. */
bool scribe_publish_ring_wait(const struct scribe_publish_ring *r, int ms);
/* The job has ended, all frames are present. */
bool scribe_publish_ring_ended(const struct scribe_publish_ring *r);
uint64_t scribe_publish_ring_lost(const struct scribe_publish_ring *r);

#endif
