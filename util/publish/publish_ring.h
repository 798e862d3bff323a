/* SPDX-License-Identifier: BSD-3-Clause */
/* A publisher's end of the ring in which the daemon hands operations over (logfmt/base/publish_ring.h). */
#ifndef UTIL_PUBLISH_PUBLISH_RING_H
#define UTIL_PUBLISH_PUBLISH_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "logfmt/base/publish_ring.h"

struct scribe_publish_ring {
	int sock; /* to the daemon; -1: it is gone */
	const struct scribe_publish_head *head;
	const unsigned char *frames;
	uint64_t taken, reported; /* bytes read; as the daemon knows */
};

/*
 * Subscribe to the job whose `key`, "job_id" or "pid" of a process of it, is `value`, at the daemon whose socket
 * is `socket`, within timeout_ms. 0; -ENOENT: there
 * is no such job, or no daemon; other negative codes, with a line in err. close survives a zeroed struct.
 */
int scribe_publish_ring_open(struct scribe_publish_ring *r, const char *socket, const char *key, const char *value,
			     int timeout_ms, struct scribe_err *err);
void scribe_publish_ring_close(struct scribe_publish_ring *r);

/* The next frame, good until scribe_publish_ring_done; NULL: there is none now. */
const struct scribe_publish_frame *scribe_publish_ring_next(struct scribe_publish_ring *r);
/* That frame has been dealt with: its room is the daemon's again. */
void scribe_publish_ring_done(struct scribe_publish_ring *r, const struct scribe_publish_frame *f);
/* Wait until something may have come, at most `ms`. False: the daemon has disconnected. */
bool scribe_publish_ring_wait(const struct scribe_publish_ring *r, int ms);
/* The job is over: what is there now is all. */
bool scribe_publish_ring_ended(const struct scribe_publish_ring *r);
/* Operations that the daemon could not hand over. */
uint64_t scribe_publish_ring_lost(const struct scribe_publish_ring *r);

#endif
