// SPDX-License-Identifier: BSD-3-Clause
// A descriptor handed to another process over a socket (SCM_RIGHTS).
#include "prog.h"

#include <sys/socket.h>

static void send_fd(int sock, int fd)
{
	char byte = 'f';
	struct iovec iov = {&byte, 1};
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {{0}};
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.buf, .msg_controllen = sizeof(control.buf)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	EXACT(sendmsg(sock, &msg, 0), 1);
}

static int receive_fd(int sock)
{
	char byte;
	struct iovec iov = {&byte, 1};
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.buf, .msg_controllen = sizeof(control.buf)};
	int fd;

	EXACT(recvmsg(sock, &msg, 0), 1);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

int main(void)
{
	char buf[3000] = {0};
	int pair[2];
	pid_t child;
	int fd;

	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	child = (pid_t)MUST(fork());
	if (child == 0) {
		fd = receive_fd(pair[1]);
		EXACT(write(fd, buf, 3000), 3000);
		EXACT(pread(fd, buf, 100, 0), 100);
		MUST(close(fd));
		_exit(0);
	}
	fd = prog_open("passed", O_RDWR | O_CREAT);
	EXACT(write(fd, buf, 500), 500);
	send_fd(pair[0], fd);
	MUST(close(fd));
	prog_wait(child);
	return 0;
}
