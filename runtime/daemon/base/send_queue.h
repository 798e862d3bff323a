/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is still to be sent to a peer that does not read as fast as it is told:
 * nobody waits for it. Must not know what messages mean.
 */
#ifndef RUNTIME_DAEMON_BASE_SEND_QUEUE_H
#define RUNTIME_DAEMON_BASE_SEND_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#define SCRIBE_OUTBOX_MAX (16u << 20) /* bytes that wait for one peer: reports of some 2,600 logs */

struct scribe_outgoing;

struct scribe_send_queue {
	struct scribe_outgoing *first, *last;
	size_t bytes;
};

/*
 * Send, behind what waits; what cannot go now is copied (a descriptor too). 0, or
 * negative: the peer is gone, memory is out, too much waits (-ENOBUFS).
 */
int scribe_send_queue_send(struct scribe_send_queue *b, int sock, unsigned type, unsigned status, const void *payload,
		       size_t bytes, int fd);
/* Send what goes now: how many messages went, or negative: the peer is gone. */
int scribe_send_queue_flush(struct scribe_send_queue *b, int sock);
void scribe_send_queue_clear(struct scribe_send_queue *b);

#endif
