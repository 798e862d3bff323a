/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The daemon's messages, also in traced programs: no allocation, and every wait has a deadline. Must not know
 * what messages mean.
 */
#include "logfmt/base/proto.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* connect returns EAGAIN while the listen queue is full, and poll cannot wait for that. */
#define CONNECT_RETRY_MS 5

/* Builds may differ: change layouts only with SCRIBE_MSG_VERSION. */
_Static_assert(sizeof(struct scribe_msg_header) == 16, "header layout");
_Static_assert(sizeof(struct scribe_msg_hello) == 16 + SCRIBE_WORLD_MAX, "HELLO layout");
_Static_assert(sizeof(struct scribe_msg_fetch_ok) == 24 + SCRIBE_PATH_MAX, "FETCH_OK layout");
_Static_assert(sizeof(struct scribe_msg_done) == 8 + SCRIBE_PATH_MAX, "DONE layout");
_Static_assert(sizeof(struct scribe_msg_log) < SCRIBE_MSG_MAX, "LOG fits");

int scribe_msg_payload_bytes(unsigned type)
{
	switch (type) {
	case SCRIBE_MSG_START:
	case SCRIBE_MSG_PROBED:
		return sizeof(struct scribe_msg_start);
	case SCRIBE_MSG_HELLO:
		return sizeof(struct scribe_msg_hello);
	case SCRIBE_MSG_HELLO_OK:
		return sizeof(struct scribe_msg_hello_ok);
	case SCRIBE_MSG_FETCH:
		return sizeof(struct scribe_msg_fetch);
	case SCRIBE_MSG_FETCH_OK:
		return sizeof(struct scribe_msg_fetch_ok);
	case SCRIBE_MSG_DONE:
		return sizeof(struct scribe_msg_done);
	case SCRIBE_MSG_DONE_OK:
	case SCRIBE_MSG_JOB_OK:
	case SCRIBE_MSG_START_OK:
	case SCRIBE_MSG_PROBED_OK:
	case SCRIBE_MSG_STREAMS_OK:
	case SCRIBE_MSG_PUBLISH_OK:
	case SCRIBE_MSG_JOB_STATUS:
	case SCRIBE_MSG_RUN_REATTACH:
	case SCRIBE_MSG_BUILDING:
		return 0;
	case SCRIBE_MSG_STREAMS:
		return sizeof(struct scribe_msg_streams);
	case SCRIBE_MSG_READY:
		return sizeof(struct scribe_msg_ready);
	case SCRIBE_MSG_ENROL:
		return sizeof(struct scribe_msg_enrol);
	case SCRIBE_MSG_ENROLLED:
		return sizeof(struct scribe_msg_enrolled);
	case SCRIBE_MSG_END:
		return sizeof(struct scribe_msg_end);
	case SCRIBE_MSG_LOG:
		return sizeof(struct scribe_msg_log);
	case SCRIBE_MSG_RESULT:
		return sizeof(struct scribe_msg_result);
	case SCRIBE_MSG_TRACED:
		return sizeof(struct scribe_msg_traced);
	case SCRIBE_MSG_PUBLISH_TAKEN:
		return sizeof(struct scribe_msg_publish_taken);
	case SCRIBE_MSG_LIVE_REQUEST:
		return sizeof(struct scribe_msg_live_request);
	default:
		return -1;
	}
}

/* Limits what peers can make the daemon parse; -1: unknown type. */
static int text_limit(unsigned type)
{
	if (type == SCRIBE_MSG_LIVE_REPLY)
		return sizeof(struct scribe_msg_live_reply) + SCRIBE_LIVE_BYTES_MAX;
	if (type == SCRIBE_MSG_TRACE_PART)
		return SCRIBE_MSG_MAX;
	if (type == SCRIBE_MSG_ERROR)
		return SCRIBE_TEXT_MAX;
	if (type == SCRIBE_MSG_RUN_BEGIN)
		return SCRIBE_OPTIONS_MAX;
	if ((type >= SCRIBE_MSG_JOB_BEGIN && type <= SCRIBE_MSG_JOB_ENTRY) || type == SCRIBE_MSG_JOB_READY ||
	    type == SCRIBE_MSG_JOB_CHECK || type == SCRIBE_MSG_JOB_PUBLISH)
		return SCRIBE_OPTIONS_MAX;
	return -1;
}

