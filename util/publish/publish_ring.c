// SPDX-License-Identifier: BSD-3-Clause
/* The publisher's side of a subscription. Owns connection and mapping. Must not know what frames mean. */
#include "util/publish/publish_ring.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/link/service_link.h"

static int map_ring(struct scribe_publish_ring *r, int fd, struct scribe_err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || st.st_size != (off_t)SCRIBE_PUBLISH_FILE_BYTES)
		return scribe_err_set(err, -EPROTO, "the daemon's ring has another size: it is of another version");
	r->head = mmap(NULL, SCRIBE_PUBLISH_FILE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	if (r->head == MAP_FAILED) {
		r->head = NULL;
		return scribe_err_set(err, -errno, "the daemon's ring cannot be mapped: %s", strerror(errno));
	}
	if (r->head->magic != SCRIBE_PUBLISH_MAGIC || r->head->version != SCRIBE_PUBLISH_VERSION)
		return scribe_err_set(err, -EPROTO, "the daemon's ring is of another version");
	r->frames = (const unsigned char *)(r->head + 1);
	r->taken = r->reported = 0;
	return 0;
}

static int answer(struct scribe_publish_ring *r, int timeout_ms, struct scribe_err *err)
{
	static char packet[SCRIBE_MSG_MAX] __attribute__((aligned(8)));
	const struct scribe_msg_header *h = (const void *)packet;
	int fd = -1, rc;
	ssize_t n = scribe_msg_recv(r->sock, packet, &fd, timeout_ms, err);

	if (n == 0)
		return scribe_err_set(err, -EPIPE, "the daemon has disconnected");
	if (n < 0)
		return err->text[0] ? (int)n : scribe_err_set(err, (int)n, "the daemon: %s", strerror((int)-n));
	if (h->type == SCRIBE_MSG_ERROR)
		rc = scribe_err_set(err, -ENOENT, "%.*s", (int)h->len, (const char *)(h + 1));
	else if (h->type != SCRIBE_MSG_PUBLISH_OK || fd < 0)
		rc = scribe_err_set(err, -EPROTO, "unexpected answer of the daemon (type %u)", h->type);
	else
		rc = map_ring(r, fd, err);
	if (fd >= 0)
		close(fd);
	return rc;
}

int scribe_publish_ring_open(struct scribe_publish_ring *r, const char *socket, const char *key, const char *value,
			     int timeout_ms, struct scribe_err *err)
{
	struct scribe_request request = {.bytes = 0};
	int rc = scribe_request_add(&request, key, value, err);

	*r = (struct scribe_publish_ring){.sock = -1};
	if (rc < 0)
		return rc;
	r->sock = scribe_daemon_connect(socket, scribe_msg_now_ms() + timeout_ms, err);
	if (r->sock < 0) {
		rc = r->sock;
		r->sock = -1;
		return rc;
	}
	rc = scribe_msg_send(r->sock, SCRIBE_MSG_JOB_PUBLISH, 0, request.text, request.bytes, -1, timeout_ms);
	rc = rc < 0 ? scribe_err_set(err, rc, "the daemon at %s: %s", socket, strerror(-rc))
		    : answer(r, timeout_ms, err);
	if (rc < 0)
		scribe_publish_ring_close(r);
	return rc;
}

void scribe_publish_ring_close(struct scribe_publish_ring *r)
{
	if (r->head) {
		munmap((void *)(uintptr_t)r->head, SCRIBE_PUBLISH_FILE_BYTES);
		r->head = NULL;
		close(r->sock);
	} else if (r->sock > 0) {
		close(r->sock);
	}
	r->sock = -1;
}

static bool is_sound(const struct scribe_publish_ring *r, const struct scribe_publish_frame *f, uint64_t left)
{
	const uint64_t rest = SCRIBE_PUBLISH_BYTES - r->taken % SCRIBE_PUBLISH_BYTES;
	static const size_t least[] = {
		[SCRIBE_PUBLISH_PAD] = sizeof(struct scribe_publish_frame),
		[SCRIBE_PUBLISH_JOB] = sizeof(struct scribe_publish_job),
		[SCRIBE_PUBLISH_NAME_OF] = sizeof(struct scribe_publish_name),
		[SCRIBE_PUBLISH_EVENT] = sizeof(struct scribe_publish_event),
	};

	/* A frame must lie within the written bytes and not wrap. */
	if (f->type >= sizeof(least) / sizeof(least[0]) || f->bytes < least[f->type] || f->bytes % 8 ||
	    f->bytes > left || f->bytes > rest)
		return false;
	return f->type != SCRIBE_PUBLISH_NAME_OF ||
	       ((const struct scribe_publish_name *)f)->bytes <= f->bytes - sizeof(struct scribe_publish_name);
}

const struct scribe_publish_frame *scribe_publish_ring_next(struct scribe_publish_ring *r)
{
	for (;;) {
		const uint64_t left = r->head ? __atomic_load_n(&r->head->put, __ATOMIC_ACQUIRE) - r->taken : 0;
		const struct scribe_publish_frame *f = (const void *)(r->frames + r->taken % SCRIBE_PUBLISH_BYTES);

		/* The ring is shared memory: its contents are validated on every read. */
		if (left < sizeof(*f) || left > SCRIBE_PUBLISH_BYTES || !is_sound(r, f, left))
			return NULL;
		if (f->type != SCRIBE_PUBLISH_PAD)
			return f;
		scribe_publish_ring_done(r, f);
	}
}

void scribe_publish_ring_done(struct scribe_publish_ring *r, const struct scribe_publish_frame *f)
{
	const struct scribe_msg_publish_taken m = {.bytes = r->taken + f->bytes};

	r->taken = m.bytes;
	/* If the socket is full, the next report includes this one. */
	if (r->taken - r->reported >= SCRIBE_PUBLISH_STEP &&
	    scribe_msg_send(r->sock, SCRIBE_MSG_PUBLISH_TAKEN, 0, &m, sizeof(m), -1, 0) == 0)
		r->reported = r->taken;
}

bool scribe_publish_ring_wait(const struct scribe_publish_ring *r, int ms)
{
	struct pollfd p = {.fd = r->sock, .events = POLLIN};
	char byte;

	if (poll(&p, 1, ms) <= 0)
		return true;
	return recv(r->sock, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

bool scribe_publish_ring_ended(const struct scribe_publish_ring *r)
{
	return r->head && __atomic_load_n(&r->head->ended, __ATOMIC_ACQUIRE);
}

uint64_t scribe_publish_ring_lost(const struct scribe_publish_ring *r)
{
	return r->head ? __atomic_load_n(&r->head->lost, __ATOMIC_RELAXED) : 0;
}
