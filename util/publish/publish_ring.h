/* SPDX-License-Identifier: BSD-3-Clause */
/* The publisher's side of the daemon's ring (logfmt/base/publish_ring.h). */
#ifndef UTIL_PUBLISH_PUBLISH_RING_H
#define UTIL_PUBLISH_PUBLISH_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "logfmt/base/publish_ring.h"

struct scribe_publish_ring {
	int sock; /* to the daemon; -1: closed */
	const struct scribe_publish_head *head;
	const unsigned char *frames;
	uint64_t taken, reported; /* bytes read; bytes reported to the daemon */
};

/*
 * Subscribes to a job at the daemon of `socket`; `key` is "job_id" or "pid". -ENOENT: no such job or daemon. close
 * accepts a zeroed struct.
 */
int scribe_publish_ring_open(struct scribe_publish_ring *r, const char *socket, const char *key, const char *value,
			     int timeout_ms, struct scribe_err *err);
void scribe_publish_ring_close(struct scribe_publish_ring *r);

/* The next frame, valid until done; NULL: none now. */
const struct scribe_publish_frame *scribe_publish_ring_next(struct scribe_publish_ring *r);
/* Releases the frame's space to the daemon. */
void scribe_publish_ring_done(struct scribe_publish_ring *r, const struct scribe_publish_frame *f);
/* Waits up to `ms`. False: the daemon has disconnected. */
bool scribe_publish_ring_wait(const struct scribe_publish_ring *r, int ms);
/* True: the job has ended, and no frame will be added. */
bool scribe_publish_ring_ended(const struct scribe_publish_ring *r);
/* Operations that did not fit the ring. */
uint64_t scribe_publish_ring_lost(const struct scribe_publish_ring *r);

#endif