static int strings_end(unsigned type, const void *p)
{
	const struct scribe_msg_log *log = p;

	/* Receivers use strings of the payload as C strings, so each must end within its array. */
	switch (type) {
	case SCRIBE_MSG_HELLO:
		return memchr(((const struct scribe_msg_hello *)p)->world, 0, SCRIBE_WORLD_MAX) != NULL;
	case SCRIBE_MSG_FETCH_OK:
		return memchr(((const struct scribe_msg_fetch_ok *)p)->path, 0, SCRIBE_PATH_MAX) != NULL;
	case SCRIBE_MSG_DONE:
		return memchr(((const struct scribe_msg_done *)p)->path, 0, SCRIBE_PATH_MAX) != NULL;
	case SCRIBE_MSG_READY:
		return memchr(((const struct scribe_msg_ready *)p)->socket, 0, SCRIBE_PATH_MAX) != NULL;
	case SCRIBE_MSG_LOG:
		return memchr(log->path, 0, sizeof(log->path)) && memchr(log->world, 0, sizeof(log->world)) &&
		       memchr(log->exe, 0, sizeof(log->exe)) && memchr(log->text, 0, sizeof(log->text));
	case SCRIBE_MSG_RESULT:
		return memchr(((const struct scribe_msg_result *)p)->remote, 0, 32) != NULL;
	default:
		return 1;
	}
}

int scribe_msg_check(const void *packet, size_t bytes, const void **ret_payload, struct scribe_err *err)
{
	const struct scribe_msg_header *h = packet;
	int want;

	if (bytes < sizeof(*h))
		return scribe_err_set(err, -EPROTO, "message of %zu bytes: shorter than a header", bytes);
	if (h->magic != SCRIBE_MSG_MAGIC)
		return scribe_err_set(err, -EPROTO, "message with magic %08x: not ours", h->magic);
	if (h->version != SCRIBE_MSG_VERSION)
		return scribe_err_set(err, -EPROTO, "message of protocol version %u, this is version %u", h->version,
				      SCRIBE_MSG_VERSION);
	if (h->len != bytes - sizeof(*h))
		return scribe_err_set(err, -EPROTO, "message type %u says %u bytes of payload and has %zu", h->type,
				      h->len, bytes - sizeof(*h));
	want = scribe_msg_payload_bytes(h->type);
	if (want < 0) {
		if (text_limit(h->type) < 0)
			return scribe_err_set(err, -EPROTO, "message of unknown type %u", h->type);
		if (h->len > (uint32_t)text_limit(h->type))
			return scribe_err_set(err, -EPROTO, "message type %u with %u bytes of text, at most %d",
					      h->type, h->len, text_limit(h->type));
	} else if (h->len != (uint32_t)want) {
		return scribe_err_set(err, -EPROTO, "message type %u with %u bytes of payload instead of %d", h->type,
				      h->len, want);
	}
	if (!strings_end(h->type, h + 1))
		return scribe_err_set(err, -EPROTO, "message type %u with a string without end", h->type);
	*ret_payload = h + 1;
	return 0;
}

