// SPDX-License-Identifier: BSD-3-Clause
/*
 * Sends and receives the packets of helper_wire.h, each with at most one descriptor. Used by the daemon's main
 * thread, the spawner, helpers and link makers. Must not know what the requests mean.
 */
#include "runtime/daemon/privsep/helper_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/daemon/privsep/sandbox_syscalls.h"

#define SLICES 8 /* of a timeout */

int scribe_helper_send(int sock, const void *data, size_t bytes, int fd)
{
	struct iovec iov = {(void *)(uintptr_t)data, bytes};
	char capacity[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = {0};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

	if (fd >= 0) {
		struct cmsghdr *c = (struct cmsghdr *)capacity;

		m.msg_control = capacity;
		m.msg_controllen = sizeof(capacity);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(int));
	}
	return sendmsg(sock, &m, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* The descriptor of a packet of another length is closed. */
int scribe_helper_recv(int sock, void *data, size_t bytes, int *ret_fd, int flags)
{
	char capacity[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
	struct scribe_refused_call refused = {0};
	/*
	 * The second buffer makes packets that are too long visible. It also receives the rest of a report of a
	 * refused system call.
	 */
	struct iovec iov[] = {{data, bytes}, {&refused, sizeof(refused)}};
	/* CMSG_SPACE would leave space for a second descriptor. */
	struct msghdr m = {
		.msg_iov = iov, .msg_iovlen = 2, .msg_control = capacity, .msg_controllen = CMSG_LEN(sizeof(int))};
	struct cmsghdr *c;
	ssize_t n;

	do
		n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC | flags);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? -EPIPE : -errno; /* it ended with our request unread */
	*ret_fd = -1;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(c), sizeof(int));
	if (n == (ssize_t)bytes)
		return 0;
	if (*ret_fd >= 0)
		close(*ret_fd);
	*ret_fd = -1;
	if (n != sizeof(refused))
		return -EPIPE;
	/* The report began in `data`: put it together, then check its magic number. */
	if (bytes < sizeof(refused))
		memmove((char *)&refused + bytes, &refused, sizeof(refused) - bytes);
	memcpy(&refused, data, bytes < sizeof(refused) ? bytes : sizeof(refused));
	if (refused.magic != SCRIBE_REFUSED_CALL)
		return -EPIPE;
	scribe_refused_calls_add(&refused);
	return -EAGAIN;
}

/* `ms` is rounded up to whole slices. After -ETIMEDOUT the socket must not carry another request. */
int scribe_helper_recv_within(int sock, void *data, size_t bytes, int *ret_fd, int ms)
{
	struct pollfd p = {.fd = sock, .events = POLLIN};
	int rc = -EAGAIN;

	/* Suspending the machine costs one slice, not the whole timeout. */
	for (int i = 0; i < SLICES && rc == -EAGAIN; i++) {
		int n = poll(&p, 1, (ms + SLICES - 1) / SLICES);

		if (n < 0 && errno != EINTR)
			break;
		if (n > 0)
			rc = scribe_helper_recv(sock, data, bytes, ret_fd, MSG_DONTWAIT);
	}
	return rc == -EAGAIN ? -ETIMEDOUT : rc;
}

int scribe_helper_alone(int sock)
{
	int only = sock == 3 ? 3 : dup2(sock, 3);
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	syscall(SYS_close_range, 4, ~0u, 0);
	return only == 3 ? 0 : -EBADF;
}
