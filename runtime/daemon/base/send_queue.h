/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_BASE_SEND_QUEUE_H
#define RUNTIME_DAEMON_BASE_SEND_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#define SCRIBE_OUTBOX_MAX (16u << 20) /* bytes per peer: reports of about 2,600 logs */

struct scribe_outgoing;

struct scribe_send_queue {
	struct scribe_outgoing *first, *last;
	size_t bytes;
};

/* After the queued messages. What cannot be sent now is copied, a descriptor duplicated. -ENOBUFS: queue full. */
int scribe_send_queue_send(struct scribe_send_queue *b, int sock, unsigned type, unsigned status, const void *payload,
			   size_t bytes, int fd);
/* Number of messages sent, or negative: the peer is gone. */
int scribe_send_queue_flush(struct scribe_send_queue *b, int sock);
void scribe_send_queue_clear(struct scribe_send_queue *b);

#endif
