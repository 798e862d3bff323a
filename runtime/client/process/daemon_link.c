/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connection to the daemon: HELLO, FETCH, DONE, START, counter memory. Runs on the program's threads. Must not
 * know what is done with the records, nor MPI calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "runtime/client/process/daemon_link.h"

#define HIGH_FD 40 /* above what programs expect; below 64, where the table need not grow, which takes milliseconds */

int scribe_fd_high(int fd)
{
	struct rlimit limit;
	int at = HIGH_FD, moved;

	if (fd < 0)
		return fd;
	/* Programs may rely on the next free number. On failure the descriptor stays where it is. */
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur <= HIGH_FD)
		at = (int)limit.rlim_cur / 2;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, at);
	if (moved < 0)
		return fd;
	close(fd);
	return moved;
}

int scribe_link_open(struct scribe_link *l, int64_t deadline)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	const char *path = getenv(SCRIBE_ENV_SOCKET);
	int rc;

	l->sock = -1;
	l->packet = NULL;
	if (!path || !path[0] || strlen(path) >= sizeof(to.sun_path))
		return -ENOENT;
	memcpy(to.sun_path, path, strlen(path));
	if (path[0] == '@')
		to.sun_path[0] = 0; /* abstract name */
	l->packet = mmap(NULL, SCRIBE_MSG_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* Mapped: the program's allocator may not be usable yet. */
	if (l->packet == MAP_FAILED) {
		l->packet = NULL;
		return -ENOMEM;
	}
	l->sock = scribe_fd_high(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	rc = l->sock < 0 ? -errno : scribe_msg_connect(l->sock, (const struct sockaddr *)&to, sizeof(to), deadline);
	if (rc < 0)
		scribe_link_close(l);
	return rc;
}

void scribe_link_close(struct scribe_link *l)
{
	if (l->sock >= 0)
		close(l->sock);
	if (l->packet)
		munmap(l->packet, SCRIBE_MSG_MAX);
	l->sock = -1;
	l->packet = NULL;
}

static int say(struct scribe_link *l, enum scribe_msg_type type, const void *payload, size_t len, int64_t deadline)
{
	if (l->sock < 0)
		return -ENOTCONN;
	return scribe_msg_send(l->sock, type, SCRIBE_ST_OK, payload, len, -1, scribe_msg_left_ms(deadline));
}

static int hear(struct scribe_link *l, enum scribe_msg_type type, const void **ret_payload, int *ret_fd,
		int64_t deadline)
{
	const struct scribe_msg_header *h = l->packet;
	struct scribe_err err;
	ssize_t n;

	if (l->sock < 0)
		return -ENOTCONN;
	n = scribe_msg_recv(l->sock, l->packet, ret_fd, scribe_msg_left_ms(deadline), &err);
	if (n < 0)
		return (int)n;
	if (n == 0)
		return -EPIPE;
	if (h->type != type) {
		/* An unexpected message may still carry a descriptor. */
		if (ret_fd && *ret_fd >= 0)
			close(*ret_fd);
		return -EPROTO;
	}
	*ret_payload = h + 1;
	return 0;
}

bool scribe_link_ready(const struct scribe_link *l, int timeout_ms)
{
	struct pollfd p = {.fd = l->sock, .events = POLLIN};

	return poll(&p, 1, timeout_ms) > 0;
}

int scribe_link_start(struct scribe_link *l, enum scribe_msg_type what, uint64_t until_ns, int64_t deadline)
{
	struct scribe_msg_start m = {.until_ns = until_ns};
	const void *payload;
	int rc = say(l, what, &m, sizeof(m), deadline);

	return rc < 0 ? rc : hear(l, what + 1, &payload, NULL, deadline);
}

int scribe_link_send_hello(struct scribe_link *l, const struct scribe_identity *who, int64_t deadline)
{
	struct scribe_msg_hello m = {.rank = who->rank, .size = who->size, .mpi = who->mpi};

	m.tid = (uint32_t)syscall(SYS_gettid);
	memcpy(m.world, who->world, sizeof(m.world));
	return say(l, SCRIBE_MSG_HELLO, &m, sizeof(m), deadline);
}

int scribe_link_receive_hello(struct scribe_link *l, int64_t deadline, struct scribe_msg_hello_ok *ret_ok)
{
	const void *payload;
	int rc = hear(l, SCRIBE_MSG_HELLO_OK, &payload, NULL, deadline);

	if (rc == 0)
		memcpy(ret_ok, payload, sizeof(*ret_ok));
	return rc;
}

int scribe_link_send_fetch(struct scribe_link *l, int64_t deadline)
{
	struct scribe_msg_fetch m = {.tid = (uint32_t)syscall(SYS_gettid)};

	return say(l, SCRIBE_MSG_FETCH, &m, sizeof(m), deadline);
}

int scribe_link_receive_fetch(struct scribe_link *l, int64_t deadline, struct scribe_msg_fetch_ok *ret_ok,
			      int *ret_image)
{
	const void *payload;
	int fd = -1;
	int rc = hear(l, SCRIBE_MSG_FETCH_OK, &payload, &fd, deadline);

	if (rc < 0)
		return rc;
	if (fd < 0)
		return -EPROTO;
	memcpy(ret_ok, payload, sizeof(*ret_ok));
	*ret_image = scribe_fd_high(fd);
	return 0;
}

int scribe_link_done(struct scribe_link *l, bool ok, const char *path, int64_t deadline)
{
	struct scribe_msg_done m = {.ok = ok};
	const void *payload;
	int rc;

	if (strlen(path) < sizeof(m.path))
		memcpy(m.path, path, strlen(path));
	rc = say(l, SCRIBE_MSG_DONE, &m, sizeof(m), deadline);
	return rc < 0 ? rc : hear(l, SCRIBE_MSG_DONE_OK, &payload, NULL, deadline);
}

int scribe_link_streams(struct scribe_link *l, const struct scribe_msg_streams *m, int64_t deadline)
{
	const void *payload;
	int fd = -1, rc = say(l, SCRIBE_MSG_STREAMS, m, sizeof(*m), deadline);

	if (rc == 0)
		rc = hear(l, SCRIBE_MSG_STREAMS_OK, &payload, &fd, deadline);
	return rc < 0 ? rc : fd < 0 ? -EPROTO : scribe_fd_high(fd);
}