int64_t scribe_msg_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int scribe_msg_left_ms(int64_t deadline_ms)
{
	int64_t left = deadline_ms - scribe_msg_now_ms();

	return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

/* deadline_ms negative: none. */
static int wait_for(int sock, short events, int64_t deadline_ms)
{
	for (;;) {
		struct pollfd p = {.fd = sock, .events = events};
		int n = poll(&p, 1, deadline_ms < 0 ? -1 : scribe_msg_left_ms(deadline_ms));

		if (n > 0)
			return 0;
		if (n == 0)
			return -ETIMEDOUT;
		if (errno != EINTR) /* traced programs may receive many signals */
			return -errno;
	}
}

int scribe_msg_connect(int sock, const struct sockaddr *to, unsigned bytes, int64_t deadline_ms)
{
	while (connect(sock, to, bytes) < 0) {
		if (errno == EISCONN)
			break;
		if ((errno != EAGAIN && errno != EINTR) || scribe_msg_left_ms(deadline_ms) == 0)
			return -errno;
		if (errno == EAGAIN)
			poll(NULL, 0, CONNECT_RETRY_MS);
	}
	return 0;
}

int scribe_msg_send(int sock, unsigned type, unsigned status, const void *payload, size_t len, int fd, int timeout_ms)
{
	struct scribe_msg_header h = {SCRIBE_MSG_MAGIC, SCRIBE_MSG_VERSION, (uint16_t)type, status, (uint32_t)len};
	struct iovec iov[2] = {{&h, sizeof(h)}, {(void *)(uintptr_t)payload, len}};
	union {
		struct cmsghdr head;
		char buffer[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct msghdr m = {.msg_iov = iov, .msg_iovlen = len ? 2 : 1};
	int64_t deadline = timeout_ms < 0 ? -1 : scribe_msg_now_ms() + timeout_ms;

	if (len > SCRIBE_MSG_MAX - sizeof(h))
		return -EMSGSIZE;
	if (fd >= 0) {
		m.msg_control = control.buffer;
		m.msg_controllen = sizeof(control.buffer);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(int));
	}
	for (;;) {
		ssize_t n = sendmsg(sock, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
		int rc;

		if (n >= 0)
			return 0;
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN && errno != EWOULDBLOCK)
			return -errno;
		rc = wait_for(sock, POLLOUT, deadline);
		if (rc < 0)
			return rc;
	}
}

/* Returns the first descriptor and closes others. */
static int take_descriptor(struct msghdr *m)
{
	int got = -1;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		size_t n;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (got < 0)
				got = fd;
			else
				close(fd);
		}
	}
	return got;
}

ssize_t scribe_msg_recv(int sock, void *packet, int *ret_fd, int timeout_ms, struct scribe_err *err)
{
	int64_t deadline = timeout_ms < 0 ? -1 : scribe_msg_now_ms() + timeout_ms;
	char control[CMSG_SPACE(4 * sizeof(int))] __attribute__((aligned(8)));
	struct iovec iov = {packet, SCRIBE_MSG_MAX};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	const void *payload;
	ssize_t n;
	int fd, rc;

	for (;;) {
		/*
		 * Without ret_fd descriptors are not received at all: closing one may block as long as its file
		 * system likes. Space for four, so that a peer that passes several does not leave them open here.
		 */
		m.msg_control = ret_fd ? control : NULL;
		m.msg_controllen = ret_fd ? sizeof(control) : 0;
		n = recvmsg(sock, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (n >= 0)
			break;
		if (errno == EINTR)
			continue;
		if (errno == ECONNRESET)
			return 0;
		if (errno != EAGAIN && errno != EWOULDBLOCK)
			return scribe_err_set(err, -errno, "cannot receive: %s", strerror(errno));
		rc = wait_for(sock, POLLIN, deadline);
		if (rc < 0)
			return scribe_err_set(err, rc, rc == -ETIMEDOUT ? "no answer in time" : "cannot wait");
	}
	fd = take_descriptor(&m);
	rc = 0;
	if (n > 0 && m.msg_flags & (MSG_TRUNC | (ret_fd ? MSG_CTRUNC : 0)))
		rc = scribe_err_set(err, -EPROTO, "message longer than %u bytes", SCRIBE_MSG_MAX);
	else if (n > 0)
		rc = scribe_msg_check(packet, (size_t)n, &payload, err);
	/*
	 * An empty packet looks like a hang-up, but may carry descriptors. The caller owns one only with a
	 * message.
	 */
	if (fd >= 0 && (rc < 0 || n == 0)) {
		close(fd);
		fd = -1;
	}
	if (ret_fd)
		*ret_fd = fd;
	return rc < 0 ? rc : n;
}
