/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that a peer's socket does not take yet; the loop flushes them on EPOLLOUT. Must not know what they mean. */
#include "runtime/daemon/base/send_queue.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logfmt/base/proto.h"

struct scribe_outgoing {
	struct scribe_outgoing *next;
	unsigned type, status;
	int fd; /* -1: none */
	size_t bytes;
	char payload[];
};

/* -ENOBUFS also without memory: in both cases the peer is disconnected. */
static int enqueue(struct scribe_send_queue *b, unsigned type, unsigned status, const void *payload, size_t bytes,
		   int fd)
{
	/* With its header, so that empty messages are bounded, too. */
	size_t capacity = sizeof(struct scribe_outgoing) + bytes;
	struct scribe_outgoing *o = b->bytes + capacity <= SCRIBE_OUTBOX_MAX ? malloc(capacity) : NULL;

	if (!o)
		return -ENOBUFS;
	*o = (struct scribe_outgoing){.type = type, .status = status, .fd = -1, .bytes = bytes};
	if (bytes)
		memcpy(o->payload, payload, bytes);
	/* The caller closes its own descriptor. */
	if (fd >= 0) {
		o->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		if (o->fd < 0) {
			free(o);
			return -errno;
		}
	}
	if (b->last)
		b->last->next = o;
	else
		b->first = o;
	b->last = o;
	b->bytes += capacity;
	return 0;
}

static void drop_first(struct scribe_send_queue *b)
{
	struct scribe_outgoing *o = b->first;

	b->first = o->next;
	if (!b->first)
		b->last = NULL;
	b->bytes -= sizeof(*o) + o->bytes;
	if (o->fd >= 0)
		close(o->fd);
	free(o);
}

int scribe_send_queue_send(struct scribe_send_queue *b, int sock, unsigned type, unsigned status, const void *payload,
			   size_t bytes, int fd)
{
	/* Timeout 0: -ETIMEDOUT means a full socket. Messages must not overtake each other. */
	int rc = b->first ? -ETIMEDOUT : scribe_msg_send(sock, type, status, payload, bytes, fd, 0);

	return rc == -ETIMEDOUT ? enqueue(b, type, status, payload, bytes, fd) : rc;
}

int scribe_send_queue_flush(struct scribe_send_queue *b, int sock)
{
	int n = 0;

	for (; b->first; n++) {
		const struct scribe_outgoing *o = b->first;
		int rc = scribe_msg_send(sock, o->type, o->status, o->payload, o->bytes, o->fd, 0);

		if (rc == -ETIMEDOUT)
			break;
		if (rc < 0)
			return rc;
		drop_first(b);
	}
	return n;
}

void scribe_send_queue_clear(struct scribe_send_queue *b)
{
	while (b->first)
		drop_first(b);
}
